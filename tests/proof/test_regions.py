"""A standby region takes over in random worlds: after a notice, a split, or the loss of the first region."""

from datetime import timedelta
from unittest.mock import PropertyMock, patch

import pytest

from duetime.jobs import known_region
from duetime.jobs.known_region import KnownRegion
from duetime.testing.two_regions import FIRST, SECOND
from duetime.wakeups.failover import Switch
from tests.proof.regions import first_broken, prove_regions

CHUNK, IN_MAKE_TEST, SHARE = 3, 6, 35
"""`make proof` lives through one world of two regions for so many of one."""


def pytest_generate_tests(metafunc):
    """Add more worlds of two regions, a share of those that ``--seeds`` sets."""
    if "first_of_more" in metafunc.fixturenames:
        more = metafunc.config.getoption("--seeds", 20_000) // SHARE
        metafunc.parametrize("first_of_more", range(IN_MAKE_TEST, IN_MAKE_TEST + more, CHUNK))


@pytest.mark.parametrize("first", range(0, IN_MAKE_TEST, CHUNK))
def test_no_two_live_leases_exist_after_a_failover_and_only_the_lag_is_lost(first):
    for seed in range(first, first + CHUNK):
        prove_regions(seed)


@pytest.mark.long
def test_the_same_holds_in_many_more_worlds(first_of_more):
    for seed in range(first_of_more, first_of_more + CHUNK):
        prove_regions(seed)


def test_what_is_lost_with_a_region_is_counted():
    world = next(world for world in map(prove_regions, range(2, 60, 3)) if world.lost)
    assert world.fate == "destroyed"
    assert {*world.lost} <= world.unreplicated


def test_after_a_split_both_regions_agree():
    world = prove_regions(1)
    first, second = (world.regions.clouds[name].store for name in (FIRST, SECOND))
    assert world.fate == "split"
    assert {row.id: row.status for row in first.rows()} == {row.id: row.status for row in second.rows()}


def claims_that_ignore_the_epoch():
    return patch.object(KnownRegion, "epoch", lambda self: self._regions._shared.item.epoch)


def no_wait():
    return patch.object(Switch, "quiet_time", PropertyMock(return_value=timedelta(0)))


def readings_that_are_trusted_for_ever():
    return patch.object(known_region, "TRUSTED", timedelta(days=1))


def renewals_that_ignore_the_epoch():
    return patch.object(KnownRegion, "is_current", lambda _self, _fence: True)


@pytest.mark.parametrize(
    "remove",
    [
        claims_that_ignore_the_epoch,
        no_wait,
        readings_that_are_trusted_for_ever,
        renewals_that_ignore_the_epoch,
    ],
)
def test_without_a_guard_two_epochs_have_live_leases(remove):
    with remove():
        found = first_broken(range(60))
    assert found is not None
    assert "live leases of two epochs" in str(found[1])
