"""A rehearsal of a deploy, and what it says to try."""

import re
import shlex
import signal
import subprocess
import sys

import pytest

from duetime import Scheduler
from tests.e2e.conftest import Bench
from tests.e2e.deployment import ROOT

pytestmark = pytest.mark.e2e

RUNS_WITHIN = 120
"""Seconds: the emulator starts a function's first process slowly."""


@pytest.fixture
def rehearsal():
    words = [sys.executable, "-m", "tests.e2e.rehearse"]
    program = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603
    yield program
    program.terminate()
    program.wait()
    program.stdout.close()


def test_the_commands_that_a_rehearsal_prints_work_and_ctrl_c_ends_it(rehearsal, monkeypatch):
    report = ""
    while "What the functions say" not in report and (line := rehearsal.stdout.readline()):
        report += line
    [environment] = re.findall(r"^export (.*)$", report, re.MULTILINE)
    for name, _, value in (part.partition("=") for part in shlex.split(environment)):
        monkeypatch.setenv(name, value)
    [script] = re.findall(r"^\.venv/bin/python -c '(.*?)'$", report, re.MULTILINE | re.DOTALL)
    printed = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True)  # noqa: S603
    scheduler = Scheduler.from_env(tenant_id="acme", actor="e2e")

    def ended():
        action = scheduler.get(printed.strip())
        return action if action.status.is_final else None

    assert Bench.eventually(ended, within=RUNS_WITHIN).status == "executed"
    rehearsal.send_signal(signal.SIGINT)
    assert rehearsal.stdout.read().endswith("gone\n")
    assert rehearsal.wait() == 0
