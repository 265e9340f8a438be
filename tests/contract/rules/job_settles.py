"""How a run of a job ends: the lock becomes free and the tally counts it, at the same moment."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.model.action import Action, Status
from duetime.model.job import Job
from duetime.model.lease import SettleResult
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import LockRequirement
from duetime_contract.job_specimens import (
    DAY,
    FINAL,
    NEXT,
    NIGHTLY,
    added,
    changed,
    counted,
    ended,
    occurrence,
    planned,
    stored_job,
    taken,
    taking,
)
from duetime_contract.races import ROUNDS, together
from duetime_contract.specimens import (
    EXPIRY,
    NOON,
    ORPHANED_AT,
    SECOND,
    end,
    running,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import JobsContract


class OccurrenceSettleContract(JobsContract):
    """`settle`: the end of a run, the lock and the tally, at one moment."""

    @pytest.mark.parametrize("status", FINAL)
    def test_a_settled_run_frees_its_lock_and_is_counted(
        self, store: ActionStore, jobs: JobStore, status: Status, job: Job, run: Action
    ) -> None:
        run_end = ended(run, status, "no ledger" if status is Status.FAILED else None)
        assert jobs.settle(run, end(status, message="because"), job.ref, run_end) is SettleResult.SETTLED
        assert jobs.get(job.ref) == replace(job, tally=counted(run_end, job.tally))
        row = stored_row(store, run.ref)
        assert (row.status, row.kept_until, row.lease_until, row.nonce) == (status, EXPIRY, None, None)
        assert (row.attempts[0].finished_at, row.attempts[0].message) == (NOON + SECOND, "because")
        assert self.due_time(store, run) is None

    def test_the_ends_of_several_runs_add_up(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        tally = job.tally
        order = (Status.FAILED, Status.FAILED, Status.CANCELLED, Status.FAILED, Status.EXECUTED)
        for place, status in enumerate(order):
            run = taken(store, jobs, job, NOON + place * DAY)
            run_end = ended(run, status, f"problem {place}" if status is Status.FAILED else None)
            assert jobs.settle(run, end(status), job.ref, run_end) is SettleResult.SETTLED
            tally = counted(run_end, tally)
            assert stored_job(jobs, job.ref).tally == tally
        assert (tally.executed, tally.failed, tally.consecutive_failures) == (1, 3, 0)
        assert tally.last_error == "problem 3"

    def test_a_freed_lock_may_be_taken(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        assert stored_job(jobs, job.ref).running is None
        taken(store, jobs, job, NEXT)

    def test_the_one_that_waits_stays_when_the_lock_becomes_free(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        run, other = taken(store, jobs, job), planned(store, NEXT)
        jobs.wait(stored_job(jobs, job.ref), other.ref)
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        assert stored_job(jobs, job.ref).waiting == other.ref

    def test_a_concurrently_changed_job_is_unlocked_and_counted(
        self, jobs: JobStore, job: Job, run: Action
    ) -> None:
        now = changed(jobs, job)
        run_end = ended(run)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, run_end) is SettleResult.SETTLED
        assert jobs.get(job.ref) == replace(now, running=None, tally=counted(run_end, now.tally))

    def test_a_repeated_settle_is_settled_and_counted_once(
        self, jobs: JobStore, job: Job, run: Action
    ) -> None:
        for _ in range(3):
            assert (
                jobs.settle(run, end(Status.FAILED), job.ref, ended(run, Status.FAILED, "x"))
                is SettleResult.SETTLED
            )
        tally = stored_job(jobs, job.ref).tally
        assert (tally.failed, tally.consecutive_failures) == (1, 1)

    def test_a_settle_repeated_after_the_next_has_the_lock_leaves_it(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        following = taken(store, jobs, job, NEXT)
        with unchanged(jobs.get, job.ref):
            assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
        assert store.get(following.ref) == following

    def test_a_run_that_lost_its_lock_settles_nothing(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        assert jobs.claim(taking(planned(store, NEXT), stored_job(jobs, job.ref), dead=run))
        with unchanged(store.get, run.ref), unchanged(jobs.get, job.ref):
            assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.LEASE_LOST

    def test_without_the_lock_the_action_alone_is_settled(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        beside = taken(store, jobs, job, hold=LockRequirement.UNCHANGED)
        taken(store, jobs, job, NEXT)
        with unchanged(jobs.get, job.ref):
            assert jobs.settle(beside, end(Status.EXECUTED), job.ref, ended(beside)) is SettleResult.SETTLED
            assert stored_row(store, beside.ref).status is Status.EXECUTED

    def test_a_run_beside_the_locks_is_counted_once_however_often_its_settle_is_repeated(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        beside = taken(store, jobs, job, hold=LockRequirement.UNCHANGED)
        holder = taken(store, jobs, job, NEXT)
        run_end = ended(beside, Status.FAILED, "x")
        for _ in range(3):
            outcome = jobs.settle(beside, end(Status.FAILED), job.ref, run_end, has_lock=False)
            assert outcome is SettleResult.SETTLED
        now = stored_job(jobs, job.ref)
        assert (now.running, now.tally) == (holder.ref, counted(run_end, job.tally))

    def test_with_a_free_lock_the_action_alone_is_settled(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        run = taken(store, jobs, job, hold=LockRequirement.UNCHANGED)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
        assert stored_row(store, run.ref).status is Status.EXECUTED
        assert jobs.get(job.ref) == job

    def test_a_run_that_was_taken_over_settles_nothing(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        assert jobs.claim(taking(run, stored_job(jobs, job.ref), claim_terms=terms(ORPHANED_AT)))
        with unchanged(store.get, run.ref), unchanged(jobs.get, job.ref):
            assert jobs.settle(run, end(Status.FAILED), job.ref, ended(run)) is SettleResult.LEASE_LOST

    def test_a_settle_without_a_row_has_lost_its_lease(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        run = replace(running(store), id=occurrence(store).id)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.LEASE_LOST
        assert jobs.get(job.ref) == job

    def test_a_run_with_a_request_to_cancel_is_settled(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        store.ask_to_cancel(run, by="ops", at=NOON)
        assert jobs.settle(run, end(Status.CANCELLED), job.ref, ended(run)) is SettleResult.SETTLED
        assert stored_job(jobs, job.ref).running is None
        assert stored_row(store, run.ref).cancelled_by == "ops"

    def test_of_a_settle_and_a_claim_at_once_the_lock_is_the_claims_or_free(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        for place in range(ROUNDS):
            job = added(jobs, type(NIGHTLY)(f"report-{place}"))
            run, row = taken(store, jobs, job), planned(store, NEXT, job=job.name)
            settled, claimed = together(
                [
                    partial(jobs.settle, run, end(Status.EXECUTED), job.ref, ended(run)),
                    partial(jobs.claim, taking(row, job)),
                ]
            )
            now = stored_job(jobs, job.ref)
            assert settled is SettleResult.SETTLED
            assert now.tally.executed == 1
            assert now.running == (row.ref if claimed else None)
