"""The commands at the top level are few, by task."""

from duetime.cli.command_line import OF_ACTIONS
from duetime.cli.main import parser
from tests.cli.command_tree import commands_of

TOP = next(iter(commands_of(parser())))


def test_each_command_at_the_top_level_has_a_help():
    assert all(TOP.commands.values())


def test_the_help_names_the_commands_that_need_no_group(duetime):
    printed = " ".join(duetime.bare("--help")[1].split())
    assert "`why`, `pause`, `resume`, `pauses`, `limits` need no `actions` before them." in printed
    for name in OF_ACTIONS:
        assert duetime.bare(name, "--help") == duetime.bare("actions", name, "--help")
