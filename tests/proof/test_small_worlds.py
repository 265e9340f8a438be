"""Each hand-over and each member of a batch is settled once, whatever goes wrong, in many small worlds."""

from unittest.mock import patch

import pytest

from duetime.actions.batch_writes import BatchWrites
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.mutations import GUARDS
from tests.proof.small_world import SmallWorld, first_broken
from tests.proof.test_batches import without_waiting


def test_each_hand_over_and_member_is_settled_once(few_seeds):
    assert first_broken(few_seeds) is None


@pytest.mark.long
def test_each_is_settled_once_in_many_more_small_worlds(many_seeds):
    assert first_broken(many_seeds) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_a_small_world_is_the_same_each_time(seed):
    assert end_of(seed) == end_of(seed)


def test_the_small_worlds_have_each_end_and_completions_of_both_kinds():
    statuses, answers = set(), set()
    for seed in range(60):
        world = SmallWorld(seed)
        world.live()
        statuses |= {row.status.value for row in world.store.rows()}
        answers |= set(world.record.answers)
    assert statuses == {"executed", "failed", "cancelled"}
    assert {"Action", "Beat", "HandOverEnded", "StateConflict", "BackendUnavailable"} <= answers


def without_recounts():
    """The caller of a redrive does not have the batch wait for it."""
    return patch.object(BatchWrites, "count_again", lambda *_, **__: None)


OF_SMALL_WORLDS = (
    "a completion ends its own run alone",
    "a completion ends an action once",
    "a completion comes within its hand-over",
    "a heartbeat by token keeps its own hand-over alone",
    "1: a settle with an old fence changes nothing",
)
REMOVED = RemovedGuards(
    "small worlds",
    first_broken,
    {guard: GUARDS[guard] for guard in OF_SMALL_WORLDS}
    | {"an action waits for those before it": without_waiting}
    | {"a batch waits for what is redriven": without_recounts},
)


@pytest.mark.parametrize("guard", REMOVED.removes)
def test_a_small_world_fails_without_a_guard(guard):
    assert REMOVED.fails_without(guard)


def end_of(seed):
    world = SmallWorld(seed)
    world.live()
    rows = [(row.id, row.status, row.fence, row.generation, row.due_at) for row in world.store.rows()]
    return rows, world.record.answers, world.clock.now()
