"""A run hands its action over; a token's holder keeps it alive, and ends it once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from duetime.model.action import Action, Status
from duetime.model.lease import Claimed, LeaseHeld, Renewed, Settlement, SettleResult
from duetime.model.row_parts import HandOver, Progress
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    HOUR,
    LEASE_END,
    MINUTE,
    NOON,
    SECOND,
    SKEW,
    TICK,
    end,
    running,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import StoreContract
from tests.contract.rules.slots import holding

AT = NOON + SECOND
WAITS_UNTIL = AT + MINUTE
"""Earlier than the end of the worker's lease, which it replaces."""

TERMS = HandOver(fence=1, at=AT, times_out_at=AT + HOUR, key="key", beat_seconds=60)
HALF = Progress(0.5, "1 of 2")


def handed_over(store: ActionStore) -> Action:
    """Return a row that was handed over one second past noon."""
    claimed = running(store)
    assert store.hand_over(claimed, TERMS) == Renewed(cancel_requested=False)
    return stored_row(store, claimed.ref)


def completion(
    at: datetime, name: str = "first", status: Status = Status.EXECUTED, result: str | None = None
) -> Settlement:
    """Return a settlement by token."""
    return replace(end(status, at), completion=name, result=result)


class HandOverContract(StoreContract):
    """*hand over*, *heartbeat by token*, *complete* and *fail*."""

    def test_a_hand_over_replaces_the_lease(self, store: ActionStore) -> None:
        row = handed_over(store)
        assert row.is_handed_over
        assert (row.status, row.lease_until, row.hand_over) == (Status.PROCESSING, WAITS_UNTIL, TERMS)

    def test_a_repeated_hand_over_changes_nothing(self, store: ActionStore) -> None:
        row = handed_over(store)
        with unchanged(store.get, row.ref):
            assert store.hand_over(row, TERMS) == Renewed(cancel_requested=False)
            assert store.hand_over(row, replace(TERMS, key="other")) is None

    def test_a_run_that_was_taken_over_hands_nothing_over(self, store: ActionStore) -> None:
        claimed = running(store)
        store.claim(claimed, terms(LEASE_END + SKEW + TICK))
        with unchanged(store.get, claimed.ref):
            assert store.hand_over(claimed, TERMS) is None

    def test_a_late_renewal_by_the_worker_leaves_the_lease_of_the_hand_over(self, store: ActionStore) -> None:
        row = handed_over(store)
        with unchanged(store.get, row.ref):
            store.renew(row, NOON + HOUR)

    def test_a_live_hand_over_is_not_claimed_and_a_dead_one_is(self, store: ActionStore) -> None:
        row = handed_over(store)
        assert store.claim(row, terms(WAITS_UNTIL)) == LeaseHeld(WAITS_UNTIL)
        taken = store.claim(row, terms(WAITS_UNTIL + SKEW + TICK))
        assert isinstance(taken, Claimed)
        assert (taken.action.recoveries, taken.action.is_handed_over) == (1, False)

    def test_a_hand_over_that_has_timed_out_counts_as_no_dead_worker(self, store: ActionStore) -> None:
        claimed = running(store)
        store.hand_over(claimed, replace(TERMS, times_out_at=WAITS_UNTIL))
        taken = store.claim(stored_row(store, claimed.ref), terms(WAITS_UNTIL + SKEW + TICK))
        assert isinstance(taken, Claimed)
        assert (taken.action.recoveries, taken.action.fence, taken.action.attempt) == (0, 2, 1)
        assert stored_row(store, claimed.ref) == taken.action

    def test_a_heartbeat_moves_the_lease_and_stores_the_progress(self, store: ActionStore) -> None:
        row = handed_over(store)
        beat = store.beat(row, WAITS_UNTIL + SECOND, now=AT + SECOND, progress=HALF)
        assert beat == Renewed(cancel_requested=False)
        after = stored_row(store, row.ref)
        assert (after.lease_until, after.progress) == (WAITS_UNTIL + SECOND, HALF)

    def test_a_heartbeat_that_arrives_after_a_later_one_changes_nothing(self, store: ActionStore) -> None:
        row = handed_over(store)
        store.beat(row, WAITS_UNTIL + MINUTE, now=AT)
        with unchanged(store.get, row.ref):
            beat = store.beat(row, WAITS_UNTIL + SECOND, now=AT, progress=HALF)
        assert beat == Renewed(cancel_requested=False)

    def test_a_heartbeat_by_token_returns_a_request_to_cancel(self, store: ActionStore) -> None:
        row = handed_over(store)
        store.ask_to_cancel(row, by=CALLER, at=AT)
        assert store.beat(row, WAITS_UNTIL + SECOND, now=AT) == Renewed(cancel_requested=True)

    def test_a_heartbeat_after_the_lease_comes_too_late(self, store: ActionStore) -> None:
        row = handed_over(store)
        with unchanged(store.get, row.ref):
            assert store.beat(row, WAITS_UNTIL + HOUR, now=WAITS_UNTIL) is None

    def test_only_a_handed_over_row_takes_a_heartbeat_or_a_completion(self, store: ActionStore) -> None:
        claimed = running(store)
        with unchanged(store.get, claimed.ref):
            assert store.beat(claimed, NOON + HOUR, now=NOON) is None
            assert store.settle(claimed, completion(AT)) is SettleResult.LEASE_LOST

    @pytest.mark.parametrize(
        "status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING], ids=str
    )
    def test_a_completion_ends_the_action_once(self, store: ActionStore, status: Status) -> None:
        row = handed_over(store)
        first = completion(AT + SECOND, status=status, result='{"pages":3}')
        assert store.settle(row, first) is SettleResult.SETTLED
        after = stored_row(store, row.ref)
        assert (after.status, after.completion, after.result) == (status, "first", '{"pages":3}')
        assert (after.attempts[-1].finished_at, after.lease_until) == (AT + SECOND, None)
        with unchanged(store.get, row.ref):
            assert store.settle(row, first) is SettleResult.SETTLED  # its response was lost
            assert store.settle(row, completion(AT + SECOND, "second")) is SettleResult.LEASE_LOST

    def test_a_completion_at_the_end_of_the_lease_comes_too_late(self, store: ActionStore) -> None:
        row = handed_over(store)
        with unchanged(store.get, row.ref):
            assert store.settle(row, completion(WAITS_UNTIL)) is SettleResult.LEASE_LOST

    def test_a_completion_of_a_run_that_was_taken_over_changes_nothing(self, store: ActionStore) -> None:
        row = handed_over(store)
        store.claim(row, terms(WAITS_UNTIL + SKEW + TICK))
        with unchanged(store.get, row.ref):
            assert store.settle(row, completion(AT + SECOND)) is SettleResult.LEASE_LOST
            assert store.beat(row, WAITS_UNTIL + HOUR, now=AT) is None

    def test_a_failure_that_would_retry_is_final_after_a_request_to_cancel(self, store: ActionStore) -> None:
        row = handed_over(store)
        store.ask_to_cancel(row, by=CALLER, at=AT)
        with unchanged(store.get, row.ref):
            retry = completion(AT + SECOND, status=Status.PENDING)
            assert store.settle(row, retry) is SettleResult.CANCEL_REQUESTED

    def test_the_next_run_can_hand_over_again(self, store: ActionStore) -> None:
        row = handed_over(store)
        taken = store.claim(row, terms(WAITS_UNTIL + SKEW + TICK))
        assert isinstance(taken, Claimed)
        again = replace(TERMS, fence=2, at=WAITS_UNTIL + MINUTE, key="next")
        assert store.hand_over(taken.action, again) is not None
        assert stored_row(store, row.ref).is_handed_over

    def test_a_question_is_stored_until_a_later_hand_over_has_none(self, store: ActionStore) -> None:
        claimed = running(store)
        held = replace(TERMS, question="Refund 900 € to Ann?", decision_terms="execute")
        store.hand_over(claimed, held)
        row = stored_row(store, claimed.ref)
        assert (row.awaits_approval, row.hand_over) == (True, held)
        taken = store.claim(stored_row(store, claimed.ref), terms(WAITS_UNTIL + SKEW + TICK))
        assert isinstance(taken, Claimed)
        assert not taken.action.awaits_approval
        store.hand_over(taken.action, replace(TERMS, fence=2))
        row = stored_row(store, claimed.ref)
        assert (row.awaits_approval, row.handed_over) == (False, replace(TERMS, fence=2))

    def test_a_run_reports_its_progress(self, store: ActionStore) -> None:
        claimed = running(store)
        assert store.report(claimed, HALF) == Renewed(cancel_requested=False)
        assert stored_row(store, claimed.ref).progress == HALF

    def test_a_take_over_removes_the_progress_of_the_lost_run(self, store: ActionStore) -> None:
        claimed = running(store)
        store.report(claimed, HALF)
        taken = store.claim(stored_row(store, claimed.ref), terms(LEASE_END + SKEW + TICK))
        assert isinstance(taken, Claimed)
        row = stored_row(store, claimed.ref)
        assert row.progress is taken.action.progress is None

    def test_a_claim_with_a_slot_removes_the_progress_of_the_former_run(self, store: ActionStore) -> None:
        claimed = holding(store)
        store.report(claimed, HALF)
        row = stored_row(store, claimed.ref)
        assert isinstance(store.claim(row, terms(LEASE_END + SKEW + TICK)), Claimed)
        assert stored_row(store, claimed.ref).progress is None

    def test_a_run_that_has_ended_reports_nothing(self, store: ActionStore) -> None:
        claimed = running(store)
        store.settle(claimed, end(Status.EXECUTED))
        with unchanged(store.get, claimed.ref):
            assert store.report(claimed, HALF) is None
