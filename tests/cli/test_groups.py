"""The commands at the top level are few, by task; the old names work."""

import json

import pytest

from duetime.cli.command_line import GROUP_OF, OF_ACTIONS
from duetime.cli.main import parser
from tests.cli.command_tree import commands_of

TOP, *OTHERS = commands_of(parser())


def test_there_are_at_most_15_commands_at_the_top_level():
    assert len(TOP.commands) <= 15
    assert all(TOP.commands.values())


def test_the_help_names_the_commands_that_need_no_group(duetime):
    printed = " ".join(duetime.bare("--help")[1].split())
    assert "`why`, `pause`, `resume`, `pauses`, `limits` need no `actions` before them." in printed
    for name in OF_ACTIONS:
        assert duetime.bare(name, "--help") == duetime.bare("actions", name, "--help")


def test_every_moved_command_is_in_its_group_and_no_longer_at_the_top():
    paths = {command.path for command in OTHERS}
    assert {f"{group} {name}" for name, group in GROUP_OF.items()} <= paths
    assert not GROUP_OF.keys() & TOP.commands.keys()


@pytest.mark.parametrize(("name", "group"), GROUP_OF.items())
def test_an_old_name_works_with_a_note_on_standard_error(duetime, name, group):
    status, printed, errors = duetime.bare(name, "--help")
    assert (status, printed) == duetime.bare(group, name, "--help")[:2]
    assert (
        errors
        == f"duetime: note: `duetime {name}` is now `duetime {group} {name}`; the old name still works\n"
    )
    assert status == 0


def test_the_note_leaves_standard_output_to_json(duetime):
    status, printed, errors = duetime("--json", "whoami")
    assert (status, json.loads(printed)["actor"]) == (0, "developer")
    assert errors.count("\n") == 1
    assert duetime("access", "whoami", "--json") == (0, printed, "")


def test_the_help_of_an_old_name_is_that_of_the_new_one(duetime):
    assert duetime.bare("help", "cost")[1] == duetime.bare("help", "app", "cost")[1]
