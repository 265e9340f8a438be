"""The invariants hold in random worlds with faults: in a few by `make test`, in many more by `make proof`."""

import pytest

from tests.proof.world import World, prove


def test_the_invariants_hold_with_all_faults(few_seeds):
    for seed in few_seeds:
        prove(seed)


@pytest.mark.long
def test_the_invariants_hold_in_many_more_worlds(many_seeds):
    for seed in many_seeds:
        prove(seed)


@pytest.mark.long
def test_bands_of_due_rows_may_stay_where_they_are_while_sqs_hangs():
    prove(117_601)  # it hangs for twenty minutes


@pytest.mark.parametrize("seed", [1, 2, 51])
def test_a_seed_has_the_same_story_each_time(seed):
    assert story_of(seed, minutes=30) == story_of(seed, minutes=30)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 11, 16, 51])
def test_a_seed_has_the_same_longer_story_each_time(seed):
    assert story_of(seed, minutes=60) == story_of(seed, minutes=60)


def story_of(seed, minutes):
    """Return the story of some minutes. In worlds 11, 16 and 51 external parties report failures."""
    world = World(seed)
    world.live(hours=minutes / 60)
    world.rest()
    world.cloud.close()
    return world.cloud.story()
