"""Whether a job's run may begin.

Each row of the table in `duetime.jobs.claim_policy`, and what lies beside it.
"""

from dataclasses import replace

import pytest

from duetime.jobs.claim_policy import AlreadyClaimed, Skip, Wait
from duetime.model.action import SkipReason, Status
from duetime.model.job import Overlap, Pause
from duetime.model.lease import LeaseHeld
from tests.facts.verdicts import (
    DAILY,
    DAY,
    EVENT,
    GRACE,
    HOUR,
    HOURLY,
    LOCKED,
    MINUTE,
    NOON,
    POLICIES,
    SECOND,
    SKEW,
    job,
    paused,
    row,
    running,
    verdict,
)


class TestAProcessingRow:
    def test_under_a_live_lease_is_somebody_elses(self):
        assert verdict(running(), job()) == LeaseHeld(NOON + MINUTE)

    def test_whose_lease_has_not_ended_for_longer_than_clocks_differ_still_is(self):
        assert verdict(running(lease_until=NOON - SKEW), job()) == LeaseHeld(NOON - SKEW)

    def test_under_this_very_claim_is_mine(self):
        assert isinstance(verdict(running(claim_nonce="mine"), job()), AlreadyClaimed)

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_whose_lease_has_ended_is_taken_over_under_its_own_lock(self, overlap):
        dead = running(lease_until=NOON - MINUTE)
        assert verdict(dead, job(overlap, running=dead.ref)) == LOCKED

    def test_whose_lock_another_has_taken_waits_for_it(self):
        dead, other = running(lease_until=NOON - MINUTE), running(NOON - MINUTE)
        assert verdict(dead, job(), holder=other) == Wait()

    def test_is_taken_over_whatever_became_of_its_job(self):
        dead = running(lease_until=NOON - MINUTE)
        gone = job(running=dead.ref, removed_at=NOON - 2 * HOUR, pauses=paused(NOON - 2 * HOUR))
        assert verdict(dead, gone) == LOCKED

    def test_of_no_job_is_left_alone(self):
        assert verdict(running(lease_until=NOON - MINUTE), None) is None


class TestNothingToDo:
    @pytest.mark.parametrize("status", [item for item in Status if item.is_final])
    def test_for_a_row_that_is_settled(self, status):
        assert verdict(row(status=status), job()) is None

    def test_for_a_row_that_is_not_due_yet(self):
        assert verdict(row(NOON + SECOND), job()) is None


class TestAnOccurrence:
    def test_of_a_job_that_nobody_knows_is_skipped(self):
        assert verdict(row(), None) == Skip(SkipReason.DISABLED, "its job is gone")

    def test_of_a_dropped_job_is_skipped(self):
        skip = Skip(SkipReason.DISABLED, "press-print is no longer declared")
        assert verdict(row(), job(removed_at=NOON - SECOND)) == skip

    def test_of_a_dropped_job_that_was_due_before_that_runs(self):
        assert verdict(row(), job(removed_at=NOON)) == LOCKED

    def test_of_a_former_version_is_retired(self):
        skip = Skip(SkipReason.RETIRED, "version 3 of press-print has taken over")
        assert verdict(row(version=2), job(ends={2: NOON - SECOND})) == skip

    def test_of_a_former_version_that_was_due_before_its_end_runs(self):
        assert verdict(row(version=2), job(ends={2: NOON})) == LOCKED

    def test_of_a_version_so_old_that_its_end_is_not_kept_is_retired(self):
        assert verdict(row(version=1), job()).reason is SkipReason.RETIRED

    def test_of_a_paused_job_is_skipped_and_says_by_whom_and_why(self):
        skip = Skip(SkipReason.PAUSED, "paused by ann: no paper")
        assert verdict(row(), job(pauses=paused())) == skip

    def test_that_was_due_when_its_job_was_paused_runs(self):
        assert verdict(row(), job(pauses=paused(NOON))) == LOCKED

    def test_in_a_pause_that_is_over_runs(self):
        assert verdict(row(), job(pauses=paused(until=NOON))) == LOCKED

    def test_of_a_paused_cadence_is_skipped(self):
        at = NOON - HOUR
        its_job = job(pauses=paused(at - HOUR, cadence=HOURLY))
        assert verdict(row(at), its_job, now=at).reason is SkipReason.PAUSED

    def test_of_another_cadence_than_the_paused_one_runs(self):
        assert verdict(row(), job(pauses=paused(cadence=DAILY))) == LOCKED

    def test_that_a_paused_cadence_shares_with_another_runs_for_that_one(self):
        assert verdict(row(), job(pauses=paused(cadence=HOURLY))) == LOCKED
        both = job(pauses=paused(cadence=HOURLY) | paused(cadence=DAILY))
        assert verdict(row(), both).reason is SkipReason.PAUSED

    def test_of_a_paused_cadence_is_skipped_though_the_whole_jobs_pause_is_over(self):
        at = NOON - HOUR
        pauses = paused(at - HOUR, cadence=HOURLY) | paused(at - HOUR, at - MINUTE)
        assert verdict(row(at), job(pauses=pauses), now=at).reason is SkipReason.PAUSED

    def test_within_the_grace_runs_late(self):
        assert verdict(row(), job(), now=NOON + GRACE) == LOCKED

    def test_past_the_grace_is_missed(self):
        skip = Skip(SkipReason.MISSED, "it could be claimed only 601 s after it was due")
        assert verdict(row(), job(), now=NOON + GRACE + SECOND) == skip

    def test_past_the_grace_that_has_been_waiting_for_the_lock_is_not_missed(self):
        late = row()
        assert verdict(late, job(Overlap.QUEUE_ONE, waiting=late.ref), now=NOON + 3 * HOUR) == LOCKED

    def test_that_somebody_rescheduled_is_late_by_its_new_time(self):
        late = row(due_at=NOON + HOUR)
        assert verdict(late, job(), now=NOON + HOUR + GRACE) == LOCKED


class TestAManualRun:
    @pytest.mark.parametrize(
        "its_job",
        [job(pauses=paused()), job(removed_at=NOON - HOUR), job(ends={2: NOON - HOUR})],
        ids=["paused", "dropped", "of a former version"],
    )
    def test_is_asked_for_the_lock_alone(self, its_job):
        assert verdict(row(version=2, kind="manual"), its_job, now=NOON + DAY) == LOCKED


class TestAnEventsRun:
    def test_is_never_missed(self):
        assert verdict(row(kind="event"), job(), now=NOON + DAY) == LOCKED

    def test_of_a_paused_trigger_is_skipped_though_a_time_falls_on_its_second(self):
        assert verdict(row(kind="event"), job(pauses=paused(cadence=EVENT))).reason is SkipReason.PAUSED

    def test_is_of_no_version(self):
        assert verdict(row(kind="event"), job(ends={2: NOON - DAY, 3: NOON - DAY})) == LOCKED


class TestARetry:
    @pytest.mark.parametrize(
        "its_job",
        [job(pauses=paused()), job(removed_at=NOON - HOUR), job(version=4, ends={3: NOON - HOUR})],
        ids=["paused", "dropped", "of a former version"],
    )
    def test_runs_whatever_became_of_its_job(self, its_job):
        again = row(attempt=1, due_at=NOON + MINUTE)
        assert verdict(again, its_job, now=NOON + DAY) == LOCKED


def test_a_pause_is_over_from_its_end_on_and_one_without_an_end_never_is():
    pause = Pause(since=NOON, by="ann", until=NOON + HOUR)
    assert not pause.is_over(NOON + HOUR - SECOND)
    assert pause.is_over(NOON + HOUR)
    assert not replace(pause, until=None).is_over(NOON + 1_000 * DAY)
