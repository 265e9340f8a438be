"""The lock of a job: runs that take it, from free jobs and from dead runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action, Status
from duetime.model.job import Job
from duetime.model.lease import Applied, Claimed, SettleResult
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import LockRequirement
from duetime_contract.job_specimens import (
    DAY,
    FINAL,
    NEXT,
    NIGHTLY,
    REINDEX,
    added,
    changed,
    ended,
    event_run,
    occurrence,
    planned,
    refused,
    stored_job,
    taken,
    taking,
)
from duetime_contract.races import CROWD, ROUNDS, together
from duetime_contract.specimens import (
    GLOBEX,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    ORPHANED_AT,
    claim,
    end,
    put,
    stored_row,
    terms,
)
from duetime_contract.subject import JobsContract


class LockContract(JobsContract):
    """The lock: of the runs that ask for it, one at a time."""

    @pytest.fixture
    def locked(self, job: Job, run: Action) -> Job:
        """The job while its run holds the lock."""
        return replace(job, running=run.ref)

    def test_a_lock_of_another_run_rejects_the_claim(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        taken(store, jobs, job)
        assert refused(store, jobs, taking(planned(store, NEXT), stored_job(jobs, job.ref)))

    def test_a_lock_that_was_taken_after_the_read_rejects_the_claim(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        taken(store, jobs, job)
        assert refused(store, jobs, taking(planned(store, NEXT), job))

    def test_a_retry_that_holds_the_lock_still_is_claimed(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        store.settle(run, end(Status.PENDING))
        again = taking(stored_row(store, run.ref), stored_job(jobs, job.ref))
        assert jobs.claim(again)
        assert store.get(run.ref) == again.claimed
        assert stored_job(jobs, job.ref).running == run.ref

    def test_the_same_occurrence_of_another_tenant_does_not_hold_my_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs, tenant_id=SYSTEM_TENANT)
        theirs = put(store, event_run(store, "event-1", tenant_id=GLOBEX, job_tenant=SYSTEM_TENANT))
        assert jobs.claim(taking(theirs, job))
        assert stored_job(jobs, job.ref).running == theirs.ref
        mine = put(store, event_run(store, "event-1", job_tenant=SYSTEM_TENANT))
        assert refused(store, jobs, taking(mine, stored_job(jobs, job.ref)))

    def test_each_job_has_a_lock_of_its_own(self, store: ActionStore, jobs: JobStore) -> None:
        one, two, three = added(jobs), added(jobs, REINDEX), added(jobs, tenant_id=GLOBEX)
        runs = [taken(store, jobs, job) for job in (one, two, three)]
        assert [stored_job(jobs, job.ref).running for job in (one, two, three)] == [run.ref for run in runs]

    def test_of_many_occurrences_that_claim_the_lock_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        rows = [planned(store, NOON + place * MINUTE) for place in range(CROWD)]
        answers = together([partial(jobs.claim, taking(row, job)) for row in rows])
        assert answers.count(True) == 1
        winner = rows[answers.index(True)]
        assert stored_job(jobs, job.ref).running == winner.ref
        assert {row.ref for row in store.get_rows([row.ref for row in rows]) if row.fence} == {winner.ref}

    def test_of_a_claim_and_a_change_at_once_the_claim_does_not_come_second(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        for place in range(ROUNDS):
            job = added(jobs, type(NIGHTLY)(f"report-{place}"))
            row = planned(store, job=job.name)
            claimed, _ = together([partial(jobs.claim, taking(row, job)), partial(changed, jobs, job)])
            now = stored_job(jobs, job.ref)
            assert now.is_paused
            assert (now.running == row.ref) is claimed
            assert (stored_row(store, row.ref).status is Status.PROCESSING) is claimed

    @pytest.mark.parametrize("status", [Status.PROCESSING, *FINAL])
    def test_the_lock_of_an_unchanged_dead_holder_is_taken(
        self, store: ActionStore, jobs: JobStore, status: Status
    ) -> None:
        job, dead = self._held_by(store, jobs, status)
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, job, dead=dead))
        assert stored_job(jobs, job.ref).running == row.ref
        assert stored_row(store, row.ref).status is Status.PROCESSING
        fenced_off = replace(dead, fence=dead.fence + 1, nonce=None)
        assert store.get(dead.ref) == (fenced_off if status is Status.PROCESSING else dead)

    def test_a_dead_holder_that_wakes_holds_nothing_once_its_lock_was_taken(
        self, store: ActionStore, jobs: JobStore, locked: Job, run: Action
    ) -> None:
        assert jobs.claim(taking(planned(store, NEXT), locked, dead=run))
        assert store.renew(run, ORPHANED_AT + LEASE) is None
        assert store.settle(run, end(Status.EXECUTED)) is SettleResult.LEASE_LOST
        assert isinstance(store.claim(stored_row(store, run.ref), terms(ORPHANED_AT)), Claimed)

    def test_a_holder_that_was_taken_over_meanwhile_retains_the_lock(
        self, store: ActionStore, jobs: JobStore, locked: Job, run: Action
    ) -> None:
        claim(store, run.ref, ORPHANED_AT)
        assert refused(store, jobs, taking(planned(store, NEXT), locked, dead=run))

    def test_a_holder_that_renewed_its_lease_meanwhile_retains_the_lock(
        self, store: ActionStore, jobs: JobStore, locked: Job, run: Action
    ) -> None:
        store.renew(run, ORPHANED_AT + LEASE)
        assert refused(store, jobs, taking(planned(store, NEXT), locked, dead=run))

    def test_a_holder_that_is_pending_again_retains_the_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.FAILED)
        assert isinstance(store.redrive(dead, NEXT, by="ops", at=NOON + HOUR), Applied)
        assert refused(store, jobs, taking(planned(store, NEXT), job, dead=dead))

    def test_the_lock_of_a_holder_that_is_gone_is_taken(self, store: ActionStore, jobs: JobStore) -> None:
        job, gone = self._held_by(store, jobs, Status.EXECUTED)
        self.remove(store, gone)
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, job, dead_ref=gone.ref))
        assert stored_job(jobs, job.ref).running == row.ref

    def test_a_holder_that_exists_after_all_retains_the_lock(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        assert refused(store, jobs, taking(planned(store, NEXT), stored_job(jobs, job.ref), dead_ref=run.ref))

    @pytest.mark.parametrize("is_gone", [False, True])
    def test_the_lock_is_not_taken_from_another_than_the_dead_holder(
        self, store: ActionStore, jobs: JobStore, is_gone: bool
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.EXECUTED)
        live = planned(store, NEXT)
        assert jobs.claim(taking(live, job, dead=dead))
        now, row = stored_job(jobs, job.ref), planned(store, NEXT + DAY)
        late = (
            taking(row, now, dead_ref=occurrence(store, NOON - DAY).ref)
            if is_gone
            else taking(row, now, dead=dead)
        )
        assert refused(store, jobs, late)
        assert stored_job(jobs, job.ref).running == live.ref

    def test_of_many_that_take_a_dead_holders_lock_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore, locked: Job, run: Action
    ) -> None:
        rows = [planned(store, NEXT + place * MINUTE) for place in range(CROWD)]
        answers = together([partial(jobs.claim, taking(row, locked, dead=run)) for row in rows])
        assert answers.count(True) == 1
        assert stored_job(jobs, locked.ref).running == rows[answers.index(True)].ref

    def test_a_claim_that_found_no_run_without_the_lock_ends_the_search(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs, unlocked_since=NOON)
        run = taken(store, jobs, job)
        assert stored_job(jobs, job.ref).unlocked_since == NOON
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, stored_job(jobs, job.ref), unlocked=()))
        after = stored_job(jobs, job.ref)
        assert (after.running, after.unlocked_since) == (row.ref, None)

    def test_dead_runs_without_the_lock_hold_nothing_once_it_was_taken(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._unlocked(store, jobs)
        assert jobs.claim(taking(planned(store, NEXT), job, unlocked=dead))
        assert [store.renew(run, ORPHANED_AT + LEASE) for run in dead] == [None, None]
        assert store.settle(dead[0], end(Status.EXECUTED)) is SettleResult.LEASE_LOST
        assert isinstance(store.claim(stored_row(store, dead[0].ref), terms(ORPHANED_AT)), Claimed)

    def test_a_run_without_the_lock_that_renewed_its_lease_meanwhile_rejects_the_claim(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._unlocked(store, jobs)
        store.renew(dead[1], ORPHANED_AT + LEASE)
        assert refused(store, jobs, taking(planned(store, NEXT), job, unlocked=dead))
        assert stored_row(store, dead[0].ref).fence == dead[0].fence

    def test_a_repeated_change_returns_the_first_result_though_a_claim_ended_the_search(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        new = replace(job, unlocked_since=NOON)
        assert jobs.change(job, replace(new, running=None))
        assert jobs.claim(taking(planned(store, NEXT), stored_job(jobs, job.ref), unlocked=()))
        assert jobs.change(job, new)
        assert stored_job(jobs, job.ref).unlocked_since is None

    def _unlocked(self, store: ActionStore, jobs: JobStore) -> tuple[Job, tuple[Action, ...]]:
        """The job, and two runs that began without its lock."""
        job = added(jobs, unlocked_since=NOON)
        times = (NOON, NOON + MINUTE)
        return job, tuple(taken(store, jobs, job, at, LockRequirement.UNCHANGED) for at in times)

    def _held_by(self, store: ActionStore, jobs: JobStore, status: Status) -> tuple[Job, Action]:
        """The job, and the holder of its lock.

        Under a lease that has ended, or settled by a way that freed no lock.
        """
        job = added(jobs)
        run = taken(store, jobs, job)
        if status is not Status.PROCESSING:
            assert store.settle(run, end(status)) is SettleResult.SETTLED
        return stored_job(jobs, job.ref), stored_row(store, run.ref)
