"""The proof by seeds.

Thousands of random worlds, in which whatever can go wrong does, and the invariants hold in all.
"""

import pytest

from tests.proof.world import World, prove

CHUNK, FIRST_OF_MANY = 25, 100_000


def pytest_generate_tests(metafunc):
    """As many more worlds as ``--seeds`` says."""
    if "first_of_many" in metafunc.fixturenames:
        many = metafunc.config.getoption("--seeds", 20_000)
        metafunc.parametrize("first_of_many", range(FIRST_OF_MANY, FIRST_OF_MANY + many, CHUNK))


@pytest.mark.parametrize("first", range(0, 2_000, CHUNK))
def test_the_invariants_hold_whatever_goes_wrong(first):
    for seed in range(first, first + CHUNK):
        prove(seed)


@pytest.mark.long
def test_they_hold_in_many_more_worlds(first_of_many):
    for seed in range(first_of_many, first_of_many + CHUNK):
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
