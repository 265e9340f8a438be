"""The active region: one item for all regions, and the epoch that each claim compares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.model.action import Action, Status
from duetime.model.active_region import FENCES, ActiveRegion
from duetime.model.lease import Claimed, LeaseHeld, SettleResult
from duetime.ports.action_store import ActionStore
from duetime.ports.regions import ActiveRegions
from duetime_contract.specimens import (
    CALLER,
    HOUR,
    LEASE_END,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    end,
    running,
    scheduled,
    stored_row,
    terms,
)
from duetime_contract.subject import StoreContract


def active_region(**more: object) -> ActiveRegion:
    """Return the first item of a deployment in two regions."""
    first = ActiveRegion(
        epoch=1, region="eu-central-1", target="eu-central-1", moved_at=NOON, by=f"{CALLER} é"
    )
    return replace(first, **more)  # type: ignore[arg-type]


class RegionsContract:
    """The whole contract of `duetime.ports.regions.ActiveRegions`: override the fixture `regions`."""

    @pytest.fixture
    def regions(self) -> ActiveRegions:
        raise NotImplementedError("override this fixture with an empty back end")

    def test_there_is_no_item_at_first(self, regions: ActiveRegions) -> None:
        assert regions.read() is None

    def test_an_item_is_read_as_it_was_written(self, regions: ActiveRegions) -> None:
        first = active_region()
        fenced = first.fenced("eu-west-1", at=NOON + HOUR, by="ada")
        for old, new in ((None, first), (first, fenced), (fenced, fenced.activated())):
            assert regions.change(old, new)
            assert regions.read() == new
        assert (fenced.epoch, fenced.region, fenced.source) == (2, "", "eu-central-1")

    def test_only_the_item_that_was_read_is_replaced(self, regions: ActiveRegions) -> None:
        first = active_region()
        regions.change(None, first)
        fenced = first.fenced("eu-west-1", at=NOON + HOUR, by="ada")
        assert not regions.change(None, fenced)
        assert not regions.change(active_region(epoch=7), fenced)
        assert not regions.change(replace(first, region=""), fenced)
        assert regions.read() == first

    def test_a_repeated_change_is_the_same_change(self, regions: ActiveRegions) -> None:
        first = active_region()
        assert regions.change(None, first)
        assert regions.change(None, first)
        assert regions.read() == first


class EpochContract(StoreContract):
    """*claim* at the epoch of the active region: the fence has the epoch."""

    def test_the_first_claim_of_an_epoch_has_its_first_fence(self, store: ActionStore) -> None:
        row = scheduled(store)
        won = store.claim(row, replace(terms(), epoch=3))
        assert isinstance(won, Claimed)
        assert won.action.fence == stored_row(store, row.ref).fence == 3 * FENCES

    def test_a_later_claim_of_the_epoch_has_the_next_fence(self, store: ActionStore) -> None:
        first = store.claim(scheduled(store), replace(terms(), epoch=3))
        assert isinstance(first, Claimed)
        store.settle(first.action, end(Status.PENDING))
        retried = stored_row(store, first.action.ref)
        again = store.claim(retried, replace(terms(NOON + 2 * HOUR), epoch=3))
        assert isinstance(again, Claimed)
        assert (again.action.fence, again.action.attempt) == (3 * FENCES + 1, 2)

    @pytest.mark.parametrize("ended", [None, Status.PENDING], ids=["running", "to be retried"])
    def test_a_row_of_a_later_epoch_is_left_alone(self, store: ActionStore, ended: Status | None) -> None:
        later = store.claim(scheduled(store), replace(terms(), epoch=3))
        assert isinstance(later, Claimed)
        if ended is not None:
            store.settle(later.action, end(ended))
        row = stored_row(store, later.action.ref)
        for at in (NOON + SECOND, ORPHANED_AT, NOON + 2 * HOUR):
            assert store.claim(row, replace(terms(at), epoch=2)) is None
        assert store.get(row.ref) == row

    def test_a_run_of_an_earlier_epoch_that_is_taken_over_settles_nothing(self, store: ActionStore) -> None:
        dead = running(store)
        assert store.claim(dead, replace(terms(NOON + SECOND), epoch=1)) == LeaseHeld(LEASE_END)
        won = store.claim(dead, replace(terms(ORPHANED_AT), epoch=1))
        assert isinstance(won, Claimed)
        assert (won.action.fence, won.action.recoveries) == (FENCES, 1)
        assert store.settle(dead, end(Status.EXECUTED)) is SettleResult.LEASE_LOST
        assert store.renew(dead, ORPHANED_AT + HOUR) is None
        assert store.get(dead.ref) == won.action

    def test_without_a_standby_region_a_claim_counts_on(self, store: ActionStore) -> None:
        won = store.claim(scheduled(store), replace(terms(), epoch=3))
        assert isinstance(won, Claimed)
        self._settle_for_retry(store, won.action)
        assert claim(store, won.action.ref, NOON + 2 * HOUR).fence == 3 * FENCES + 1

    @staticmethod
    def _settle_for_retry(store: ActionStore, claimed: Action) -> None:
        assert store.settle(claimed, end(Status.PENDING)) is SettleResult.SETTLED
