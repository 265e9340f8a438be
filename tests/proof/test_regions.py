"""A standby region takes over in random worlds: after a notice, a split, or the loss of the first region."""

from datetime import timedelta
from unittest.mock import PropertyMock, patch

import pytest

from duetime.jobs import trusted_reading
from duetime.jobs.trusted_reading import KnownRegion
from duetime.wakeups.failover import Switch
from duetime_faults.two_regions import FIRST, SECOND
from tests.proof.failing_worlds import RemovedGuards
from tests.proof.regions import first_broken, prove_regions


def test_no_two_live_leases_exist_after_a_failover_and_only_the_lag_is_lost(few_seeds):
    for seed in few_seeds:
        prove_regions(seed)


@pytest.mark.long
def test_the_same_holds_in_many_more_worlds(many_seeds):
    for seed in many_seeds:
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
    return patch.object(trusted_reading, "TRUSTED", timedelta(days=1))


def renewals_that_ignore_the_epoch():
    return patch.object(KnownRegion, "is_current", lambda _self, _fence: True)


REMOVED = RemovedGuards(
    "regions",
    first_broken,
    {
        "a claim compares the epoch": claims_that_ignore_the_epoch,
        "a failover waits until all know of it": no_wait,
        "a reading of the epoch is trusted for a while": readings_that_are_trusted_for_ever,
        "a renewal compares the epoch": renewals_that_ignore_the_epoch,
    },
)


@pytest.mark.long
@pytest.mark.parametrize("guard", REMOVED.removes)
def test_without_a_guard_two_epochs_have_live_leases(guard):
    _, broken = REMOVED.fails_without(guard)
    assert "live leases of two epochs" in str(broken)
