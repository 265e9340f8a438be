"""The table of commands: the Makefile and CONTRIBUTING have it, and a missing program is named."""

import re

import pytest

from tools import __main__ as runner
from tools.commands import APART, COMMANDS, CONTRIBUTING, ROOT, ProgramMissing, check_programs, table
from tools.lanes import LANES, LAST

DAILY = {name for name, command in COMMANDS.items() if command.is_daily}


def test_the_makefile_has_the_daily_commands_and_what_needs_no_environment():
    targets = set(re.findall(r"(?m)^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text()))
    assert targets == DAILY | {"help", "setup", "run", "release", "clean"}


def test_contributing_has_the_table():
    assert table() in CONTRIBUTING.read_text(), "run `python -m tools.commands`"


def test_each_mark_that_the_suite_leaves_out_belongs_to_a_command():
    words = " ".join(" ".join(step) for command in COMMANDS.values() for step in command.steps)
    left_out = {mark for mark in APART if f"pytest -m {mark}" not in words}
    assert left_out == {"moto_too"}, "the mutants run these, and `make contract` the same tests elsewhere"


def test_all_lanes_but_the_nightly_one_are_in_ci():
    lanes = {name for name, _ in (*LANES, LAST)}
    tested = {name for name, command in COMMANDS.items() if any("pytest" in step for step in command.steps)}
    assert tested - lanes == {"drill", "again", "nightly"}, "the first two are parts of other lanes"


@pytest.fixture
def path(monkeypatch, tmp_path):
    """A PATH with nothing on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder, name, prints):
    made = folder / name
    made.write_text(f"#!/bin/sh\necho '{prints}' >&2\n")
    made.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("java", "Java 17 or later is needed, and it is not on the PATH. Install it, for example: apt-get"),
        ("node", "Node 20 or later with npm is needed, and it is not on the PATH"),
        ("chromium", "apt-get install chromium-headless-shell"),
    ],
)
def test_a_missing_program_is_named_with_the_command_that_installs_it(path, name, words):
    with pytest.raises(ProgramMissing, match=re.escape(words)):
        check_programs([name])


def test_an_old_program_is_named_with_its_version(path):
    program(path, "java", 'openjdk version "11.0.20"')
    with pytest.raises(ProgramMissing, match="the PATH has version 11"):
        check_programs(["java"])


def test_new_enough_programs_pass(path):
    program(path, "java", 'openjdk version "17.0.15"')
    program(path, "node", "v20.20.2")
    program(path, "npm", "11")
    program(path, "google-chrome", "")
    check_programs(["java", "node", "chromium"])


def test_a_lane_without_its_program_fails_before_it_begins(path, capsys):
    assert runner.main(["proof"]) == 1
    assert "proof: Java 17 or later is needed" in capsys.readouterr().err


def test_an_unknown_command_lists_the_known_ones(capsys):
    assert runner.main(["prove"]) == 1
    assert "  proof " in capsys.readouterr().out
