"""Each hand-over and each member of a batch is settled once, whatever goes wrong, in very many small worlds.

`make proof` lives through five of them for each of its seeds, up to 6,000.
"""

from unittest.mock import patch

import pytest

from duetime.actions.batch_writes import BatchWrites
from tests.proof.mutations import GUARDS
from tests.proof.small_world import SmallWorld, first_broken
from tests.proof.test_batches import without_waiting

CHUNK, FOR_EACH_SEED, MOST, FIRST_OF_MANY = 200, 5, 6_000, 400


def pytest_generate_tests(metafunc):
    """Add worlds in proportion to ``--seeds``."""
    if "first_of_many" in metafunc.fixturenames:
        many = min(FOR_EACH_SEED * metafunc.config.getoption("--seeds", 20_000), MOST)
        metafunc.parametrize("first_of_many", range(FIRST_OF_MANY, FIRST_OF_MANY + many, CHUNK))


@pytest.mark.parametrize("first", range(0, FIRST_OF_MANY, CHUNK))
def test_each_hand_over_and_member_is_settled_once(first):
    assert first_broken(range(first, first + CHUNK)) is None


@pytest.mark.long
def test_each_is_settled_once_in_many_more_small_worlds(first_of_many):
    assert first_broken(range(first_of_many, first_of_many + CHUNK)) is None


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
    assert {"Action", "Beat", "HandOverEnded", "NotHandedOver", "BackendUnavailable"} <= answers


def without_recounts():
    """The caller of a redrive does not have the batch wait for it."""
    return patch.object(BatchWrites, "count_again", lambda *_, **__: None)


@pytest.mark.parametrize(
    "removed",
    [
        GUARDS["a completion ends its own run alone"],
        GUARDS["a completion ends an action once"],
        GUARDS["a completion comes within its hand-over"],
        GUARDS["a heartbeat by token keeps its own hand-over alone"],
        GUARDS["1: a settle with an old fence changes nothing"],
        without_waiting,
        without_recounts,
    ],
)
def test_a_small_world_fails_without_a_guard(removed):
    with removed():
        assert first_broken(range(1_000)) is not None


def end_of(seed):
    world = SmallWorld(seed)
    world.live()
    rows = [(row.id, row.status, row.fence, row.generation, row.due_at) for row in world.store.rows()]
    return rows, world.record.answers, world.clock.now()
