"""Changes by callers: cancel, request to cancel, reschedule, redrive and dismiss, each from its status."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from duetime.model.action import Action, Status
from duetime.model.lease import Applied, Rejected
from duetime.model.row_parts import Act
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    TICK,
    applied,
    claim,
    end,
    fresh,
    put,
    scheduled,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import StoreContract

AT = NOON - MINUTE
"""The time of changes of pending rows."""

LATER = NOON + HOUR


class CancelContract(StoreContract):
    """*cancel* and *ask to cancel*."""

    def test_a_pending_action_is_cancelled(self, store: ActionStore, action: Action) -> None:
        row = applied(store, action.ref, store.cancel(action, by="ops", at=AT, kept_until=EXPIRY))
        assert (row.status, row.changed) == (Status.CANCELLED, Act(AT, "ops"))
        assert (row.kept_until, row.cancelled_by) == (EXPIRY, "ops")

    def test_a_cancelled_row_leaves_the_due_index(self, store: ActionStore, action: Action) -> None:
        store.cancel(action, by="ops", at=AT, kept_until=EXPIRY)
        assert self.due_time(store, action) is None

    def test_a_repeated_cancel_returns_the_first_result(self, store: ActionStore, action: Action) -> None:
        assert store.cancel(action, by="ops", at=AT, kept_until=EXPIRY) == store.cancel(
            action, by="ops", at=AT, kept_until=EXPIRY
        )

    @pytest.mark.parametrize(("by", "at"), [("another caller", AT), ("ops", AT + SECOND)])
    def test_another_cancel_is_rejected_with_the_cancelled_row(
        self, store: ActionStore, by: str, at: datetime, action: Action
    ) -> None:
        store.cancel(action, by="ops", at=AT, kept_until=EXPIRY)
        assert store.cancel(action, by=by, at=at, kept_until=EXPIRY) == Rejected(
            stored_row(store, action.ref)
        )

    def test_a_retry_that_waits_is_cancelled_like_any_pending_action(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.PENDING))
        waiting = stored_row(store, claimed.ref)
        assert isinstance(store.cancel(waiting, by="ops", at=NOON + MINUTE, kept_until=EXPIRY), Applied)
        assert stored_row(store, claimed.ref).status is Status.CANCELLED

    def test_a_request_to_cancel_leaves_run_and_fence_alone(
        self, store: ActionStore, claimed: Action
    ) -> None:
        row = applied(store, claimed.ref, store.ask_to_cancel(claimed, by="ops", at=NOON + SECOND))
        assert row == replace(claimed, cancel_request=Act(NOON + SECOND, "ops"))

    def test_the_first_request_to_cancel_stays(self, store: ActionStore, claimed: Action) -> None:
        first = store.ask_to_cancel(claimed, by="ops", at=NOON + SECOND)
        assert store.ask_to_cancel(claimed, by="another caller", at=NOON + MINUTE) == first


class RescheduleContract(StoreContract):
    """*reschedule*."""

    def test_a_pending_action_gets_another_due_time(self, store: ActionStore, action: Action) -> None:
        row = applied(store, action.ref, store.reschedule(action, LATER, by="ops", at=AT))
        assert row == replace(action, due_at=LATER, generation=2, changed=Act(AT, "ops"))

    def test_a_rescheduled_row_moves_in_the_due_index(self, store: ActionStore, action: Action) -> None:
        store.reschedule(action, LATER, by="ops", at=AT)
        assert self.due_time(store, action) == LATER

    def test_a_wake_for_the_old_time_claims_nothing(self, store: ActionStore, action: Action) -> None:
        store.reschedule(action, LATER, by="ops", at=AT)
        with unchanged(store.get, action.ref):
            assert store.claim(action, terms(NOON)) is None
            assert store.claim(action, terms(LATER - TICK)) is None
        assert claim(store, action.ref, LATER).due_at == LATER

    def test_a_reschedule_sets_or_removes_the_expiry(self, store: ActionStore, action: Action) -> None:
        limited = applied(
            store, action.ref, store.reschedule(action, LATER, by="ops", at=AT, expires_at=LATER + HOUR)
        )
        assert limited.expires_at == LATER + HOUR
        outcome = store.reschedule(limited, LATER, by="ops", at=AT)
        assert applied(store, action.ref, outcome).expires_at is None

    def test_an_action_may_be_rescheduled_to_an_earlier_time(self, store: ActionStore) -> None:
        action = scheduled(store, due_at=LATER)
        store.reschedule(action, NOON, by="ops", at=AT)
        assert claim(store, action.ref, NOON).due_at == NOON

    def test_a_repeated_reschedule_returns_the_first_result(self, store: ActionStore, action: Action) -> None:
        first = store.reschedule(action, LATER, by="ops", at=AT)
        assert store.reschedule(action, LATER, by="ops", at=AT) == first
        assert stored_row(store, action.ref).generation == 2

    def test_each_reschedule_has_its_own_generation(self, store: ActionStore, action: Action) -> None:
        for number in range(3):
            row = stored_row(store, action.ref)
            store.reschedule(row, LATER, by="ops", at=AT + number * SECOND)
        assert stored_row(store, action.ref).generation == 4

    def test_a_rescheduled_retry_is_meant_for_its_new_time(self, store: ActionStore, claimed: Action) -> None:
        store.settle(claimed, end(Status.PENDING))
        store.reschedule(stored_row(store, claimed.ref), NOON + 9 * HOUR, by="ops", at=NOON + MINUTE)
        row = stored_row(store, claimed.ref)
        assert (row.nominal_at, row.generation, row.attempt) == (NOON + 9 * HOUR, 3, 1)


class LateContract(StoreContract):
    """A change that arrives after a later one: the service received it long after its caller gave up."""

    def test_a_late_reschedule_does_not_undo_a_later_one(self, store: ActionStore, action: Action) -> None:
        store.reschedule(action, LATER, by="ops", at=AT)
        store.reschedule(stored_row(store, action.ref), LATER + HOUR, by="ops", at=AT + SECOND)
        with unchanged(store.get, action.ref):
            rejected = store.reschedule(action, LATER, by="ops", at=AT)
        assert rejected == Rejected(stored_row(store, action.ref))

    def test_a_late_cancel_does_not_end_a_rescheduled_action(
        self, store: ActionStore, action: Action
    ) -> None:
        store.reschedule(action, LATER, by="ops", at=AT)
        with unchanged(store.get, action.ref):
            assert isinstance(store.cancel(action, by="ops", at=AT, kept_until=EXPIRY), Rejected)

    def test_a_late_reschedule_does_not_move_a_retry(self, store: ActionStore, action: Action) -> None:
        store.settle(claim(store, action.ref), end(Status.PENDING))
        with unchanged(store.get, action.ref):
            assert isinstance(store.reschedule(action, LATER, by="ops", at=AT), Rejected)

    def test_a_late_request_to_cancel_does_not_stop_the_next_run(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.PENDING))
        claim(store, claimed.ref, NOON + 2 * HOUR)
        with unchanged(store.get, claimed.ref):
            assert isinstance(store.ask_to_cancel(claimed, by="ops", at=NOON + SECOND), Rejected)

    def test_a_late_redrive_or_dismissal_does_not_change_a_later_failure(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.settle(claimed, end(Status.FAILED))
        failed = stored_row(store, claimed.ref)
        store.redrive(failed, LATER, by="ops", at=LATER)
        store.settle(claim(store, failed.ref, LATER), end(Status.FAILED, LATER + SECOND))
        with unchanged(store.get, failed.ref):
            assert isinstance(store.redrive(failed, LATER, by="ops", at=LATER), Rejected)
            assert isinstance(store.dismiss(failed, "by hand", by="ops", at=LATER + SECOND), Rejected)


class StrangerContract(StoreContract):
    """What is not there, and what is another tenant's, looks the same."""

    def test_without_a_row_nothing_changes(self, store: ActionStore) -> None:
        action = fresh(store)
        assert _changes(store, action) == [Rejected(None)] * 5
        assert store.get(action.ref) is None

    @pytest.mark.parametrize("status", [Status.PENDING, Status.PROCESSING, Status.FAILED])
    def test_nothing_is_changed_under_another_tenant(self, store: ActionStore, status: Status) -> None:
        action: Action = self.bring_to(store, status)
        assert _changes(store, replace(action, tenant_id=GLOBEX)) == [Rejected(None)] * 5
        assert store.get(action.ref) == action


def _changes(store: ActionStore, row: Action) -> list[Applied | Rejected]:
    return [
        store.cancel(row, by=CALLER, at=AT, kept_until=EXPIRY),
        store.ask_to_cancel(row, by=CALLER, at=AT),
        store.reschedule(row, LATER, by=CALLER, at=AT),
        store.redrive(row, LATER, by=CALLER, at=AT),
        store.dismiss(row, "done by hand", by=CALLER, at=AT),
    ]


class RedriveContract(StoreContract):
    """*redrive*."""

    @pytest.fixture
    def failed(self, store: ActionStore) -> Action:
        return self.bring_to(store, Status.FAILED)

    def test_a_failed_action_is_pending_again(self, store: ActionStore, failed: Action) -> None:
        row = applied(store, failed.ref, store.redrive(failed, LATER, by="ops", at=LATER))
        assert (row.status, row.due_at, row.generation, row.kept_until) == (Status.PENDING, LATER, 2, None)
        assert row.changed == Act(LATER, "ops")

    def test_a_redriven_action_retains_its_history_and_its_nominal_time(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.redrive(failed, LATER, by="ops", at=LATER)
        row = stored_row(store, failed.ref)
        assert (row.attempts, row.attempt, row.fence) == (failed.attempts, 1, 1)
        assert (row.redriven_after, row.nominal_at) == (1, NOON)

    def test_a_redriven_action_expires_no_more(self, store: ActionStore) -> None:
        expiring = put(store, replace(fresh(store), expires_at=NOON + HOUR))
        store.settle(claim(store, expiring.ref), end(Status.FAILED))
        failed = stored_row(store, expiring.ref)
        assert failed.expires_at == NOON + HOUR
        outcome = store.redrive(failed, LATER, by="ops", at=LATER)
        assert applied(store, expiring.ref, outcome).expires_at is None

    def test_a_redriven_row_is_in_the_due_index_again(self, store: ActionStore, failed: Action) -> None:
        store.redrive(failed, LATER, by="ops", at=LATER)
        assert self.due_time(store, stored_row(store, failed.ref)) == LATER

    def test_a_redriven_action_is_claimed_with_the_next_number(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.redrive(failed, LATER, by="ops", at=LATER)
        again = claim(store, failed.ref, LATER)
        assert (again.attempt, again.fence) == (2, 2)

    def test_a_redrive_forgets_recoveries_and_a_request_to_cancel(
        self, store: ActionStore, claimed: Action, taken_over: Action
    ) -> None:
        store.ask_to_cancel(claimed, by="ops", at=ORPHANED_AT)
        store.settle(taken_over, end(Status.FAILED, ORPHANED_AT))
        store.redrive(stored_row(store, claimed.ref), LATER, by="ops", at=LATER)
        row = stored_row(store, claimed.ref)
        assert (row.recoveries, row.cancel_request) == (0, None)

    def test_a_repeated_redrive_returns_the_first_result(self, store: ActionStore, failed: Action) -> None:
        assert store.redrive(failed, LATER, by="ops", at=LATER) == store.redrive(
            failed, LATER, by="ops", at=LATER
        )

    def test_another_redrive_is_rejected_with_the_pending_row(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.redrive(failed, LATER, by="ops", at=LATER)
        assert store.redrive(failed, LATER, by="another caller", at=LATER) == Rejected(
            stored_row(store, failed.ref)
        )


class DismissContract(StoreContract):
    """*dismiss*."""

    @pytest.fixture
    def failed(self, store: ActionStore) -> Action:
        return self.bring_to(store, Status.FAILED)

    def test_a_dismissed_action_stays_failed_and_has_the_reason(
        self, store: ActionStore, failed: Action
    ) -> None:
        row = applied(store, failed.ref, store.dismiss(failed, "by hand", by="ops", at=LATER))
        assert row == replace(failed, dismissed_reason="by hand", changed=Act(LATER, "ops"))

    def test_a_dismissed_row_leaves_the_list_of_dead_letters(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.dismiss(failed, "by hand", by="ops", at=LATER)
        assert not store.failed([failed.tenant_id], limit=10, cursor=None).actions

    def test_a_repeated_dismissal_returns_the_first_result(self, store: ActionStore, failed: Action) -> None:
        assert store.dismiss(failed, "by hand", by="ops", at=LATER) == store.dismiss(
            failed, "by hand", by="ops", at=LATER
        )

    def test_another_dismissal_is_rejected_and_the_first_reason_stays(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.dismiss(failed, "by hand", by="ops", at=LATER)
        row = stored_row(store, failed.ref)
        assert store.dismiss(failed, "twice", by="another caller", at=LATER) == Rejected(row)
        assert stored_row(store, failed.ref) == row

    def test_a_late_redrive_does_not_undo_a_dismissal(self, store: ActionStore, failed: Action) -> None:
        store.dismiss(failed, "by hand", by="ops", at=LATER)
        with unchanged(store.get, failed.ref):
            assert isinstance(store.redrive(failed, LATER, by="ops", at=LATER + SECOND), Rejected)

    def test_a_dismissed_action_is_redriven_and_a_dead_letter_once_it_fails_again(
        self, store: ActionStore, failed: Action
    ) -> None:
        store.dismiss(failed, "by hand", by="ops", at=LATER)
        dismissed = stored_row(store, failed.ref)
        row = applied(store, failed.ref, store.redrive(dismissed, LATER, by="ops", at=LATER + SECOND))
        assert (row.status, row.dismissed_reason) == (Status.PENDING, None)
        store.settle(claim(store, failed.ref, LATER), end(Status.FAILED, LATER + MINUTE))
        listed = store.failed([failed.tenant_id], limit=10, cursor=None)
        assert [row.ref for row in listed] == [failed.ref]
