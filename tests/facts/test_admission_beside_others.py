"""Whether a job's run may begin when it is late, alone, or beside another.

Each policy of overlap and of catching up.
"""

from dataclasses import replace

import pytest

from duetime.jobs.claim_policy import Bounds, ClaimContext, Proceed, Skip, Wait, decide
from duetime.model.action import SkipReason, Status
from duetime.model.job import Overlap
from duetime.ports.jobs import LockRequirement
from tests.facts.verdicts import (
    DAY,
    GRACE,
    HOUR,
    LOCKED,
    MINUTE,
    NOON,
    POLICIES,
    SKEW,
    job,
    paused,
    row,
    running,
    verdict,
)


class TestWhatIsMadeUpFor:
    MADE_UP = Proceed(LockRequirement.LOCK, catches_up=True)

    def test_is_never_missed(self):
        assert verdict(row(catches_up=True), job(), now=NOON + DAY) == self.MADE_UP

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 1), (1, 2), (2, 3), (5, 100)])
    def test_is_one_of_the_latest_past_the_grace(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert verdict(row(), job(catch_up=catch_up), now=now) == self.MADE_UP
        allowed = verdict(row(), job(Overlap.ALLOW, catch_up=catch_up), now=now)
        assert allowed == Proceed(LockRequirement.UNCHANGED, catches_up=True)

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 0), (1, 1), (2, 2), (200, 100)])
    def test_is_none_before_the_latest(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert verdict(row(), job(catch_up=catch_up), now=now).reason is SkipReason.MISSED

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_waits_for_the_lock_whatever_the_policy_and_stops_nobody(self, overlap):
        now = NOON + GRACE + MINUTE
        holder = running(now, lease_until=now + HOUR)
        assert verdict(row(catches_up=True), job(overlap), now=now, holder=holder) == Wait()
        assert verdict(row(), job(overlap, catch_up=1), now=now, holder=holder) == Wait()

    def test_is_skipped_when_its_job_is_paused(self):
        assert verdict(row(catches_up=True), job(pauses=paused())).reason is SkipReason.PAUSED


class TestTheOnlyOneOfItsJob:
    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_runs_under_the_lock(self, overlap, kind):
        assert verdict(row(kind=kind), job(overlap)) == LOCKED

    @pytest.mark.parametrize(
        ("kind", "hold"),
        [
            ("occurrence", LockRequirement.UNCHANGED),
            ("manual", LockRequirement.NOTHING),
            ("event", LockRequirement.NOTHING),
        ],
    )
    def test_runs_without_a_lock_where_runs_may_overlap(self, kind, hold):
        assert verdict(row(kind=kind), job(Overlap.ALLOW)) == Proceed(hold)

    @pytest.mark.parametrize(
        "dead",
        [
            running(lease_until=NOON - MINUTE),
            replace(running(), status=Status.EXECUTED, lease_until=None),
            None,
        ],
    )
    def test_takes_the_lock_of_one_that_will_not_free_it(self, dead):
        its_job = job(running=running().ref)
        seen = ClaimContext(row=row(), job=its_job, holder=dead, waiting=None)
        assert decide(seen, "mine", Bounds(now=NOON, skew=SKEW, grace=GRACE)) == Proceed(
            LockRequirement.LOCK, takes_over_lock=True
        )


class TestBesideAnother:
    HOLDER = running()
    WAITING = row(NOON - MINUTE)

    def test_runs_where_runs_may_overlap(self):
        assert verdict(row(), job(Overlap.ALLOW), holder=self.HOLDER) == Proceed(LockRequirement.UNCHANGED)

    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_is_skipped_under_skip(self, kind):
        skip = Skip(SkipReason.OVERLAP, f"{self.HOLDER.id} was running")
        assert verdict(row(kind=kind), job(), holder=self.HOLDER) == skip

    def test_that_waits_for_its_retry_is_skipped_too(self):
        retrying = row(NOON - HOUR, attempt=1, due_at=NOON + HOUR)
        assert verdict(row(), job(), holder=retrying).reason is SkipReason.OVERLAP

    def test_waits_in_the_one_place_under_queue_one(self):
        assert verdict(row(), job(Overlap.QUEUE_ONE), holder=self.HOLDER) == Wait(takes_the_place=True)

    def test_is_skipped_under_queue_one_while_another_waits(self):
        skip = Skip(SkipReason.OVERLAP, f"{self.HOLDER.id} was running, and {self.WAITING.id} waiting")
        its_job = job(Overlap.QUEUE_ONE)
        assert verdict(row(), its_job, holder=self.HOLDER, waiting=self.WAITING) == skip

    @pytest.mark.parametrize("overlap", [Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING])
    def test_takes_the_place_of_one_that_waits_no_more(self, overlap):
        gone = replace(self.WAITING, status=Status.CANCELLED)
        found = verdict(row(), job(overlap), holder=self.HOLDER, waiting=gone)
        assert found == Wait(takes_the_place=True, cancels=overlap is Overlap.CANCEL_RUNNING)

    def test_asks_the_running_one_to_stop_under_cancel_running(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        assert verdict(row(), its_job, holder=self.HOLDER) == Wait(takes_the_place=True, cancels=True)

    def test_takes_the_place_of_an_earlier_one_under_cancel_running(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        found = verdict(row(), its_job, holder=self.HOLDER, waiting=self.WAITING)
        assert found == Wait(takes_the_place=True, cancels=True)

    def test_is_skipped_under_cancel_running_if_a_later_one_waits(self):
        its_job, earlier = job(Overlap.CANCEL_RUNNING), row(NOON - 2 * MINUTE)
        skip = Skip(SkipReason.OVERLAP, f"{self.WAITING.id} is later, and takes its place")
        assert verdict(earlier, its_job, holder=self.HOLDER, waiting=self.WAITING) == skip

    def test_is_skipped_under_cancel_running_if_a_later_one_runs(self):
        its_job, earlier = job(Overlap.CANCEL_RUNNING), row(NOON - 2 * MINUTE)
        later = running(NOON - MINUTE)
        skip = Skip(SkipReason.OVERLAP, f"{later.id} is later, and was running")
        assert verdict(earlier, its_job, holder=later) == skip

    def test_of_two_that_were_triggered_in_one_second_one_takes_the_place_of_the_other(self):
        its_job = job(Overlap.CANCEL_RUNNING)
        first, second = sorted((row(kind="manual") for _ in range(2)), key=lambda item: item.id)
        assert isinstance(verdict(second, its_job, holder=self.HOLDER, waiting=first), Wait)
        assert isinstance(verdict(first, its_job, holder=self.HOLDER, waiting=second), Skip)

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_waits_if_it_is_a_retry_or_a_redrive(self, overlap):
        again = row(NOON - 2 * HOUR, attempt=2, due_at=NOON)
        assert verdict(again, job(overlap), holder=self.HOLDER) == Wait()
