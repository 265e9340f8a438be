"""A run renews its lease, and ends its action once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.model.action import KEPT_ATTEMPTS, Action, Ending, Status
from duetime.model.lease import Applied, Renewed, SettleResult
from duetime.model.row_parts import Act
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    LEASE,
    LEASE_END,
    MINUTE,
    NOON,
    SECOND,
    SKEW,
    TICK,
    claim,
    end,
    fresh,
    running,
    scheduled,
    stored_row,
    unchanged,
)
from duetime_contract.subject import StoreContract

FINAL = [Status.EXECUTED, Status.FAILED, Status.CANCELLED]
AGAIN_AT = NOON + SECOND + HOUR
"""When a run that ended one second past noon is to be repeated."""


class SettleContract(StoreContract):
    """*settle*, for good."""

    @pytest.mark.parametrize("status", FINAL)
    def test_a_settle_ends_the_action(self, store: ActionStore, status: Status, claimed: Action) -> None:
        assert store.settle(claimed, end(status, message="because")) is SettleResult.SETTLED
        row = stored_row(store, claimed.ref)
        assert (row.status, row.kept_until) == (status, EXPIRY)
        assert (row.lease_until, row.nonce) == (None, None)
        assert (row.fence, row.attempt, row.generation, row.due_at) == (1, 1, 1, NOON)

    @pytest.mark.parametrize("status", FINAL)
    def test_a_settle_finishes_its_attempt(self, store: ActionStore, status: Status, claimed: Action) -> None:
        store.settle(claimed, end(status, message="because"))
        finished = replace(
            claimed.attempts[0], finished_at=NOON + SECOND, ending=Ending(status.value), message="because"
        )
        assert stored_row(store, claimed.ref).attempts == (finished,)

    @pytest.mark.parametrize("status", FINAL)
    def test_a_settled_row_leaves_the_due_index(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        store.settle(claimed, end(status))
        assert self.due_time(store, claimed) is None

    def test_a_reason_of_500_characters_is_stored_in_full(self, store: ActionStore, claimed: Action) -> None:
        store.settle(claimed, end(Status.FAILED, message="é" * 500))
        assert stored_row(store, claimed.ref).failure_reason == "é" * 500

    @pytest.mark.parametrize("status", [*FINAL, Status.PENDING])
    def test_a_repeated_settle_returns_the_first_result(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        store.settle(claimed, end(status))
        with unchanged(store.get, claimed.ref):
            assert store.settle(claimed, end(status)) is SettleResult.SETTLED

    def test_a_settle_without_a_row_has_lost_its_lease(self, store: ActionStore) -> None:
        claimed = replace(running(store), id=fresh(store).id)
        assert store.settle(claimed, end(Status.EXECUTED)) is SettleResult.LEASE_LOST
        assert store.get(claimed.ref) is None

    def test_a_renewed_lease_settles_as_well(self, store: ActionStore, claimed: Action) -> None:
        store.renew(claimed, NOON + HOUR)
        assert store.settle(claimed, end(Status.EXECUTED)) is SettleResult.SETTLED

    @pytest.mark.parametrize("status", FINAL)
    def test_a_run_with_a_request_to_stop_can_have_any_final_status(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert store.settle(claimed, end(status)) is SettleResult.SETTLED
        row = stored_row(store, claimed.ref)
        assert (row.status, row.cancel_request) == (status, Act(NOON + SECOND, CALLER))


class RetryContract(StoreContract):
    """*settle* for retry: pending once more."""

    def test_a_retry_is_pending_at_its_new_time_with_the_next_generation(
        self, store: ActionStore, claimed: Action
    ) -> None:
        assert store.settle(claimed, end(Status.PENDING, message="not yet")) is SettleResult.SETTLED
        row = stored_row(store, claimed.ref)
        assert (row.status, row.due_at, row.generation) == (Status.PENDING, AGAIN_AT, 2)
        assert (row.fence, row.attempt, row.lease_until, row.nonce) == (1, 1, None, None)
        assert (row.attempts[-1].ending, row.attempts[-1].message) == (Ending.RETRY, "not yet")
        assert row.kept_until is None

    def test_a_retry_stays_in_the_due_index_at_its_new_time(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.PENDING))
        assert self.due_time(store, claimed) == AGAIN_AT

    def test_the_first_due_time_remains_through_many_retries(
        self, store: ActionStore, action: Action
    ) -> None:
        for at in (NOON, NOON + 2 * HOUR, NOON + 4 * HOUR):
            store.settle(claim(store, action.ref, at), end(Status.PENDING, at))
        row = stored_row(store, action.ref)
        assert (row.first_due_at, row.nominal_at, row.due_at) == (NOON, NOON, NOON + 5 * HOUR)

    def test_a_retry_is_not_claimed_before_its_new_time(self, store: ActionStore, claimed: Action) -> None:
        store.settle(claimed, end(Status.PENDING))
        again = claim(store, claimed.ref, AGAIN_AT)
        assert (again.attempt, again.fence, again.recoveries) == (2, 2, 0)
        assert [number for number, _ in again.numbered_attempts()] == [1, 2]

    def test_a_retry_is_rejected_after_a_request_to_cancel(self, store: ActionStore, claimed: Action) -> None:
        outcome = store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert store.settle(claimed, end(Status.PENDING)) is SettleResult.CANCEL_REQUESTED
        assert outcome == Applied(stored_row(store, claimed.ref))

    def test_a_run_with_a_rejected_retry_can_end(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        store.settle(claimed, end(Status.PENDING))
        assert store.settle(claimed, end(Status.CANCELLED)) is SettleResult.SETTLED
        assert stored_row(store, claimed.ref).cancelled_by == CALLER

    def test_a_repeated_settle_for_retry_changes_nothing_in_a_row_rescheduled_meanwhile(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.PENDING))
        store.reschedule(claimed, NOON + 9 * HOUR, by=CALLER, at=NOON + MINUTE)
        with unchanged(store.get, claimed.ref):
            assert store.settle(claimed, end(Status.PENDING)) is SettleResult.SETTLED

    def test_a_repeated_settle_for_retry_changes_nothing_in_the_next_run(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.PENDING))
        following = claim(store, claimed.ref, AGAIN_AT)
        assert store.settle(claimed, end(Status.PENDING)) is SettleResult.LEASE_LOST
        assert store.get(claimed.ref) == following


class AttemptsContract(StoreContract):
    """The attempts that a row keeps: the latest, numbered on."""

    def test_a_row_stores_its_latest_attempts_and_counts_all(self, store: ActionStore) -> None:
        row = self._retried(store, KEPT_ATTEMPTS + 3)
        assert [number for number, _ in row.numbered_attempts()] == [*range(4, KEPT_ATTEMPTS + 4)]
        assert {attempt.ending for attempt in row.attempts} == {Ending.RETRY}
        assert row.attempts[-1].started_at == NOON + (KEPT_ATTEMPTS + 2) * 2 * HOUR

    def test_lost_runs_crowd_out_the_oldest_attempts_too(self, store: ActionStore) -> None:
        row = self._retried(store, KEPT_ATTEMPTS)
        at = row.due_at
        for _ in range(3):
            claimed = claim(store, row.ref, at)
            at += LEASE + SKEW + TICK
        store.settle(claimed, end(Status.EXECUTED, at))
        attempts = stored_row(store, row.ref).numbered_attempts()
        last = KEPT_ATTEMPTS + 1
        assert [number for number, _ in attempts] == [*range(4, last), last, last, last]
        assert [attempt.ending for _, attempt in attempts[-3:]] == [None, None, Ending.EXECUTED]

    def _retried(self, store: ActionStore, times: int) -> Action:
        ref = scheduled(store).ref
        for number in range(times):
            at = NOON + number * 2 * HOUR
            store.settle(claim(store, ref, at), end(Status.PENDING, at))
        return stored_row(store, ref)


LATER = LEASE_END + MINUTE


class LeaseContract(StoreContract):
    """*heartbeat*: `renew` and `peek`."""

    def test_a_heartbeat_moves_the_leases_end_and_nothing_else(
        self, store: ActionStore, claimed: Action
    ) -> None:
        assert store.renew(claimed, LATER) == Renewed(cancel_requested=False)
        assert store.get(claimed.ref) == replace(claimed, lease_until=LATER)

    def test_a_heartbeat_may_be_repeated(self, store: ActionStore, claimed: Action) -> None:
        assert store.renew(claimed, LATER) == store.renew(claimed, LATER)

    def test_a_late_heartbeat_leaves_a_later_lease(self, store: ActionStore, claimed: Action) -> None:
        store.renew(claimed, LATER)
        assert store.renew(claimed, LEASE_END + SECOND) == Renewed(cancel_requested=False)
        assert stored_row(store, claimed.ref).lease_until == LATER

    def test_a_heartbeat_returns_a_request_to_cancel(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert store.renew(claimed, LATER) == Renewed(cancel_requested=True)

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
    def test_a_run_that_has_ended_renews_nothing(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        store.settle(claimed, end(status))
        with unchanged(store.get, claimed.ref):
            assert store.renew(claimed, LATER) is None

    def test_a_run_without_a_row_renews_nothing(self, store: ActionStore) -> None:
        stranger = replace(fresh(store), status=Status.PROCESSING, fence=1)
        assert store.renew(stranger, LATER) is None
        assert store.get(stranger.ref) is None

    def test_a_look_changes_nothing(self, store: ActionStore, claimed: Action) -> None:
        assert store.peek(claimed) == Renewed(cancel_requested=False)
        assert store.get(claimed.ref) == claimed

    def test_a_peek_returns_a_request_to_cancel(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert store.peek(claimed) == Renewed(cancel_requested=True)
        assert stored_row(store, claimed.ref).lease_until == LEASE_END

    def test_a_look_at_no_row_sees_none(self, store: ActionStore) -> None:
        assert store.peek(replace(fresh(store), status=Status.PROCESSING, fence=1)) is None
