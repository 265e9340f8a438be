"""Each removed guard has a stored world; if that one no longer fails, the command searches for another."""

from contextlib import nullcontext
from unittest.mock import patch

import pytest

from tests.proof import failing_worlds
from tests.proof.__main__ import ALL, try_without
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.test_removed_guards import REMOVED
from tests.proof.world import first_broken


def test_each_removed_guard_has_a_stored_world_and_no_other_has():
    stored = {kind: set(worlds) for kind, worlds in failing_worlds.read().items()}
    assert stored == {removed.kind: set(removed.removes) for removed in ALL}


def test_the_command_prints_the_world_that_fails_without_a_guard(capsys):
    guard = "1: no two runs of a job hold its lock"
    assert try_without(REMOVED, guard) == REMOVED.stored()[guard]
    output = capsys.readouterr().out
    assert output.startswith(guard)
    assert "(invariant 1)" in output


def test_a_scheduler_with_all_guards_fails_in_no_world(capsys):
    with patch.object(failing_worlds, "MOST", 1):
        assert try_without(removed_by(nullcontext), "a guard that is there") is None
    assert capsys.readouterr().out.endswith("-  nothing\n")


def removed_by(remove, broken=first_broken):
    return RemovedGuards("another kind", broken, {"a guard that is there": remove})


def test_a_test_tries_a_few_worlds_from_the_stored_one_on_and_names_the_command():
    tried = []
    removed = removed_by(nullcontext, tried.extend)
    with (
        patch.object(failing_worlds, "read", lambda: {"another kind": {"a guard that is there": 40}}),
        pytest.raises(AssertionError, match=r"no world from 40 to 47 .*python -m tests.proof --renew"),
    ):
        removed.fails_without("a guard that is there")
    assert tried == [*range(40, 48)]


def test_a_stored_world_stays_while_it_fails_and_else_the_search_begins_again():
    failing = {3, 7, 9}
    removed = removed_by(nullcontext, lambda seeds: next(((s, "wrong") for s in seeds if s in failing), None))
    with patch.object(failing_worlds, "read", lambda: {"another kind": {"a guard that is there": 7}}):
        assert removed.renewed("a guard that is there") == (7, "wrong")
        failing.remove(7)
        assert removed.renewed("a guard that is there") == (3, "wrong")
