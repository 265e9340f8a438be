"""Who runs: claims that ask something of their job, the lock that they take, and how it becomes free again."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from duetime.action import Action, SkipReason, Status
from duetime.job import WHOLE_JOB, Job, Pause
from duetime.job_ports import Hold, JobStore, Taking
from duetime.lease import Claimed, Moved, SettleResult
from duetime.ports import ActionStore
from duetime.testing.contract.job_specimens import (
    DAY,
    NIGHTLY,
    REINDEX,
    added,
    ended,
    event_run,
    nightly,
    occurrence,
    planned,
    standing_job,
    taken,
    taking,
)
from duetime.testing.contract.races import CROWD, ROUNDS, together
from duetime.testing.contract.specimens import (
    EXPIRY,
    GLOBEX,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    due_time_in_index,
    end,
    running,
    standing,
    terms,
)
from duetime.testing.contract.subject import JobsContract
from duetime.transition import cancelled, skipped

FINAL = [Status.EXECUTED, Status.FAILED, Status.CANCELLED]
HELD = [Hold.LOCK, Hold.UNCHANGED]
NEXT = NOON + DAY


def refused(store: ActionStore, jobs: JobStore, claim: Taking) -> bool:
    """Whether the claim is lost, and neither the action's row nor its job's has changed."""
    before = store.get(claim.row.ref), jobs.get(claim.job.ref)
    lost = not jobs.claim(claim)
    return lost and (store.get(claim.row.ref), jobs.get(claim.job.ref)) == before


def changed(jobs: JobStore, job: Job) -> Job:
    """The job after an operator has changed it."""
    assert jobs.change(job, replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by="ops")}))
    return standing_job(jobs, job.ref)


class OccurrenceClaimContract(JobsContract):
    """`claim`: the row and its job, at one moment."""

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_claimed_run_stands_as_it_was_meant_to(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        claim = taking(planned(store), job, hold)
        assert jobs.claim(claim)
        assert store.get(claim.row.ref) == claim.claimed
        self.let_indexes_follow()
        assert due_time_in_index(store, claim.row) == NOON

    def test_a_claim_that_asks_for_it_takes_the_lock(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        assert jobs.get(job.ref) == replace(job, running=run.ref)

    @pytest.mark.parametrize("hold", [Hold.UNCHANGED, Hold.NOTHING])
    def test_a_claim_that_does_not_ask_for_the_lock_leaves_the_job_alone(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        taken(store, jobs, job, hold=hold)
        assert jobs.get(job.ref) == job

    @pytest.mark.parametrize("hold", [Hold.UNCHANGED, Hold.NOTHING])
    def test_a_claim_that_does_not_ask_for_the_lock_runs_beside_its_holder(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        holder = taken(store, jobs, job)
        taken(store, jobs, job, NEXT, hold)
        assert standing_job(jobs, job.ref).running == holder.ref

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_row_that_was_settled_since_it_was_read_is_not_claimed(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job, row = added(jobs), planned(store)
        store.cancel(row.ref, by="ops", at=NOON, expires_at=EXPIRY)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_row_that_became_pending_anew_is_not_claimed_as_it_was_read(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job, row = added(jobs), planned(store)
        store.reschedule(row.ref, NOON + HOUR, by="ops", at=NOON)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_run_that_was_taken_over_since_it_was_read_is_not_claimed(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        dead = taken(store, jobs, job)
        claim(store, dead.ref, ORPHANED_AT)
        assert refused(store, jobs, taking(dead, job, hold, asked=terms(ORPHANED_AT)))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_run_that_renewed_its_lease_since_it_was_read_is_not_taken_over(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        dead = taken(store, jobs, job)
        store.renew(dead, ORPHANED_AT + LEASE)
        assert refused(store, jobs, taking(dead, job, hold, asked=terms(ORPHANED_AT)))

    def test_a_row_that_is_gone_is_not_claimed(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        assert refused(store, jobs, taking(occurrence(store), job))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_dead_run_is_taken_over_by_its_own_action(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job = added(jobs)
        dead = taken(store, jobs, job)
        assert jobs.claim(taking(dead, standing_job(jobs, job.ref), hold, asked=terms(ORPHANED_AT)))
        row = standing(store, dead.ref)
        assert (row.status, row.fence, row.attempt, row.recoveries) == (Status.PROCESSING, 2, 1, 1)
        assert standing_job(jobs, job.ref).running == dead.ref

    def test_a_request_to_cancel_that_came_meanwhile_is_kept_by_a_take_over(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        dead = taken(store, jobs, job)
        store.ask_to_cancel(dead.ref, by="ops", at=NOON + SECOND)
        assert jobs.claim(taking(dead, job, asked=terms(ORPHANED_AT)))
        row = standing(store, dead.ref)
        assert (row.fence, row.cancel_requested_by, row.cancel_requested_at) == (2, "ops", NOON + SECOND)

    @pytest.mark.parametrize("hold", HELD)
    def test_a_job_that_was_changed_since_it_was_read_refuses_the_claim(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job, row = added(jobs), planned(store)
        changed(jobs, job)
        assert refused(store, jobs, taking(row, job, hold))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_a_plan_refuses_no_claim(self, store: ActionStore, jobs: JobStore, hold: Hold) -> None:
        job, row = added(jobs), planned(store)
        jobs.move_cursor(job, NEXT, NEXT)
        assert jobs.claim(taking(row, job, hold))

    def test_a_claim_that_asks_for_nothing_does_not_look_at_the_job(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        now = changed(jobs, job)
        assert jobs.claim(taking(planned(store), job, Hold.NOTHING))
        assert jobs.get(job.ref) == now
        assert jobs.claim(taking(planned(store, job=REINDEX), nightly(REINDEX), Hold.NOTHING))
        assert jobs.get(nightly(REINDEX).ref) is None

    @pytest.mark.parametrize("hold", HELD)
    def test_nothing_is_claimed_for_a_job_that_never_was(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        assert refused(store, jobs, taking(planned(store), nightly(), hold))

    @pytest.mark.parametrize("hold", list(Hold))
    def test_of_many_claims_of_one_occurrence_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore, hold: Hold
    ) -> None:
        job, row = added(jobs), planned(store)
        claims = [taking(row, job, hold, asked=terms()) for _ in range(CROWD)]
        answers = together([partial(jobs.claim, each) for each in claims])
        assert answers.count(True) == 1
        assert store.get(row.ref) == claims[answers.index(True)].claimed

    def test_a_run_of_a_job_is_settled_for_a_retry_like_any_other(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        assert store.settle(run, end(Status.PENDING)) is SettleResult.SETTLED
        assert standing(store, run.ref).status is Status.PENDING
        assert standing_job(jobs, job.ref).running == run.ref


class LockContract(JobsContract):
    """The lock: of the runs that ask for it, one at a time."""

    def test_a_lock_that_another_holds_refuses_the_claim(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        taken(store, jobs, job)
        assert refused(store, jobs, taking(planned(store, NEXT), standing_job(jobs, job.ref)))

    def test_a_lock_that_was_taken_since_the_job_was_read_refuses_the_claim(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        taken(store, jobs, job)
        assert refused(store, jobs, taking(planned(store, NEXT), job))

    def test_a_retry_that_holds_the_lock_still_is_claimed(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        store.settle(run, end(Status.PENDING))
        again = taking(standing(store, run.ref), standing_job(jobs, job.ref))
        assert jobs.claim(again)
        assert store.get(run.ref) == again.claimed
        assert standing_job(jobs, job.ref).running == run.ref

    def test_the_same_occurrence_of_another_tenant_does_not_hold_my_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        theirs = event_run(store, "event-1", tenant_id=GLOBEX, job_tenant=job.ref.tenant_id)
        store.put(theirs)
        assert jobs.claim(taking(theirs, job))
        assert standing_job(jobs, job.ref).running == theirs.ref
        mine = event_run(store, "event-1")
        store.put(mine)
        assert refused(store, jobs, taking(mine, standing_job(jobs, job.ref)))

    def test_each_job_has_a_lock_of_its_own(self, store: ActionStore, jobs: JobStore) -> None:
        one, two, three = added(jobs), added(jobs, REINDEX), added(jobs, tenant_id=GLOBEX)
        runs = [taken(store, jobs, each) for each in (one, two, three)]
        assert [standing_job(jobs, each.ref).running for each in (one, two, three)] == [
            each.ref for each in runs
        ]

    def test_of_many_occurrences_that_claim_the_lock_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        rows = [planned(store, NOON + place * MINUTE) for place in range(CROWD)]
        answers = together([partial(jobs.claim, taking(each, job)) for each in rows])
        assert answers.count(True) == 1
        winner = rows[answers.index(True)]
        assert standing_job(jobs, job.ref).running == winner.ref
        found = {row.ref for row in store.get_rows([each.ref for each in rows]) if row.fence}
        assert found == {winner.ref}

    def test_of_a_claim_and_a_change_at_once_the_claim_does_not_come_second(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        for place in range(ROUNDS):
            job = added(jobs, type(NIGHTLY)(f"report-{place}"))
            row = planned(store, job=job.name)
            claimed, _ = together([partial(jobs.claim, taking(row, job)), partial(changed, jobs, job)])
            now = standing_job(jobs, job.ref)
            assert now.is_paused
            assert (now.running == row.ref) is claimed
            assert (standing(store, row.ref).status is Status.PROCESSING) is claimed

    @pytest.mark.parametrize("status", [Status.PROCESSING, *FINAL])
    def test_the_lock_of_a_dead_holder_is_taken_while_it_stands_as_it_was_read(
        self, store: ActionStore, jobs: JobStore, status: Status
    ) -> None:
        job, dead = self._held_by(store, jobs, status)
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, job, dead=dead))
        assert standing_job(jobs, job.ref).running == row.ref
        assert standing(store, row.ref).status is Status.PROCESSING
        fenced_off = replace(dead, fence=dead.fence + 1, claim_nonce=None)
        assert store.get(dead.ref) == (fenced_off if status is Status.PROCESSING else dead)

    def test_a_dead_holder_that_wakes_holds_nothing_once_its_lock_was_taken(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.PROCESSING)
        assert jobs.claim(taking(planned(store, NEXT), job, dead=dead))
        assert store.renew(dead, ORPHANED_AT + LEASE) is None
        assert store.settle(dead, end(Status.EXECUTED)) is SettleResult.LEASE_LOST
        assert isinstance(store.claim(dead.ref, terms(ORPHANED_AT)), Claimed)

    def test_a_holder_that_was_taken_over_meanwhile_keeps_the_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.PROCESSING)
        claim(store, dead.ref, ORPHANED_AT)
        assert refused(store, jobs, taking(planned(store, NEXT), job, dead=dead))

    def test_a_holder_that_renewed_its_lease_meanwhile_keeps_the_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.PROCESSING)
        store.renew(dead, ORPHANED_AT + LEASE)
        assert refused(store, jobs, taking(planned(store, NEXT), job, dead=dead))

    def test_a_holder_that_is_pending_again_keeps_the_lock(self, store: ActionStore, jobs: JobStore) -> None:
        job, dead = self._held_by(store, jobs, Status.FAILED)
        assert isinstance(store.redrive(dead.ref, NEXT, by="ops", at=NOON + HOUR), Moved)
        assert refused(store, jobs, taking(planned(store, NEXT), job, dead=dead))

    def test_the_lock_of_a_holder_that_is_gone_is_taken(self, store: ActionStore, jobs: JobStore) -> None:
        job, gone = self._held_by(store, jobs, Status.EXECUTED)
        self.remove(store, gone)
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, job, dead_ref=gone.ref))
        assert standing_job(jobs, job.ref).running == row.ref

    def test_a_holder_that_is_there_after_all_keeps_the_lock(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        holder = taken(store, jobs, job)
        now = standing_job(jobs, job.ref)
        assert refused(store, jobs, taking(planned(store, NEXT), now, dead_ref=holder.ref))

    @pytest.mark.parametrize("is_gone", [False, True])
    def test_the_lock_is_not_taken_from_another_than_the_dead_holder(
        self, store: ActionStore, jobs: JobStore, is_gone: bool
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.EXECUTED)
        live = planned(store, NEXT)
        assert jobs.claim(taking(live, job, dead=dead))
        now, row = standing_job(jobs, job.ref), planned(store, NEXT + DAY)
        late = (
            taking(row, now, dead_ref=occurrence(store, NOON - DAY).ref)
            if is_gone
            else taking(row, now, dead=dead)
        )
        assert refused(store, jobs, late)
        assert standing_job(jobs, job.ref).running == live.ref

    def test_of_many_that_take_a_dead_holders_lock_at_once_exactly_one_wins(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job, dead = self._held_by(store, jobs, Status.PROCESSING)
        rows = [planned(store, NEXT + place * MINUTE) for place in range(CROWD)]
        answers = together([partial(jobs.claim, taking(each, job, dead=dead)) for each in rows])
        assert answers.count(True) == 1
        assert standing_job(jobs, job.ref).running == rows[answers.index(True)].ref

    def _held_by(self, store: ActionStore, jobs: JobStore, status: Status) -> tuple[Job, Action]:
        """The job, and the holder of its lock: under a lease that has ended, or settled by a way that freed no lock."""
        job = added(jobs)
        run = taken(store, jobs, job)
        if status is not Status.PROCESSING:
            assert store.settle(run, end(status)) is SettleResult.SETTLED
        return standing_job(jobs, job.ref), standing(store, run.ref)


class WaitContract(JobsContract):
    """`wait`: who comes next."""

    def test_an_action_waits_where_none_did(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        row = planned(store)
        assert jobs.wait(job, row.ref)
        assert jobs.get(job.ref) == replace(job, waiting=row.ref)

    def test_an_action_waits_in_place_of_the_one_that_was_read(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        first, second = planned(store), planned(store, NEXT)
        jobs.wait(job, first.ref)
        assert jobs.wait(standing_job(jobs, job.ref), second.ref)
        assert standing_job(jobs, job.ref).waiting == second.ref

    def test_an_action_does_not_wait_in_place_of_one_that_came_before_it(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        first, second, third = (planned(store, NOON + place * DAY) for place in range(3))
        jobs.wait(job, first.ref)
        assert not jobs.wait(job, second.ref)
        read = standing_job(jobs, job.ref)
        jobs.wait(read, second.ref)
        assert not jobs.wait(read, third.ref)
        assert standing_job(jobs, job.ref).waiting == second.ref

    def test_an_action_that_waits_already_waits(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), planned(store)
        assert jobs.wait(job, row.ref)
        assert jobs.wait(job, row.ref)
        assert jobs.wait(standing_job(jobs, job.ref), row.ref)
        assert standing_job(jobs, job.ref).waiting == row.ref

    def test_nothing_waits_for_a_job_that_never_was(self, store: ActionStore, jobs: JobStore) -> None:
        job = nightly()
        assert not jobs.wait(job, planned(store).ref)
        assert jobs.get(job.ref) is None

    def test_of_many_that_would_wait_at_once_exactly_one_does(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        refs = [occurrence(store, NOON + place * MINUTE).ref for place in range(CROWD)]
        answers = together([partial(jobs.wait, job, each) for each in refs])
        assert answers.count(True) == 1
        assert standing_job(jobs, job.ref).waiting == refs[answers.index(True)]

    def test_whoever_gets_the_lock_waits_no_more(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        row = planned(store)
        jobs.wait(job, row.ref)
        assert jobs.claim(taking(row, standing_job(jobs, job.ref)))
        assert jobs.get(job.ref) == replace(job, running=row.ref, waiting=None)

    def test_another_that_waits_goes_on_waiting(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        row, other = planned(store), planned(store, NEXT)
        jobs.wait(job, other.ref)
        assert jobs.claim(taking(row, standing_job(jobs, job.ref)))
        assert standing_job(jobs, job.ref).waiting == other.ref

    def test_a_lost_claim_leaves_the_one_that_waits(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        taken(store, jobs, job)
        row = planned(store, NEXT)
        jobs.wait(job, row.ref)
        assert not jobs.claim(taking(row, standing_job(jobs, job.ref)))
        assert standing_job(jobs, job.ref).waiting == row.ref


class OccurrenceSettleContract(JobsContract):
    """`settle`: the end of a run, the lock and the tally, at one moment."""

    @pytest.mark.parametrize("status", FINAL)
    def test_a_settled_run_frees_its_lock_and_is_counted(
        self, store: ActionStore, jobs: JobStore, status: Status
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        told = ended(run, status, "no ledger" if status is Status.FAILED else None)
        assert jobs.settle(run, end(status, message="because"), job.ref, told) is SettleResult.SETTLED
        assert jobs.get(job.ref) == replace(job, tally=told.counted(job.tally))
        row = standing(store, run.ref)
        assert (row.status, row.expires_at, row.lease_until, row.claim_nonce) == (status, EXPIRY, None, None)
        assert (row.attempts[0].finished_at, row.attempts[0].message) == (NOON + SECOND, "because")
        self.let_indexes_follow()
        assert due_time_in_index(store, run) is None

    def test_the_ends_of_several_runs_add_up(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        tally = job.tally
        order = (Status.FAILED, Status.FAILED, Status.CANCELLED, Status.FAILED, Status.EXECUTED)
        for place, status in enumerate(order):
            run = taken(store, jobs, job, NOON + place * DAY)
            told = ended(run, status, f"problem {place}" if status is Status.FAILED else None)
            assert jobs.settle(run, end(status), job.ref, told) is SettleResult.SETTLED
            tally = told.counted(tally)
            assert standing_job(jobs, job.ref).tally == tally
        assert (tally.executed, tally.failed, tally.consecutive_failures) == (1, 3, 0)
        assert tally.last_error == "problem 3"

    def test_a_freed_lock_may_be_taken(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        assert standing_job(jobs, job.ref).running is None
        taken(store, jobs, job, NEXT)

    def test_the_one_that_waits_stays_when_the_lock_becomes_free(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run, other = taken(store, jobs, job), planned(store, NEXT)
        jobs.wait(job, other.ref)
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        assert standing_job(jobs, job.ref).waiting == other.ref

    def test_a_job_that_was_changed_meanwhile_is_unlocked_and_counted_all_the_same(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        now = changed(jobs, job)
        told = ended(run)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, told) is SettleResult.SETTLED
        assert jobs.get(job.ref) == replace(now, running=None, tally=told.counted(now.tally))

    def test_a_repeated_settle_is_settled_and_counted_once(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        for _ in range(3):
            settled = jobs.settle(run, end(Status.FAILED), job.ref, ended(run, Status.FAILED, "x"))
            assert settled is SettleResult.SETTLED
        tally = standing_job(jobs, job.ref).tally
        assert (tally.failed, tally.consecutive_failures) == (1, 1)

    def test_a_settle_repeated_after_the_next_has_the_lock_leaves_it(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run))
        following = taken(store, jobs, job, NEXT)
        before = jobs.get(job.ref)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
        assert jobs.get(job.ref) == before
        assert store.get(following.ref) == following

    def test_a_run_whose_lock_was_taken_settles_nothing(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        late = taken(store, jobs, job)
        row = planned(store, NEXT)
        assert jobs.claim(taking(row, standing_job(jobs, job.ref), dead=late))
        before = store.get(late.ref), jobs.get(job.ref)
        assert jobs.settle(late, end(Status.EXECUTED), job.ref, ended(late)) is SettleResult.LEASE_LOST
        assert (store.get(late.ref), jobs.get(job.ref)) == before

    def test_where_another_holds_the_lock_the_action_alone_is_settled(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        beside = taken(store, jobs, job, hold=Hold.UNCHANGED)
        taken(store, jobs, job, NEXT)
        before = jobs.get(job.ref)
        assert jobs.settle(beside, end(Status.EXECUTED), job.ref, ended(beside)) is SettleResult.SETTLED
        assert standing(store, beside.ref).status is Status.EXECUTED
        assert jobs.get(job.ref) == before

    def test_where_nobody_holds_the_lock_the_action_alone_is_settled(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job, hold=Hold.UNCHANGED)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
        assert standing(store, run.ref).status is Status.EXECUTED
        assert jobs.get(job.ref) == job

    def test_a_run_that_was_taken_over_settles_nothing(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        dead = taken(store, jobs, job)
        assert jobs.claim(taking(dead, standing_job(jobs, job.ref), asked=terms(ORPHANED_AT)))
        before = store.get(dead.ref), jobs.get(job.ref)
        assert jobs.settle(dead, end(Status.FAILED), job.ref, ended(dead)) is SettleResult.LEASE_LOST
        assert (store.get(dead.ref), jobs.get(job.ref)) == before

    def test_a_settle_of_no_row_has_lost_its_lease(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = replace(running(store), id=occurrence(store).id)
        assert jobs.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.LEASE_LOST
        assert jobs.get(job.ref) == job

    def test_a_run_that_was_asked_to_cancel_is_settled_for_good_nonetheless(
        self, store: ActionStore, jobs: JobStore
    ) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        store.ask_to_cancel(run.ref, by="ops", at=NOON)
        assert jobs.settle(run, end(Status.CANCELLED), job.ref, ended(run)) is SettleResult.SETTLED
        assert standing_job(jobs, job.ref).running is None
        assert standing(store, run.ref).cancelled_by == "ops"

    def test_of_a_settle_and_a_claim_at_once_the_lock_is_the_claims_or_nobodys(
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
            now = standing_job(jobs, job.ref)
            assert settled is SettleResult.SETTLED
            assert now.tally.executed == 1
            assert now.running == (row.ref if claimed else None)


class EndPendingContract(JobsContract):
    """`end_pending`: what was planned, and waits, does not run."""

    def test_a_pending_run_is_cancelled(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), planned(store)
        after = cancelled(row, by="ops", at=NOON, expires_at=EXPIRY)
        assert jobs.end_pending(row, after, job.ref)
        found = standing(store, row.ref)
        assert (found.status, found.changed_by, found.changed_at) == (Status.CANCELLED, "ops", NOON)
        assert (found.expires_at, found.due_at, found.gen) == (EXPIRY, NOON, 1)

    def test_a_pending_run_is_skipped_with_its_reason(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), planned(store)
        assert jobs.end_pending(row, self._skipped(row), job.ref)
        found = standing(store, row.ref)
        assert (found.status, found.skip_reason, found.note) == (
            Status.SKIPPED,
            SkipReason.ASKED,
            "a holiday",
        )
        assert (found.changed_by, found.expires_at) == ("ops", EXPIRY)

    def test_what_does_not_run_leaves_the_due_index(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), planned(store)
        jobs.end_pending(row, self._skipped(row), job.ref)
        self.let_indexes_follow()
        assert due_time_in_index(store, row) is None

    def test_a_retry_that_does_not_run_frees_its_lock(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        run = taken(store, jobs, job)
        store.settle(run, end(Status.PENDING))
        row = standing(store, run.ref)
        assert jobs.end_pending(row, cancelled(row, by="ops", at=NOON, expires_at=EXPIRY), job.ref)
        assert jobs.get(job.ref) == job
        found = standing(store, run.ref)
        assert (found.status, found.attempts, found.gen) == (Status.CANCELLED, row.attempts, 2)

    def test_the_lock_of_another_is_left_alone(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        holder, row = taken(store, jobs, job), planned(store, NEXT)
        before = jobs.get(job.ref)
        assert jobs.end_pending(row, self._skipped(row), job.ref)
        assert jobs.get(job.ref) == before
        assert store.get(holder.ref) == holder

    @pytest.mark.parametrize("status", [Status.PROCESSING, *FINAL])
    def test_a_row_that_is_no_longer_pending_is_left_alone(
        self, store: ActionStore, jobs: JobStore, status: Status
    ) -> None:
        job, row = added(jobs), planned(store)
        run = taken(store, jobs, job)
        if status is not Status.PROCESSING:
            store.settle(run, end(status))
        before = store.get(row.ref), jobs.get(job.ref)
        assert not jobs.end_pending(row, self._skipped(row), job.ref)
        assert (store.get(row.ref), jobs.get(job.ref)) == before

    def test_a_row_that_became_pending_anew_is_left_alone(self, store: ActionStore, jobs: JobStore) -> None:
        job = added(jobs)
        row = planned(store)
        store.settle(taken(store, jobs, job), end(Status.PENDING))
        before = store.get(row.ref), jobs.get(job.ref)
        assert not jobs.end_pending(row, self._skipped(row), job.ref)
        assert (store.get(row.ref), jobs.get(job.ref)) == before

    def test_nothing_ends_where_there_is_no_row(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), occurrence(store)
        assert not jobs.end_pending(row, self._skipped(row), job.ref)
        assert store.get(row.ref) is None

    def test_a_repeated_end_tells_what_its_first_try_did(self, store: ActionStore, jobs: JobStore) -> None:
        job, row = added(jobs), planned(store)
        for _ in range(2):
            assert jobs.end_pending(row, self._skipped(row), job.ref)
        assert not jobs.end_pending(row, cancelled(row, by="ops", at=NOON, expires_at=EXPIRY), job.ref)
        assert standing(store, row.ref).status is Status.SKIPPED

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
            now = standing_job(jobs, job.ref)
            assert now.running == (row.ref if claimed else None)

    def _skipped(self, row: Action) -> Action:
        return skipped(row, SkipReason.ASKED, note="a holiday", by="ops", at=NOON, expires_at=EXPIRY)
