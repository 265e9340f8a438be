"""The redrive: a failed action is pending again, with its whole past."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from duetime.model.action import Status
from duetime.model.lease import Applied, Rejected
from duetime.ports.actions import ActionStore
from duetime.testing.contract.specimens import (
    HOUR,
    NOON,
    ORPHANED_AT,
    claim,
    due_time_in_index,
    end,
    running,
    stored_row,
)
from duetime.testing.contract.subject import StoreContract

LATER = NOON + HOUR


class RedriveContract(StoreContract):
    """*redrive*."""

    def test_a_failed_action_is_pending_again(self, store: ActionStore) -> None:
        failed = self.bring_to(store, Status.FAILED)
        moved = store.redrive(failed.ref, LATER, by="ops", at=LATER)
        row = stored_row(store, failed.ref)
        assert moved == Applied(row)
        assert (row.status, row.due_at, row.generation, row.expires_at) == (Status.PENDING, LATER, 2, None)
        assert (row.changed_by, row.changed_at) == ("ops", LATER)

    def test_a_redriven_action_keeps_its_past_and_its_nominal_time(self, store: ActionStore) -> None:
        failed = self.bring_to(store, Status.FAILED)
        store.redrive(failed.ref, LATER, by="ops", at=LATER)
        row = stored_row(store, failed.ref)
        assert (row.attempts, row.attempt, row.fence) == (failed.attempts, 1, 1)
        assert (row.redriven_after, row.nominal_at) == (1, NOON)

    def test_a_redriven_row_is_in_the_due_index_again(self, store: ActionStore) -> None:
        action = self.bring_to(store, Status.FAILED)
        store.redrive(action.ref, LATER, by="ops", at=LATER)
        self.let_indexes_follow()
        assert due_time_in_index(store, stored_row(store, action.ref)) == LATER

    def test_a_redriven_action_is_claimed_with_the_next_number(self, store: ActionStore) -> None:
        failed = self.bring_to(store, Status.FAILED)
        store.redrive(failed.ref, LATER, by="ops", at=LATER)
        again = claim(store, failed.ref, LATER)
        assert (again.attempt, again.fence) == (2, 2)

    def test_a_redrive_forgets_recoveries_and_a_request_to_cancel(self, store: ActionStore) -> None:
        dead = running(store)
        living = claim(store, dead.ref, ORPHANED_AT)
        store.ask_to_cancel(dead.ref, by="ops", at=ORPHANED_AT)
        store.settle(living, end(Status.FAILED, ORPHANED_AT))
        store.redrive(dead.ref, LATER, by="ops", at=LATER)
        row = stored_row(store, dead.ref)
        assert (row.recoveries, row.cancel_requested_at, row.cancel_requested_by) == (0, None, None)

    def test_a_repeated_redrive_tells_what_its_first_try_did(self, store: ActionStore) -> None:
        failed = self.bring_to(store, Status.FAILED)
        first = store.redrive(failed.ref, LATER, by="ops", at=LATER)
        assert store.redrive(failed.ref, LATER, by="ops", at=LATER) == first

    def test_another_redrive_is_refused_with_the_pending_row(self, store: ActionStore) -> None:
        failed = self.bring_to(store, Status.FAILED)
        store.redrive(failed.ref, LATER, by="ops", at=LATER)
        refused = store.redrive(failed.ref, LATER, by="another caller", at=LATER)
        assert refused == Rejected(stored_row(store, failed.ref))
