"""The decisions of `duetime.jobs.claim_policy` on runs of jobs."""

from dataclasses import replace

import pytest

from duetime.jobs.claim_policy import AlreadyClaimed, Skip, Wait
from duetime.model.action import SkipReason, Status
from duetime.model.job import Overlap, Pause
from duetime.model.lease import LeaseHeld
from tests.facts.claim_decisions import (
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
    decision_on,
    job,
    paused,
    row,
    running,
)


class TestProcessingRow:
    def test_row_under_live_lease_is_held(self):
        assert decision_on(running(), job()) == LeaseHeld(NOON + MINUTE)

    def test_row_is_held_until_skew_after_lease_end(self):
        assert decision_on(running(lease_until=NOON - SKEW), job()) == LeaseHeld(NOON - SKEW)

    def test_row_with_nonce_of_claim_is_already_claimed(self):
        assert isinstance(decision_on(running(nonce="mine"), job()), AlreadyClaimed)

    @pytest.mark.parametrize("overlap", [policy for policy in POLICIES if policy is not Overlap.ALLOW])
    def test_row_with_ended_lease_is_taken_over_under_its_lock(self, overlap):
        dead = running(lease_until=NOON - MINUTE)
        assert decision_on(dead, job(overlap, running=dead.ref)) == LOCKED

    def test_row_waits_for_lock_that_another_run_has_taken(self):
        dead, other = running(lease_until=NOON - MINUTE), running(NOON - MINUTE)
        assert decision_on(dead, job(), holder=other) == Wait()

    def test_row_of_removed_or_paused_job_is_taken_over(self):
        dead = running(lease_until=NOON - MINUTE)
        gone = job(running=dead.ref, removed_at=NOON - 2 * HOUR, pauses=paused(NOON - 2 * HOUR))
        assert decision_on(dead, gone) == LOCKED

    def test_processing_row_without_job_is_ignored(self):
        assert decision_on(running(lease_until=NOON - MINUTE), None) is None


class TestNothingToDo:
    @pytest.mark.parametrize("status", [item for item in Status if item.is_final])
    def test_settled_row_is_ignored(self, status):
        assert decision_on(row(status=status), job()) is None

    def test_row_that_is_not_due_is_ignored(self):
        assert decision_on(row(NOON + SECOND), job()) is None


class TestOccurrence:
    def test_occurrence_of_missing_job_is_skipped(self):
        assert decision_on(row(), None) == Skip(SkipReason.DISABLED, "its job is gone")

    def test_occurrence_of_removed_job_is_skipped(self):
        skip = Skip(SkipReason.DISABLED, "press-print is no longer declared")
        assert decision_on(row(), job(removed_at=NOON - SECOND)) == skip

    def test_occurrence_due_before_removal_runs(self):
        assert decision_on(row(), job(removed_at=NOON)) == LOCKED

    def test_occurrence_of_previous_version_is_retired(self):
        skip = Skip(SkipReason.RETIRED, "version 3 of press-print has taken over")
        assert decision_on(row(version=2), job(ends={2: NOON - SECOND})) == skip

    def test_occurrence_due_before_version_end_runs(self):
        assert decision_on(row(version=2), job(ends={2: NOON})) == LOCKED

    def test_occurrence_of_version_without_stored_end_is_retired(self):
        assert decision_on(row(version=1), job()).reason is SkipReason.RETIRED

    def test_occurrence_of_paused_job_is_skipped_with_author_and_reason(self):
        skip = Skip(SkipReason.PAUSED, "paused by ann: no paper")
        assert decision_on(row(), job(pauses=paused())) == skip

    def test_occurrence_due_at_start_of_pause_runs(self):
        assert decision_on(row(), job(pauses=paused(NOON))) == LOCKED

    def test_occurrence_in_expired_pause_runs(self):
        assert decision_on(row(), job(pauses=paused(until=NOON))) == LOCKED

    def test_occurrence_of_paused_cadence_is_skipped(self):
        at = NOON - HOUR
        its_job = job(pauses=paused(at - HOUR, cadence=HOURLY))
        assert decision_on(row(at), its_job, now=at).reason is SkipReason.PAUSED

    def test_occurrence_of_another_cadence_runs(self):
        assert decision_on(row(), job(pauses=paused(cadence=DAILY))) == LOCKED

    def test_occurrence_runs_until_all_its_cadences_are_paused(self):
        assert decision_on(row(), job(pauses=paused(cadence=HOURLY))) == LOCKED
        both = job(pauses=paused(cadence=HOURLY) | paused(cadence=DAILY))
        assert decision_on(row(), both).reason is SkipReason.PAUSED

    def test_cadence_pause_outlives_expired_job_pause(self):
        at = NOON - HOUR
        pauses = paused(at - HOUR, cadence=HOURLY) | paused(at - HOUR, at - MINUTE)
        assert decision_on(row(at), job(pauses=pauses), now=at).reason is SkipReason.PAUSED

    def test_occurrence_within_grace_runs_late(self):
        assert decision_on(row(), job(), now=NOON + GRACE) == LOCKED

    def test_occurrence_after_grace_is_missed(self):
        skip = Skip(SkipReason.MISSED, "it could be claimed only 601 s after it was due")
        assert decision_on(row(), job(), now=NOON + GRACE + SECOND) == skip

    def test_occurrence_waiting_for_lock_is_not_missed(self):
        late = row()
        assert decision_on(late, job(Overlap.QUEUE_ONE, waiting=late.ref), now=NOON + 3 * HOUR) == LOCKED

    def test_grace_of_rescheduled_occurrence_counts_from_new_due_time(self):
        late = row(due_at=NOON + HOUR)
        assert decision_on(late, job(), now=NOON + HOUR + GRACE) == LOCKED


class TestManualRun:
    @pytest.mark.parametrize(
        "its_job",
        [job(pauses=paused()), job(removed_at=NOON - HOUR), job(ends={2: NOON - HOUR})],
        ids=["paused", "dropped", "of a former version"],
    )
    def test_manual_run_needs_only_the_lock(self, its_job):
        assert decision_on(row(version=2, kind="manual"), its_job, now=NOON + DAY) == LOCKED


class TestEventRun:
    def test_event_run_is_never_missed(self):
        assert decision_on(row(kind="event"), job(), now=NOON + DAY) == LOCKED

    def test_event_run_of_paused_trigger_is_skipped_at_nominal_time_of_another_cadence(self):
        assert decision_on(row(kind="event"), job(pauses=paused(cadence=EVENT))).reason is SkipReason.PAUSED

    def test_event_run_has_no_version(self):
        assert decision_on(row(kind="event"), job(ends={2: NOON - DAY, 3: NOON - DAY})) == LOCKED


class TestRetryOfOccurrence:
    @pytest.mark.parametrize(
        "its_job",
        [job(pauses=paused()), job(removed_at=NOON - HOUR), job(version=4, ends={3: NOON - HOUR})],
        ids=["paused", "dropped", "of a former version"],
    )
    def test_retry_runs_after_removal_pause_or_new_version(self, its_job):
        again = row(attempt=1, due_at=NOON + MINUTE)
        assert decision_on(again, its_job, now=NOON + DAY) == LOCKED


def test_pause_ends_at_its_end_or_never():
    pause = Pause(since=NOON, by="ann", until=NOON + HOUR)
    assert not pause.is_over(NOON + HOUR - SECOND)
    assert pause.is_over(NOON + HOUR)
    assert not replace(pause, until=None).is_over(NOON + 1_000 * DAY)
