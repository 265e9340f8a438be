"""The lease of a run: renewals, and reads of a request to cancel."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.model.action import Status
from duetime.model.lease import Renewed
from duetime.ports.actions import ActionStore
from duetime.testing.contract.specimens import (
    CALLER,
    LEASE_END,
    MINUTE,
    NOON,
    SECOND,
    end,
    fresh,
    running,
    stored_row,
)
from duetime.testing.contract.subject import StoreContract

LATER = LEASE_END + MINUTE


class LeaseContract(StoreContract):
    """*heartbeat*: `renew` and `peek`."""

    def test_a_heartbeat_moves_the_leases_end_and_nothing_else(self, store: ActionStore) -> None:
        claimed = running(store)
        assert store.renew(claimed, LATER) == Renewed(cancel_requested=False)
        assert store.get(claimed.ref) == replace(claimed, lease_until=LATER)

    def test_a_heartbeat_may_be_repeated(self, store: ActionStore) -> None:
        claimed = running(store)
        assert store.renew(claimed, LATER) == store.renew(claimed, LATER)

    def test_a_heartbeat_tells_of_a_request_to_cancel(self, store: ActionStore) -> None:
        claimed = running(store)
        store.ask_to_cancel(claimed.ref, by=CALLER, at=NOON + SECOND)
        assert store.renew(claimed, LATER) == Renewed(cancel_requested=True)

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
    def test_a_run_that_has_ended_renews_nothing(self, store: ActionStore, status: Status) -> None:
        claimed = running(store)
        store.settle(claimed, end(status))
        before = store.get(claimed.ref)
        assert store.renew(claimed, LATER) is None
        assert store.get(claimed.ref) == before

    def test_a_run_of_no_row_renews_nothing(self, store: ActionStore) -> None:
        stranger = replace(fresh(store), status=Status.PROCESSING, fence=1)
        assert store.renew(stranger, LATER) is None
        assert store.get(stranger.ref) is None

    def test_a_look_changes_nothing(self, store: ActionStore) -> None:
        claimed = running(store)
        assert store.peek(claimed) == Renewed(cancel_requested=False)
        assert store.get(claimed.ref) == claimed

    def test_a_look_tells_of_a_request_to_cancel(self, store: ActionStore) -> None:
        claimed = running(store)
        store.ask_to_cancel(claimed.ref, by=CALLER, at=NOON + SECOND)
        assert store.peek(claimed) == Renewed(cancel_requested=True)
        assert stored_row(store, claimed.ref).lease_until == LEASE_END

    def test_a_look_at_no_row_sees_none(self, store: ActionStore) -> None:
        assert store.peek(replace(fresh(store), status=Status.PROCESSING, fence=1)) is None
