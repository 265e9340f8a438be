"""Shells complete commands with argcomplete, from the parser of the real console script."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from duetime.cli import main

SCRIPT = Path(sys.executable).parent / "duetime"
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")


def complete(line, point=None):
    """Run the console script with argcomplete's protocol, and return the completions."""
    environment = {
        **os.environ,  # noqa: TID251 - a real process gets it
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line) if point is None else point),
        "COMP_TYPE": "9",
    }
    done = subprocess.run(  # noqa: S603 - our own script
        [shutil.which("bash"), "-c", 'exec 8>&1 9>&2 1>/dev/null; exec "$0"', SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(word.strip() for word in done.stdout.split("\v") if word)


@needs_bash
@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("duetime act", ["actions"]),
        ("duetime actions re", ["reject", "reschedule", "resume"]),
        ("duetime actions list --cre", ["--created-after", "--created-until"]),
        ("duetime undelivered redrive --kind me", ["message"]),
        ("duetime notifications list --kind jobs.recurring_s", ["jobs.recurring_succeeding"]),
        ("duetime deployment restore ado", ["adopt"]),
        ("duetime jobs trigger billing-nightly --wa", ["--watch"]),
        ("duetime completion ", ["--help", "-h", "bash", "fish", "zsh"]),
        ("duetime nonsense x", []),
    ],
)
def test_the_console_script_completes_a_command_line(line, completions):
    assert complete(line) == completions


@needs_bash
def test_bash_completes_once_the_script_is_evaluated():
    line = "duetime actions re"
    commands = (
        f'PATH="{SCRIPT.parent}:$PATH"; eval "$(duetime completion bash)"; '
        f'COMP_LINE="{line}"; COMP_POINT={len(line)}; COMP_TYPE=9; COMP_WORDS=({line}); COMP_CWORD=2;'
        ' _python_argcomplete duetime re actions; printf "%s\\n" "${COMPREPLY[@]}"; complete -p duetime'
    )
    done = subprocess.run(  # noqa: S603 - our own script
        [shutil.which("bash"), "-c", commands], capture_output=True, text=True, check=True
    )
    *offered, registered = done.stdout.splitlines()
    assert {word.strip() for word in offered} == {"reject", "reschedule", "resume"}
    assert "_python_argcomplete" in registered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_argcompletes_script(capsys, shell):
    assert main(["completion", shell]) == 0
    assert "_ARGCOMPLETE" in capsys.readouterr().out


def test_an_unknown_shell_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
