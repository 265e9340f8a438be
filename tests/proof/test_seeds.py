"""The proof by seeds: thousands of random worlds, in which whatever can go wrong does, and the invariants hold in all."""

import pytest

from tests.proof.world import World, prove

CHUNK = 25


@pytest.mark.parametrize("first", range(0, 2_000, CHUNK))
def test_the_invariants_hold_whatever_goes_wrong(first):
    for seed in range(first, first + CHUNK):
        prove(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 120_000, CHUNK))
def test_they_hold_in_many_more_worlds(first):
    for seed in range(first, first + CHUNK):
        prove(seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_tells_the_same_story_each_time(seed):
    assert story_of(seed) == story_of(seed)


def story_of(seed):
    world = World(seed)
    world.live(hours=1)
    world.rest()
    world.cloud.close()
    return world.cloud.story()
