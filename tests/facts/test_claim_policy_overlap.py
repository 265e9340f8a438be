"""The decisions of `duetime.jobs.claim_policy` by overlap policy and catch-up."""

from dataclasses import replace

import pytest

from duetime.jobs.claim_policy import Bounds, ClaimContext, Proceed, Skip, Wait, decide
from duetime.model.action import SkipReason, Status
from duetime.model.job import Overlap
from duetime.ports.jobs import LockRequirement
from tests.facts.claim_decisions import (
    DAY,
    GRACE,
    HOUR,
    LOCKED,
    MINUTE,
    NOON,
    POLICIES,
    SKEW,
    decision_on,
    job,
    paused,
    row,
    running,
)


class TestCatchUp:
    MADE_UP = Proceed(LockRequirement.LOCK, catches_up=True)

    def test_caught_up_occurrence_is_never_missed(self):
        assert decision_on(row(catches_up=True), job(), now=NOON + DAY) == self.MADE_UP

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 1), (1, 2), (2, 3), (5, 100)])
    def test_latest_occurrences_after_grace_are_caught_up(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert decision_on(row(), job(catch_up=catch_up), now=now) == self.MADE_UP
        allowed = decision_on(row(), job(Overlap.ALLOW, catch_up=catch_up), now=now)
        assert allowed == Proceed(LockRequirement.UNCHANGED, catches_up=True)

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 0), (1, 1), (2, 2), (200, 100)])
    def test_older_occurrences_are_missed(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert decision_on(row(), job(catch_up=catch_up), now=now).reason is SkipReason.MISSED

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_caught_up_occurrence_waits_for_lock_and_cancels_no_run(self, overlap):
        now = NOON + GRACE + MINUTE
        holder = running(now, lease_until=now + HOUR)
        assert decision_on(row(catches_up=True), job(overlap), now=now, holder=holder) == Wait()
        assert decision_on(row(), job(overlap, catch_up=1), now=now, holder=holder) == Wait()

    def test_caught_up_occurrence_of_paused_job_is_skipped(self):
        assert decision_on(row(catches_up=True), job(pauses=paused())).reason is SkipReason.PAUSED


class TestSingleRun:
    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_run_takes_lock(self, overlap, kind):
        assert decision_on(row(kind=kind), job(overlap)) == LOCKED

    @pytest.mark.parametrize(
        ("kind", "hold"),
        [
            ("occurrence", LockRequirement.UNCHANGED),
            ("manual", LockRequirement.UNCHANGED),
            ("event", LockRequirement.NOTHING),
        ],
    )
    def test_run_needs_no_lock_if_runs_may_overlap(self, kind, hold):
        assert decision_on(row(kind=kind), job(Overlap.ALLOW)) == Proceed(hold)

    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_a_later_run_needs_its_job_as_read(self, kind):
        retried = row(kind=kind, attempt=1)
        assert decision_on(retried, job(Overlap.ALLOW)) == Proceed(LockRequirement.UNCHANGED)

    @pytest.mark.parametrize(
        "dead",
        [
            running(lease_until=NOON - MINUTE),
            replace(running(), status=Status.EXECUTED, lease_until=None),
            None,
        ],
    )
    def test_run_takes_over_lock_of_dead_settled_or_missing_holder(self, dead):
        its_job = job(running=running().ref)
        seen = ClaimContext(row=row(), job=its_job, holder=dead, waiting=None)
        assert decide(seen, "mine", Bounds(now=NOON, skew=SKEW, grace=GRACE)) == Proceed(
            LockRequirement.LOCK, takes_over_lock=True
        )


class TestRunsWithoutTheLock:
    """After a change from allow, runs that began before it hold no lock."""

    LIVE, DEAD = running(), running(NOON - DAY, lease_until=NOON - MINUTE)

    def decision(self, overlap=Overlap.SKIP, *, unlocked, of=None):
        its_job = job(overlap, unlocked_since=NOON - HOUR)
        seen = ClaimContext(row=of or row(), job=its_job, holder=None, waiting=None, unlocked=unlocked)
        return decide(seen, "mine", Bounds(now=NOON, skew=SKEW, grace=GRACE))

    def test_every_run_waits_while_they_are_not_known(self):
        assert {self.decision(policy, unlocked=None) for policy in POLICIES if policy != "allow"} == {Wait()}

    def test_a_live_one_counts_as_the_holder(self):
        skip = Skip(SkipReason.OVERLAP, f"{self.LIVE.id} was running")
        assert self.decision(unlocked=(self.DEAD, self.LIVE)) == skip
        assert self.decision(Overlap.QUEUE_ONE, unlocked=(self.LIVE,)) == Wait(takes_the_place=True)
        stops = Wait(takes_the_place=True, cancels=True)
        assert self.decision(Overlap.CANCEL_RUNNING, unlocked=(self.LIVE,)) == stops
        assert self.decision(unlocked=(self.LIVE,), of=self.DEAD) == Wait()

    def test_with_dead_ones_alone_the_run_takes_the_lock(self):
        assert self.decision(unlocked=(self.DEAD,)) == LOCKED
        assert self.decision(unlocked=(replace(self.DEAD, id=row(NOON - HOUR).id),), of=self.DEAD) == LOCKED


class TestBesideAnotherRun:
    HOLDER = running()
    WAITING = row(NOON - MINUTE)

    def test_allow_runs_beside_another_run(self):
        assert decision_on(row(), job(Overlap.ALLOW), holder=self.HOLDER) == Proceed(
            LockRequirement.UNCHANGED
        )

    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_skip_skips_the_run(self, kind):
        skip = Skip(SkipReason.OVERLAP, f"{self.HOLDER.id} was running")
        assert decision_on(row(kind=kind), job(), holder=self.HOLDER) == skip

    def test_skip_skips_the_run_beside_a_waiting_retry(self):
        retrying = row(NOON - HOUR, attempt=1, due_at=NOON + HOUR)
        assert decision_on(row(), job(), holder=retrying).reason is SkipReason.OVERLAP

    def test_queue_one_waits(self):
        assert decision_on(row(), job(Overlap.QUEUE_ONE), holder=self.HOLDER) == Wait(takes_the_place=True)

    def test_queue_one_skips_the_run_if_another_waits(self):
        skip = Skip(SkipReason.OVERLAP, f"{self.HOLDER.id} was running, and {self.WAITING.id} waiting")
        its_job = job(Overlap.QUEUE_ONE)
        assert decision_on(row(), its_job, holder=self.HOLDER, waiting=self.WAITING) == skip

    @pytest.mark.parametrize(
        ("waiting", "of", "expected"),
        [
            (WAITING, row(), Wait()),
            (replace(WAITING, status=Status.EXECUTED), row(), LOCKED),
            (WAITING, row(NOON - 2 * HOUR, attempt=1, due_at=NOON), LOCKED),
        ],
        ids=["a new run", "the waiting one has ended", "a retry"],
    )
    def test_queue_one_leaves_a_free_lock_to_the_waiting_run(self, waiting, of, expected):
        assert decision_on(of, job(Overlap.QUEUE_ONE), waiting=waiting) == expected
        assert decision_on(of, job(Overlap.CANCEL_RUNNING), waiting=waiting) == LOCKED

    @pytest.mark.parametrize("overlap", [Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING])
    def test_run_replaces_waiting_run_that_has_ended(self, overlap):
        gone = replace(self.WAITING, status=Status.CANCELLED)
        found = decision_on(row(), job(overlap), holder=self.HOLDER, waiting=gone)
        assert found == Wait(takes_the_place=True, cancels=overlap is Overlap.CANCEL_RUNNING)

    def test_cancel_running_requests_cancel_of_running_one(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        assert decision_on(row(), its_job, holder=self.HOLDER) == Wait(takes_the_place=True, cancels=True)

    def test_cancel_running_replaces_earlier_waiting_run(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        found = decision_on(row(), its_job, holder=self.HOLDER, waiting=self.WAITING)
        assert found == Wait(takes_the_place=True, cancels=True)

    def test_cancel_running_skips_the_run_if_a_later_one_waits(self):
        its_job, earlier = job(Overlap.CANCEL_RUNNING), row(NOON - 2 * MINUTE)
        skip = Skip(SkipReason.OVERLAP, f"{self.WAITING.id} is later, and takes its place")
        assert decision_on(earlier, its_job, holder=self.HOLDER, waiting=self.WAITING) == skip

    def test_cancel_running_skips_the_run_if_a_later_one_runs(self):
        its_job, earlier = job(Overlap.CANCEL_RUNNING), row(NOON - 2 * MINUTE)
        later = running(NOON - MINUTE)
        skip = Skip(SkipReason.OVERLAP, f"{later.id} is later, and was running")
        assert decision_on(earlier, its_job, holder=later) == skip

    def test_of_two_manual_runs_in_one_second_one_replaces_the_other(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        first, second = sorted((row(kind="manual") for _ in range(2)), key=lambda item: item.id)
        assert isinstance(decision_on(second, its_job, holder=self.HOLDER, waiting=first), Wait)
        assert isinstance(decision_on(first, its_job, holder=self.HOLDER, waiting=second), Skip)

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_retry_or_redrive_waits(self, overlap):
        again = row(NOON - 2 * HOUR, attempt=2, due_at=NOON)
        assert decision_on(again, job(overlap), holder=self.HOLDER) == Wait()
