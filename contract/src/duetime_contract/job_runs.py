"""Runs of jobs, as rows: how they are kept, skipped, and recorded after the fact."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action, SkipReason, Status, Trigger
from duetime.model.lease import SettleResult
from duetime.model.row_parts import RunPlan
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
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    claim,
    due_time_in_index,
    end,
    put,
    stored_row,
    unchanged,
)
from duetime_contract.subject import StoreContract


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
        store.skip(theirs, SkipReason.REQUESTED, note="", by=CALLER, at=NOON, kept_until=EXPIRY)
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
