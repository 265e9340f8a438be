"""Shells complete commands by scripts that are made from the parser itself."""

import shutil
import subprocess

import pytest

from duetime.cli import main
from duetime.cli.command_tree import commands_of
from duetime.cli.main import parser

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")


@pytest.fixture
def script(capsys):
    def of(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return of


@pytest.fixture
def completed(script):
    """What bash offers for the last of some words."""

    def offered(*words):
        line = " ".join(f"'{word}'" for word in ("duetime", *words))
        tail = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _duetime; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(  # noqa: S603 - our own script
            [shutil.which("bash"), "-uc", f"{script('bash')}\n{tail}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return offered


@needs_bash
@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (("act",), ["actions"]),
        (("actions", "re"), ["reschedule", "redrive"]),
        (("actions", "list", "--cre"), ["--created-after", "--created-until"]),
        (("actions", "list", "--status", ""), []),
        (("undelivered", "redrive", "--kind", "me"), ["message"]),
        (("notifications", "list", "--kind", "jobs.recurring_s"), ["jobs.recurring_succeeding"]),
        (("notifications", "preferences", "se"), ["set"]),
        (("jobs", "trigger", "billing-nightly", "--wa"), ["--watch"]),
        (("actions", "show", "list", "--wa"), ["--watch"]),
        (("--json", "jobs", "sk"), ["skip-next"]),
        (("completion", ""), ["bash", "zsh", "fish", "-h", "--help"]),
        (("nonsense", "x"), []),
    ],
    ids=" ".join,
)
def test_bash_is_offered_what_may_follow(completed, words, offers):
    assert completed(*words) == offers


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_each_script(script, shell):
    written = script(shell)
    for command in commands_of(parser()):
        assert command.path in written
        for option in command.options:
            for name in option.names:
                assert (name.lstrip("-") if shell == "fish" else name) in written


def test_quotes_in_what_a_command_is_for_stay_text(script):
    assert "the tenant\\'s own" in script("fish")


def test_another_shell_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
