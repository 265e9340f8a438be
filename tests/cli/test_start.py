"""Starting the command line costs little."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import runpy, sys
sys.argv = ["duetime", *{words!r}]
try:
    runpy.run_module("duetime", run_name="__main__")
except SystemExit as ended:
    status = ended.code
heavy = {{
    "boto3", "botocore", "pydantic", "moto", "aws_lambda_powertools", "rich", "croniter", "urllib.request"
}}
print("loaded:", sorted(heavy & {{*sys.modules}}), file=sys.stderr)
sys.exit(status)
"""


def run(*words):
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", PROGRAM.format(words=words)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "command", ["", "local", "schedule", "actions", "dead-letters", "jobs", "doctor", "access", "preview"]
)
def test_help_loads_nothing_heavy(command):
    ended = run(*filter(None, [command]), "--help")
    assert ended.returncode == 0
    assert ended.stdout.startswith("usage: duetime")
    assert ended.stderr == "loaded: []\n"


def test_a_command_loads_neither_boto3_nor_pydantic():
    ended = run("actions", "list", "--url", "http://127.0.0.1:1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "loaded: ['urllib.request']"


def test_a_token_needs_no_botocore():
    ended = run("access", "whoami", "--url", "http://127.0.0.1:1", "--token", "e30.e30.x")
    assert ended.stderr.splitlines()[-1] == "loaded: ['urllib.request']"


def test_help_lists_every_command():
    printed = run("--help").stdout
    for command in ("local", "schedule", "actions", "dead-letters", "jobs", "preview"):
        assert f"    {command}" in printed


def test_the_version_and_the_bare_command_load_nothing_heavy():
    for words in (["--version"], []):
        ended = run(*words)
        assert (ended.returncode, ended.stderr) == (0, "loaded: []\n")


def test_a_closed_pipe_prints_no_traceback(url):
    read_end, write_end = os.pipe()
    os.close(read_end)
    ended = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "duetime", "actions", "list", "--url", url],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write_end)
    assert (ended.returncode, ended.stderr) == (1, "")
