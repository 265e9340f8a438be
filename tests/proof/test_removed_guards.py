"""Without a guard of the protocol, some world breaks an invariant."""

import pytest

from tests.proof.failing_worlds import RemovedGuards
from tests.proof.mutations import (
    BEGIN,
    GUARDS,
    where_jobs_change_as_they_fall_due,
    where_processes_pause,
)
from tests.proof.world import first_broken, prove

pytestmark = pytest.mark.long

REMOVED = RemovedGuards("worlds", first_broken, GUARDS, BEGIN)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_scheduler_without_a_guard_fails_soon(guard):
    assert REMOVED.fails_without(guard)


@pytest.mark.parametrize("where", [where_processes_pause, where_jobs_change_as_they_fall_due])
@pytest.mark.parametrize("seed", range(3))
def test_the_guards_suffice_in_worlds_of_one_fault(where, seed):
    with where():
        prove(seed)
