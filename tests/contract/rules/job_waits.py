"""What has not run yet: who comes next for the lock, and what is planned but does not run after all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.model.action import Action, SkipReason, Status
from duetime.model.job import Job
from duetime.model.lease import SettleResult
from duetime.model.row_parts import Act
from duetime.model.transition import cancelled, skipped
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime_contract.job_specimens import (
    DAY,
    FINAL,
    NEXT,
    NIGHTLY,
    added,
    ended,
    nightly,
    occurrence,
    planned,
    stored_job,
    taken,
    taking,
)
from duetime_contract.races import CROWD, ROUNDS, together
from duetime_contract.specimens import (
    EXPIRY,
    MINUTE,
    NOON,
    end,
    stored_row,
    unchanged,
)
from duetime_contract.subject import JobsContract


class WaitContract(JobsContract):
    """`wait`: who comes next."""

    def test_an_action_becomes_the_waiting_one_if_there_is_none(
        self, jobs: JobStore, job: Job, row: Action
    ) -> None:
        assert jobs.wait(job, row.ref)
        assert jobs.get(job.ref) == replace(job, waiting=row.ref)

    def test_an_action_waits_in_place_of_the_one_that_was_read(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        first, second = planned(store), planned(store, NEXT)
        jobs.wait(job, first.ref)
        assert jobs.wait(stored_job(jobs, job.ref), second.ref)
        assert stored_job(jobs, job.ref).waiting == second.ref

    def test_an_action_does_not_wait_in_place_of_one_that_came_before_it(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        first, second, third = (planned(store, NOON + place * DAY) for place in range(3))
        jobs.wait(job, first.ref)
        assert not jobs.wait(job, second.ref)
        read = stored_job(jobs, job.ref)
        jobs.wait(read, second.ref)
        assert not jobs.wait(read, third.ref)
        assert stored_job(jobs, job.ref).waiting == second.ref

    def test_an_action_that_waits_already_waits(self, jobs: JobStore, job: Job, row: Action) -> None:
        assert jobs.wait(job, row.ref)
        assert jobs.wait(job, row.ref)
        assert jobs.wait(stored_job(jobs, job.ref), row.ref)
        assert stored_job(jobs, job.ref).waiting == row.ref

    def test_an_action_that_has_run_meanwhile_does_not_wait_again(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        holder, row = taken(store, jobs, job), planned(store, NEXT)
        read = stored_job(jobs, job.ref)
        assert jobs.wait(read, row.ref)
        assert jobs.settle(holder, end(Status.EXECUTED), job.ref, ended(holder)) is SettleResult.SETTLED
        assert jobs.claim(taking(row, stored_job(jobs, job.ref)))
        assert not jobs.wait(read, row.ref)
        assert stored_job(jobs, job.ref).waiting is None

    def test_an_action_does_not_wait_for_runs_without_the_lock_that_have_ended(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        read, row = added(jobs, unlocked_since=NOON), planned(store)
        assert jobs.wait(read, row.ref)
        assert jobs.claim(taking(row, stored_job(jobs, read.ref), unlocked=()))
        run = stored_row(store, row.ref)
        assert jobs.settle(run, end(Status.EXECUTED), read.ref, ended(run)) is SettleResult.SETTLED
        assert not jobs.wait(read, row.ref)
        assert stored_job(jobs, read.ref).waiting is None

    def test_nothing_waits_for_a_job_that_never_was(self, store: ActionStore, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.wait(job, planned(store).ref)
        assert jobs.get(job.ref) is None

    def test_of_many_that_would_wait_at_once_exactly_one_does(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        refs = [occurrence(store, NOON + place * MINUTE).ref for place in range(CROWD)]
        answers = together([partial(jobs.wait, job, ref) for ref in refs])
        assert answers.count(True) == 1
        assert stored_job(jobs, job.ref).waiting == refs[answers.index(True)]

    def test_a_run_that_gets_the_lock_stops_waiting(self, jobs: JobStore, job: Job, row: Action) -> None:
        jobs.wait(job, row.ref)
        assert jobs.claim(taking(row, stored_job(jobs, job.ref)))
        assert jobs.get(job.ref) == replace(job, running=row.ref, waiting=None)

    def test_another_that_waits_goes_on_waiting(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        row, other = planned(store), planned(store, NEXT)
        jobs.wait(job, other.ref)
        assert jobs.claim(taking(row, stored_job(jobs, job.ref)))
        assert stored_job(jobs, job.ref).waiting == other.ref

    def test_a_lost_claim_leaves_the_one_that_waits(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        taken(store, jobs, job)
        row = planned(store, NEXT)
        jobs.wait(stored_job(jobs, job.ref), row.ref)
        assert not jobs.claim(taking(row, stored_job(jobs, job.ref)))
        assert stored_job(jobs, job.ref).waiting == row.ref


class EndPendingContract(JobsContract):
    """`end_pending`: what was planned, and waits, does not run."""

    def test_a_pending_run_is_cancelled(
        self, store: ActionStore, jobs: JobStore, job: Job, row: Action
    ) -> None:
        assert jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=EXPIRY), job.ref)
        found = stored_row(store, row.ref)
        assert (found.status, found.changed) == (Status.CANCELLED, Act(NOON, "ops"))
        assert (found.kept_until, found.due_at, found.generation) == (EXPIRY, NOON, 1)

    def test_a_pending_run_is_skipped_with_its_reason(
        self, store: ActionStore, jobs: JobStore, job: Job, row: Action
    ) -> None:
        assert jobs.end_pending(row, self._skipped(row), job.ref)
        found = stored_row(store, row.ref)
        assert (found.status, found.skip_reason, found.note) == (
            Status.SKIPPED,
            SkipReason.REQUESTED,
            "a holiday",
        )
        assert (found.modified_by, found.kept_until) == ("ops", EXPIRY)

    def test_a_row_that_will_not_run_leaves_the_due_index(
        self, store: ActionStore, jobs: JobStore, job: Job, row: Action
    ) -> None:
        jobs.end_pending(row, self._skipped(row), job.ref)
        assert self.due_time(store, row) is None

    def test_a_retry_that_does_not_run_frees_its_lock(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        store.settle(run, end(Status.PENDING))
        row = stored_row(store, run.ref)
        assert jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=EXPIRY), job.ref)
        assert jobs.get(job.ref) == job
        found = stored_row(store, run.ref)
        assert (found.status, found.attempts, found.generation) == (Status.CANCELLED, row.attempts, 2)

    def test_the_lock_of_another_is_left_alone(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        holder, row = taken(store, jobs, job), planned(store, NEXT)
        with unchanged(jobs.get, job.ref):
            assert jobs.end_pending(row, self._skipped(row), job.ref)
        assert store.get(holder.ref) == holder

    @pytest.mark.parametrize("status", [Status.PROCESSING, *FINAL])
    def test_a_row_that_is_no_longer_pending_is_left_alone(
        self, store: ActionStore, jobs: JobStore, status: Status, job: Job, row: Action
    ) -> None:
        run = taken(store, jobs, job)
        if status is not Status.PROCESSING:
            store.settle(run, end(status))
        with unchanged(store.get, row.ref), unchanged(jobs.get, job.ref):
            assert not jobs.end_pending(row, self._skipped(row), job.ref)

    def test_a_row_that_became_pending_again_is_unchanged(
        self, store: ActionStore, jobs: JobStore, job: Job, row: Action
    ) -> None:
        store.settle(taken(store, jobs, job), end(Status.PENDING))
        with unchanged(store.get, row.ref), unchanged(jobs.get, job.ref):
            assert not jobs.end_pending(row, self._skipped(row), job.ref)

    def test_without_a_row_nothing_ends(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), occurrence(store)
        assert not jobs.end_pending(row, self._skipped(row), job.ref)
        assert store.get(row.ref) is None

    def test_a_repeated_end_returns_the_first_result(
        self, store: ActionStore, jobs: JobStore, job: Job, row: Action
    ) -> None:
        for _ in range(2):
            assert jobs.end_pending(row, self._skipped(row), job.ref)
        assert not jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=EXPIRY), job.ref)
        assert stored_row(store, row.ref).status is Status.SKIPPED

    def test_of_a_claim_and_an_end_at_once_exactly_one_wins(self, store: ActionStore, jobs: JobStore) -> None:
        for place in range(ROUNDS):
            job = added(jobs, type(NIGHTLY)(f"report-{place}"))
            row = planned(store, job=job.name)
            claimed, gone = together(
                [
                    partial(jobs.claim, taking(row, job)),
                    partial(jobs.end_pending, row, self._skipped(row), job.ref),
                ]
            )
            assert claimed is not gone
            assert stored_job(jobs, job.ref).running == (row.ref if claimed else None)

    def _skipped(self, row: Action) -> Action:
        return skipped(row, SkipReason.REQUESTED, note="a holiday", by="ops", at=NOON, kept_until=EXPIRY)
