"""`duetime deployment rehearse` of a CDK app: what it prints works, and Ctrl-C ends all of it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from duetime.cli import main
from tests.e2e.conftest import Bench
from tests.e2e.deployment import ROOT
from tests.e2e.emulated import UNCHECKED

pytestmark = pytest.mark.e2e

RUNS_WITHIN = 120
"""Seconds: the emulator starts a function's first process slowly."""

APP = """
from aws_cdk import App, Stack
from duetime.cdk import Duetime, Handlers

app = App()
Duetime(Stack(app, "Nightly"), "Scheduler", handlers=[Handlers(app="nightly.handlers:app")])
app.synth()
"""
HANDLERS = """
from duetime import App, Payload

app = App()


class Tidy(Payload):
    room: str


@app.action
def tidy(payload: Tidy) -> None:
    print("tidied", payload.room)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "nightly").mkdir()
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "cdk.json").write_text(json.dumps({"app": f"{sys.executable} app.py"}))
    (tmp_path / "nightly/__init__.py").write_text("")
    (tmp_path / "nightly/handlers.py").write_text(HANDLERS)
    return tmp_path


@pytest.fixture
def rehearsal(project):
    path = f"{ROOT / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251 - for CDK
    program = subprocess.Popen(
        [sys.executable, "-m", "duetime", "deployment", "rehearse"],
        cwd=project,
        env={**os.environ, **UNCHECKED, "PATH": path},  # noqa: TID251
        stdout=subprocess.PIPE,
        text=True,
    )
    yield program
    program.terminate()
    program.wait()
    program.stdout.close()


def processes_of(working):
    """Return the processes whose environment names the directory: the emulator and its functions."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(working).encode() in environment.read_bytes():
                found.append(environment.parent.name)
        except OSError:  # it has ended
            continue
    return found


def test_an_app_of_six_lines_is_deployed_its_commands_work_and_ctrl_c_ends_it(rehearsal, monkeypatch, capsys):
    printed = ""
    while "The functions' output is in" not in printed and (line := rehearsal.stdout.readline()):
        printed += line
    [file] = re.findall(r"^\. (.*)$", printed, re.MULTILINE)
    for line in Path(file).read_text().splitlines():
        monkeypatch.setenv(*shlex.split(line)[1].split("=", 1))
    capsys.readouterr()
    assert main(["schedule", "tidy", "--in", "5s", "--payload", '{"room": "attic"}', "--json"]) == 0
    action_id = json.loads(capsys.readouterr().out)["id"]

    def ended():
        assert main(["actions", "show", action_id, "--json"]) == 0
        status = json.loads(capsys.readouterr().out)["status"]
        return status if status in {"executed", "failed"} else None

    assert Bench.eventually(ended, within=RUNS_WITHIN) == "executed"
    working = Path(file).parent
    assert len(processes_of(working)) > 1  # the emulator, and the functions that have run
    rehearsal.send_signal(signal.SIGINT)
    assert rehearsal.stdout.read().endswith("gone\n")
    assert rehearsal.wait() == 0
    assert processes_of(working) == []
    assert not working.exists()
