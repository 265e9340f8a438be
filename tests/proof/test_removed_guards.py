"""Without a guard of the protocol, some world breaks an invariant."""

from contextlib import nullcontext

import pytest

from tests.proof.__main__ import try_without
from tests.proof.mutations import (
    BEGIN,
    GUARDS,
    where_jobs_change_as_they_fall_due,
    where_processes_pause,
)
from tests.proof.world import first_broken, prove


@pytest.mark.parametrize("guard", GUARDS)
def test_a_scheduler_without_a_guard_fails_soon(guard):
    with GUARDS[guard]():
        assert first_broken(range(BEGIN.get(guard, 0), 1_000)) is not None


def test_the_command_prints_the_world_that_fails_without_a_guard(capsys):
    guard = "1: no two runs of a job hold its lock"
    assert try_without(guard, GUARDS[guard], seeds=100)
    output = capsys.readouterr().out
    assert output.startswith(guard)
    assert "(invariant 1)" in output


def test_a_scheduler_with_all_guards_fails_in_no_world(capsys):
    assert not try_without("a guard that is there", nullcontext, seeds=1)
    assert capsys.readouterr().out.endswith("-  nothing\n")


@pytest.mark.parametrize("where", [where_processes_pause, where_jobs_change_as_they_fall_due])
@pytest.mark.parametrize("seed", range(3))
def test_the_guards_suffice_in_worlds_of_one_fault(where, seed):
    with where():
        prove(seed)
