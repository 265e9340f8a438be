"""The page on the command line names every command and option, and none that is not there."""

import re
from pathlib import Path

import pytest

from duetime.cli.main import parser
from tests.cli.command_tree import commands_of

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text()
COMMANDS = [command for command in commands_of(parser()) if not command.commands]
SECTIONS = dict(re.findall(r"^### duetime ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
COMMON = PAGE.partition("## Which scheduler is called")[2].partition("\n## ")[0]
GROUPS = dict(re.findall(r"^### (?!duetime)([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
_DEFAULT = re.compile(r"\(default: [^)]*\)")


def named(text):
    """The options in the first column of tables."""
    cells = re.findall(r"^\| (`-.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(-[-a-z]+)", cell)} | set(
        re.findall(r", (--[a-z-]+)", " ".join(cells))
    )


def section(command):
    """The command's section, with the tables of the groups of options that it links to."""
    text = SECTIONS[command.path]
    linked = [
        GROUPS[name.capitalize()]
        for name in re.findall(r"\[([a-z ]+)\]\(#", text)
        if name.capitalize() in GROUPS
    ]
    return "\n".join([text, *linked])


def test_the_page_has_every_command_and_no_other():
    assert set(SECTIONS) == {command.path for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.path)
def test_every_option_of_a_command_is_named_and_no_other(command):
    documented = named(section(command))
    taken = {name for option in command.options for name in option.names}
    assert taken <= documented | named(COMMON)
    assert documented <= taken


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.path)
def test_a_default_equals_that_in_the_help(command):
    rows = {
        name: row for row in re.findall(r"^\| `-.*", section(command), re.MULTILINE) for name in named(row)
    }
    for option in command.options:
        if (default := _DEFAULT.search(option.help)) and (row := rows.get(option.names[-1])):
            assert default[0] in row.replace("\\|", "|")
