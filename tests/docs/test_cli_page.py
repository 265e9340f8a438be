"""The page on the command line has every command with its present options, and no other."""

import re

from duetime.cli.main import parser
from tests.cases import for_each
from tests.cli.command_tree import commands_of
from tools import cli_page

PAGE = cli_page.PAGE.read_text()
COMMON = PAGE.partition("## Which scheduler is called")[2].partition("\n## ")[0]
COMMANDS = [command for command in commands_of(parser()) if not command.commands]


def test_the_page_is_as_the_parser_has_it():
    assert cli_page.renewed(PAGE) == PAGE, "run `python -m tools.cli_page`"


def test_a_lost_section_comes_back_and_a_removed_command_goes():
    path = COMMANDS[-1].path
    heading = f"### duetime {path}\n"
    changed = PAGE.replace(heading, "### duetime gone\n")
    assert heading not in changed
    assert heading in cli_page.renewed(changed)
    assert "duetime gone" not in cli_page.renewed(changed)


@for_each("command", COMMANDS)
def test_every_option_is_in_its_section_or_in_the_table_of_all_commands(command):
    section = PAGE.partition(f"### duetime {command.path}\n")[2].partition("\n##")[0]
    named = set(re.findall(r"(?<![\w-])--?[a-z][-a-z]*", section + COMMON))
    assert {name for option in command.options for name in option.names} - {"-h", "--help"} <= named
