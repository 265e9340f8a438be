"""A user follows docs/tutorial.md in an empty directory: files, commands, local cloud, stack."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs/tutorial.md").read_text()
STEPS = dict(re.findall(r"^## (\d)\. [^\n]+\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def files(step):
    return re.findall(r'^```py title="([^"]+)"\n(.*?)^```', STEPS[step], re.MULTILINE | re.DOTALL)


def commands(step):
    blocks = re.findall(r"^```sh\n(.*?)^```", STEPS[step], re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Run commands in the user's directory, as after step 1, with the files of steps 2 and 6."""
    for name, text in [*files("2"), *files("6")]:
        (tmp_path / name).write_text(text)
    (tmp_path / "config.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT / "src")]))
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("DUETIME_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("CDK_OUTDIR", "out")
    monkeypatch.setenv("CDK_VALIDATION", "false")  # which only warns, and costs ten seconds

    def run(command):
        done = subprocess.run(  # noqa: S602 - our own page
            command, shell=True, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


@contextmanager
def local_cloud():
    """Run on a free port what the other terminal runs in step 4."""
    [command] = commands("4")
    with subprocess.Popen(  # noqa: S603 - our own page
        [*command.split(), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as cloud:
        output = ""
        for line in cloud.stdout:
            output += line
            if "Ctrl-C" in line:
                break
        try:
            yield re.search(r"(http://\S+?)/ is the console", output)[1]
        finally:
            cloud.send_signal(signal.SIGINT)
            cloud.communicate()


@pytest.mark.long
def test_the_tutorial_leads_to_executed_actions_on_the_local_cloud(shell, monkeypatch):
    for command in commands("3"):
        assert "reminders-clean-up" in shell(command)
    with local_cloud() as url:
        monkeypatch.setenv("DUETIME_URL", url)
        outputs = [shell(command) for command in commands("5")]
        busy = re.search(r"scheduled (\S+),", outputs[1])[1]
        assert "retry" in shell(f"duetime actions show {busy}")
    actions = outputs[4]
    assert actions.count("executed") >= 2
    assert "order:18" in actions
    assert "reminders-clean-up" in outputs[-1]


@pytest.mark.long
def test_the_tutorials_stack_for_aws_has_its_worker_and_its_job(shell, tmp_path):
    shell("python app.py")
    template = (tmp_path / "out/Reminders.template.json").read_text()
    assert '"duetime-work-default"' in template
    assert "reminders-clean-up" in template


def test_on_aws_the_tutorial_runs_a_command_of_the_local_cloud():
    there = [command for command in commands("6") if command.startswith("duetime schedule")]
    assert there
    assert {*there} <= {*commands("5")}
