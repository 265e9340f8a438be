"""The commands at the top level are few, by task."""

from importlib import import_module

from duetime.cli.commands import COMMANDS
from duetime.cli.main import parser
from duetime.cli.parser import OF_ACTIONS, Group
from tests.cli.command_tree import commands_of

TOP = next(iter(commands_of(parser())))


def test_each_command_at_the_top_level_has_a_help():
    assert all(TOP.commands.values())


def test_the_help_names_the_commands_that_need_no_group(duetime):
    printed = " ".join(duetime.bare("--help")[1].split())
    assert "`why`, `pause`, `resume`, `pauses`, `limits` need no `actions` before them." in printed
    for name in OF_ACTIONS:
        assert duetime.bare(name, "--help") == duetime.bare("actions", name, "--help")


def test_the_function_that_each_command_names_exists():
    def names(commands):
        for command in commands:
            if isinstance(command, Group):
                yield from names(command.commands)
            elif isinstance(command.run, str):
                yield command.run

    named = list(names(COMMANDS))
    assert len(named) > 30
    for module, _, function in (name.partition(".") for name in named):
        assert callable(getattr(import_module(f"duetime.cli.{module}"), function))
