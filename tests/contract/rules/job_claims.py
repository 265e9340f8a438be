"""Who runs: claims of runs of jobs, which ask something of their job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.model.action import Action, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.job import Job
from duetime.model.lease import SettleResult
from duetime.model.row_parts import Act
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import LockRequirement
from duetime_contract.job_specimens import (
    NEXT,
    REINDEX,
    changed,
    nightly,
    occurrence,
    planned,
    refused,
    stored_job,
    taken,
    taking,
)
from duetime_contract.races import CROWD, together
from duetime_contract.specimens import (
    EXPIRY,
    HOUR,
    LEASE,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    end,
    stored_row,
    terms,
)
from duetime_contract.subject import JobsContract

HELD = [LockRequirement.LOCK, LockRequirement.UNCHANGED]


class OccurrenceClaimContract(JobsContract):
    """`claim`: the row and its job, at one moment."""

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_claimed_run_has_the_requested_fields(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job
    ) -> None:
        claim = taking(planned(store), job, hold)
        assert jobs.claim(claim)
        assert store.get(claim.row.ref) == claim.claimed
        assert self.due_time(store, claim.row) == NOON

    def test_a_claim_takes_the_lock_on_request(self, jobs: JobStore, job: Job, run: Action) -> None:
        assert jobs.get(job.ref) == replace(job, running=run.ref)

    @pytest.mark.parametrize("hold", [LockRequirement.UNCHANGED, LockRequirement.NOTHING])
    def test_a_claim_without_the_lock_does_not_change_the_job(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job
    ) -> None:
        taken(store, jobs, job, hold=hold)
        assert jobs.get(job.ref) == job

    @pytest.mark.parametrize("hold", [LockRequirement.UNCHANGED, LockRequirement.NOTHING])
    def test_a_claim_without_the_lock_runs_beside_its_holder(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, run: Action
    ) -> None:
        taken(store, jobs, job, NEXT, hold)
        assert stored_job(jobs, job.ref).running == run.ref

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_row_that_was_settled_since_it_was_read_is_not_claimed(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, row: Action
    ) -> None:
        store.cancel(row, by="ops", at=NOON, kept_until=EXPIRY)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_row_that_became_pending_again_is_not_claimed_by_the_old_read(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, row: Action
    ) -> None:
        store.reschedule(row, NOON + HOUR, by="ops", at=NOON)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_run_that_was_taken_over_since_it_was_read_is_not_claimed(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, run: Action
    ) -> None:
        claim(store, run.ref, ORPHANED_AT)
        assert refused(store, jobs, taking(run, job, hold, claim_terms=terms(ORPHANED_AT)))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_run_that_renewed_its_lease_since_it_was_read_is_not_taken_over(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, run: Action
    ) -> None:
        store.renew(run, ORPHANED_AT + LEASE)
        assert refused(store, jobs, taking(run, job, hold, claim_terms=terms(ORPHANED_AT)))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_run_that_stored_a_checkpoint_since_it_was_read_is_not_taken_over(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, run: Action
    ) -> None:
        store.checkpoint(run, Checkpoint("1", run.fence, 1))
        assert refused(store, jobs, taking(run, job, hold, claim_terms=terms(ORPHANED_AT)))

    def test_a_row_that_is_gone_is_not_claimed(self, store: ActionStore, jobs: JobStore, job: Job) -> None:
        assert refused(store, jobs, taking(occurrence(store), job))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_dead_run_is_taken_over_by_its_own_action(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, run: Action
    ) -> None:
        assert jobs.claim(taking(run, stored_job(jobs, job.ref), hold, claim_terms=terms(ORPHANED_AT)))
        row = stored_row(store, run.ref)
        assert (row.status, row.fence, row.attempt, row.recoveries) == (Status.PROCESSING, 2, 1, 1)
        assert stored_job(jobs, job.ref).running == run.ref

    def test_a_take_over_retains_a_concurrent_request_to_cancel(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        store.ask_to_cancel(run, by="ops", at=NOON + SECOND)
        assert jobs.claim(taking(run, job, claim_terms=terms(ORPHANED_AT)))
        row = stored_row(store, run.ref)
        assert (row.fence, row.cancel_request) == (2, Act(NOON + SECOND, "ops"))

    @pytest.mark.parametrize("hold", HELD)
    def test_a_job_that_changed_after_the_read_rejects_the_claim(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, row: Action
    ) -> None:
        changed(jobs, job)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_a_plan_does_not_reject_a_claim(
        self, jobs: JobStore, hold: LockRequirement, job: Job, row: Action
    ) -> None:
        jobs.move_cursor(job, NEXT, NEXT)
        assert jobs.claim(taking(row, job, hold))

    def test_a_claim_without_conditions_does_not_read_the_job(
        self, store: ActionStore, jobs: JobStore, job: Job
    ) -> None:
        now = changed(jobs, job)
        assert jobs.claim(taking(planned(store), job, LockRequirement.NOTHING))
        assert jobs.get(job.ref) == now
        assert jobs.claim(taking(planned(store, job=REINDEX), nightly(REINDEX), LockRequirement.NOTHING))
        assert jobs.get(nightly(REINDEX).ref) is None

    @pytest.mark.parametrize("hold", HELD)
    def test_nothing_is_claimed_for_a_job_that_never_was(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement
    ) -> None:
        assert refused(store, jobs, taking(planned(store), nightly(), hold))

    @pytest.mark.parametrize("hold", list(LockRequirement))
    def test_of_many_claims_of_one_occurrence_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore, hold: LockRequirement, job: Job, row: Action
    ) -> None:
        claims = [taking(row, job, hold, claim_terms=terms()) for _ in range(CROWD)]
        answers = together([partial(jobs.claim, claim) for claim in claims])
        assert answers.count(True) == 1
        assert store.get(row.ref) == claims[answers.index(True)].claimed

    def test_a_run_of_a_job_is_settled_for_a_retry_like_any_other(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        assert store.settle(run, end(Status.PENDING)) is SettleResult.SETTLED
        assert stored_row(store, run.ref).status is Status.PENDING
        assert stored_job(jobs, job.ref).running == run.ref
