"""The embedded scheduler logs failures under any logging set-up of its process."""

from __future__ import annotations

import subprocess
import sys

import pytest

FAILING = """
import logging, threading
from datetime import timedelta
from duetime import App, Payload, RetryPolicy
{setup}
app = App()

class Backup(Payload):
    disk: int

@app.action(retry=RetryPolicy(attempts=1))
def back_up(payload: Backup) -> None:
    raise OSError("the disk is full, password=hunter2 \\x1b[31m")

worker = logging.getLogger("duetime.worker.run_handler")
import duetime.worker.run_handler
before = [*worker.filters], worker.level
with app.embedded() as scheduler:
    action = scheduler.schedule(Backup(disk=1), at=timedelta(0))
    while scheduler.get(action.id).status != "failed":
        threading.Event().wait(0.01)
print(before == (worker.filters, worker.level))
"""


def ran(setup):
    """The process that fails so, once it has ended."""
    code = FAILING.format(setup=setup)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code


@pytest.mark.parametrize(
    "setup",
    ["", "logging.basicConfig()", "logging.basicConfig(level=logging.INFO)"],
    ids=["no logging", "logging of warnings", "logging of all"],
)
def test_a_handlers_exception_is_on_standard_error_once(setup):
    stderr = ran(setup).stderr

    assert stderr.count("OSError: the disk is full") == 1
    assert stderr.count("handler raised") == 1
    assert "hunter2" not in stderr
    assert "\x1b" not in stderr
    assert "failed" in stderr


def test_logging_is_left_as_it_was():
    assert ran("").stdout == "True\n"
