"""Runs of jobs, as rows: how they are kept, skipped, and recorded after the fact."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action, SkipReason, Status, Trigger
from duetime.model.lease import Applied, Rejected, SettleResult
from duetime.model.row_parts import Act, RunPlan
from duetime.ports.action_store import ActionStore
from duetime_contract.job_specimens import (
    NIGHTLY,
    PLANNED_AT,
    event_run,
    manual_run,
    occurrence,
    planned,
    recorded,
)
from duetime_contract.specimens import (
    ACME,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    applied,
    claim,
    due_time_in_index,
    end,
    put,
    stored_row,
    unchanged,
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


class JobRunContract(StoreContract):
    """A run of a job is a row like any other, in a place of its own."""

    @pytest.mark.parametrize("make", [occurrence, manual_run, lambda store: event_run(store, "event-1")])
    def test_a_jobs_run_is_read_back_as_it_was_put(
        self, store: ActionStore, make: Callable[[ActionStore], Action]
    ) -> None:
        row = put(store, make(store))
        assert store.get(row.ref) == row
        assert [*store.get_rows([row.ref])] == [row]

    def test_a_late_run_of_a_missed_time_has_that_nominal_time(self, store: ActionStore) -> None:
        row = planned(store, NOON, due_at=NOON + HOUR, first_due_at=NOON, catches_up=True)
        found = stored_row(store, row.ref)
        assert found == row
        assert (found.nominal_at, found.trigger, found.created_at) == (NOON, Trigger.CATCH_UP, PLANNED_AT)

    def test_an_event_run_stores_its_job(self, store: ActionStore) -> None:
        row = put(store, event_run(store, "event-1", job_tenant=SYSTEM_TENANT, correlation_id="order:7"))
        assert store.get(row.ref) == row

    def test_many_runs_of_jobs_are_put_in_bulk(self, store: ActionStore) -> None:
        rows = [occurrence(store, NOON + place * MINUTE) for place in range(30)]
        store.put_many(rows)
        store.put_many(rows)
        assert [store.get(row.ref) for row in rows] == rows

    def test_a_second_planner_changes_nothing_in_an_occurrence_that_has_run(
        self, store: ActionStore, row: Action
    ) -> None:
        store.settle(claim(store, row.ref), end(Status.EXECUTED))
        with unchanged(store.get, row.ref):
            store.put(replace(row, planned=RunPlan(NOON)))

    def test_one_occurrence_of_two_tenants_is_two_rows(self, store: ActionStore) -> None:
        mine, theirs = planned(store), planned(store, tenant_id=GLOBEX)
        skip(store, theirs)
        assert store.get(mine.ref) == mine
        assert stored_row(store, theirs.ref).status is Status.SKIPPED

    def test_a_pending_run_is_in_the_due_index_until_it_is_settled(
        self, store: ActionStore, row: Action
    ) -> None:
        assert self.due_time(store, row) == NOON
        store.settle(claim(store, row.ref), end(Status.EXECUTED))
        assert self.due_time(store, row) is None

    def test_a_run_retains_the_fields_of_its_job(self, store: ActionStore) -> None:
        row = planned(store, catches_up=True)
        assert store.settle(claim(store, row.ref), end(Status.PENDING)) is SettleResult.SETTLED
        found = stored_row(store, row.ref)
        assert found.planned == RunPlan(PLANNED_AT, "daily_12:00", catches_up=True)
        assert (found.nominal_at, found.due_at) == (NOON, NOON + SECOND + HOUR)

    def test_runs_of_jobs_are_not_in_their_tenants_list_of_one_shots(
        self, store: ActionStore, action: Action
    ) -> None:
        planned(store)
        store.put(event_run(store, "event-1"))
        assert [row.ref for row in store.of_tenant(ACME, limit=10, cursor=None)] == [action.ref]


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


class RecordContract(StoreContract):
    """*record*: a row of what ran outside the road."""

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED])
    def test_a_recorded_run_is_read_back_in_full(self, store: ActionStore, status: Status) -> None:
        run = recorded(store, status=status)
        store.record(run)
        assert store.get(run.ref) == run
        assert [*store.of_job(ACME, NIGHTLY, limit=5, cursor=None)] == [run.without_payload()]

    def test_a_recorded_run_is_not_in_the_due_index(self, store: ActionStore) -> None:
        run = replace(recorded(store), due_shard=store.due_shards[0])
        store.record(run)
        assert self.due_time(store, run) is None

    def test_recording_a_run_that_is_there_changes_nothing(self, store: ActionStore) -> None:
        run = recorded(store)
        store.record(run)
        store.record(replace(run, created_by="another caller"))
        assert store.get(run.ref) == run

    def test_recording_over_a_planned_run_changes_nothing(self, store: ActionStore, row: Action) -> None:
        store.record(recorded(store))
        self.let_indexes_follow()
        assert store.get(row.ref) == row
        assert due_time_in_index(store, row) == NOON
