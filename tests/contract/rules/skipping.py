"""A skip of a pending run."""

from __future__ import annotations

from datetime import datetime

import pytest

from duetime.model.action import Action, SkipReason, Status
from duetime.model.lease import Applied, Rejected
from duetime.model.row_parts import Act, RunPlan
from duetime.ports.action_store import ActionStore
from duetime_contract.job_specimens import (
    PLANNED_AT,
    occurrence,
    planned,
)
from duetime_contract.specimens import (
    EXPIRY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    applied,
    claim,
    end,
    stored_row,
)
from duetime_contract.subject import StoreContract

AT = NOON - MINUTE
"""The time of skips of pending rows."""


def skip(
    store: ActionStore,
    row: Action,
    reason: SkipReason = SkipReason.REQUESTED,
    *,
    note: str = "",
    by: str = "ops",
    at: datetime = AT,
) -> Applied | Rejected:
    """Skip it as `ops`, a minute before noon."""
    return store.skip(row, reason, note=note, by=by, at=at, kept_until=EXPIRY)


class SkipContract(StoreContract):
    """*skip*."""

    def test_a_pending_run_is_skipped_with_its_reason(self, store: ActionStore, row: Action) -> None:
        found = applied(
            store, row.ref, skip(store, row, SkipReason.OVERLAP, note="the one of noon still runs")
        )
        assert (found.status, found.skip_reason) == (Status.SKIPPED, SkipReason.OVERLAP)
        assert (found.note, found.kept_until) == ("the one of noon still runs", EXPIRY)
        assert found.changed == Act(AT, "ops")

    @pytest.mark.parametrize("reason", list(SkipReason))
    def test_every_reason_is_stored(self, store: ActionStore, reason: SkipReason, row: Action) -> None:
        skip(store, row, reason)
        found = stored_row(store, row.ref)
        assert (found.skip_reason, found.note) == (reason, None)

    def test_a_note_of_500_characters_is_stored_in_full(self, store: ActionStore, row: Action) -> None:
        skip(store, row, note="é" * 500)
        assert stored_row(store, row.ref).note == "é" * 500

    def test_a_skip_leaves_due_time_generation_and_attempts_alone(self, store: ActionStore) -> None:
        row = planned(store, catches_up=True)
        skip(store, row)
        found = stored_row(store, row.ref)
        assert (found.due_at, found.generation, found.fence, found.attempts) == (NOON, 1, 0, ())
        assert found.planned == RunPlan(PLANNED_AT, "daily_12:00", catches_up=True)

    def test_a_skipped_row_leaves_the_due_index(self, store: ActionStore, row: Action) -> None:
        skip(store, row)
        assert self.due_time(store, row) is None

    def test_a_row_that_became_pending_again_is_not_skipped(self, store: ActionStore, row: Action) -> None:
        store.reschedule(row, NOON + HOUR, by="ops", at=AT)
        before = stored_row(store, row.ref)
        assert skip(store, row) == Rejected(before)
        assert store.get(row.ref) == before

    def test_a_retry_that_waits_is_skipped_as_it_was_read(self, store: ActionStore) -> None:
        claimed = claim(store, planned(store).ref)
        store.settle(claimed, end(Status.PENDING))
        assert isinstance(skip(store, stored_row(store, claimed.ref)), Applied)
        assert stored_row(store, claimed.ref).status is Status.SKIPPED

    def test_a_repeated_skip_returns_the_first_result(self, store: ActionStore, row: Action) -> None:
        assert skip(store, row) == skip(store, row) == Applied(stored_row(store, row.ref))

    @pytest.mark.parametrize(("by", "at"), [("another caller", AT), ("ops", AT + SECOND)])
    def test_another_skip_is_rejected_with_the_skipped_row(
        self, store: ActionStore, by: str, at: datetime, row: Action
    ) -> None:
        skip(store, row)
        before = stored_row(store, row.ref)
        assert skip(store, row, SkipReason.MISSED, by=by, at=at) == Rejected(before)
        assert store.get(row.ref) == before

    def test_without_a_row_nothing_is_skipped(self, store: ActionStore) -> None:
        row = occurrence(store)
        assert skip(store, row) == Rejected(None)
        assert store.get(row.ref) is None

    def test_a_skipped_run_cannot_be_claimed(self, store: ActionStore, claimed: Action, row: Action) -> None:
        assert isinstance(skip(store, claimed), Rejected)
        skip(store, row)
        with pytest.raises(AssertionError):
            claim(store, row.ref)
