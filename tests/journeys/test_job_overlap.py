"""What becomes of an occurrence that is due while another run of its job has not ended in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, every
from duetime.model.action import Status
from duetime.settings import Settings
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at, grid
from tests.journeys.test_recovery import Killed


def test_skip_records_the_skipped_run_the_reason_and_the_running_one():
    recorded = RecordedJob(every(minutes=10), lasts=[25 * MINUTE])
    recorded.cloud.advance(hours=1)
    assert recorded.begun == at(10, 40, 50, 60)
    skipped = [row for row in recorded.rows if row.status is Status.SKIPPED]
    assert [item.nominal_at for item in skipped] == at(20, 30)
    assert {item.skip_reason for item in skipped} == {"overlap"}
    assert {item.note for item in skipped} == {"press-print.000001.20260303T001000Z was running"}
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 4, "overlap": 2}


def test_with_queue_one_the_first_waits_and_starts_the_moment_the_other_ends():
    recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[35.5 * MINUTE])
    recorded.cloud.advance(hours=1)
    started = [ran_at for _, _, ran_at in recorded.runs]
    assert recorded.begun == at(10, 20, 50, 60)
    assert started == at(10, 45.5, 50, 60)
    assert recorded.skipped() == [(item, "overlap") for item in at(30, 40)]
    assert recorded.job.waiting is None


def test_an_action_with_a_lost_wake_delays_no_later_one_and_runs_after_them():
    recorded = RecordedJob(every(minutes=1))
    recorded.cloud.advance(seconds=70)
    recorded.lose(
        min((row for row in recorded.rows if row.status is Status.PENDING), key=lambda row: row.due_at).ref
    )
    recorded.cloud.advance(minutes=9)
    assert recorded.begun == at(1, 3, 4, 5, 6, 7, 2, 8, 9, 10)


def test_the_one_that_waits_is_not_missed_however_long_the_other_runs():
    recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[2 * HOUR])
    recorded.cloud.advance(hours=3)
    assert recorded.begun[:3] == at(10, 20, 140)
    assert {reason for _, reason in recorded.skipped()} == {"overlap"}


def test_with_allow_runs_go_side_by_side():
    recorded = RecordedJob(every(minutes=10), overlap="allow", lasts=[25 * MINUTE] * 2)
    recorded.cloud.advance(hours=1)
    assert recorded.runs == [("cadence", item, item) for item in at(10, 20, 30, 40, 50, 60)]
    assert recorded.ended != recorded.begun
    assert sorted(recorded.ended) == recorded.begun
    assert recorded.job.running is None
    assert recorded.job.tally.executed == 6


def test_with_cancel_running_the_running_one_is_stopped_and_the_newest_runs():
    recorded = RecordedJob(every(minutes=10), overlap="cancel_running", lasts=[25.5 * MINUTE])
    recorded.cloud.advance(hours=1)
    assert recorded.begun == at(10, 30, 40, 50, 60)
    assert [ran_at for _, _, ran_at in recorded.runs] == at(10, 35.5, 40, 50, 60)
    assert recorded.at(Status.CANCELLED) == at(10)
    (stopped,) = (row for row in recorded.rows if row.status is Status.CANCELLED)
    assert stopped.cancelled_by == "press-print.000001.20260303T002000Z"
    assert recorded.skipped() == [(MIDNIGHT + 20 * MINUTE, "overlap")]


def test_with_cancel_running_a_run_that_waits_for_its_retry_is_cancelled_at_once():
    retry = RetryPolicy(attempts=3, backoff=25 * MINUTE, jitter=0)
    recorded = RecordedJob(every(minutes=10), overlap="cancel_running", retry=retry, fails=1)
    recorded.cloud.advance(minutes=35)
    assert recorded.begun == at(10, 20, 30)
    assert recorded.at(Status.CANCELLED) == at(10)


def test_with_cancel_running_a_late_older_occurrence_stops_no_newer_one():
    recorded = RecordedJob(every(minutes=3), overlap="cancel_running", lasts=[0 * SECOND, 10 * MINUTE])
    recorded.cloud.advance(minutes=5)
    (row,) = (row for row in recorded.rows if row.nominal_at == MIDNIGHT + 6 * MINUTE)
    recorded.lose(row.ref)
    recorded.cloud.advance(minutes=9)
    first, third, *_ = recorded.begun
    assert (first, third) == (MIDNIGHT + 3 * MINUTE, MIDNIGHT + 9 * MINUTE)
    late = recorded.cloud.scheduler.get(row.id)
    assert (late.status, late.skip_reason) == (Status.SKIPPED, "overlap")
    assert "is later, and was running" in late.note


def test_a_run_that_waits_for_its_retry_holds_the_lock():
    retry = RetryPolicy(attempts=3, backoff=25 * MINUTE, jitter=0)
    recorded = RecordedJob(every(minutes=10), retry=retry, fails=1)
    recorded.cloud.advance(hours=1)
    assert [ran_at for _, _, ran_at in recorded.runs] == at(10, 35, 40, 50, 60)
    assert recorded.skipped() == [(item, "overlap") for item in at(20, 30)]
    assert recorded.job.running is None


def test_a_run_that_fails_for_good_frees_the_lock():
    recorded = RecordedJob(every(minutes=10), retry=RetryPolicy(attempts=1), fails=2)
    recorded.cloud.advance(hours=1)
    assert recorded.begun == at(10, 20, 30, 40, 50, 60)
    assert recorded.at(Status.FAILED) == at(10, 20)
    tally = recorded.job.tally
    assert (tally.executed, tally.failed, tally.consecutive_failures) == (4, 2, 0)
    assert tally.last_error == "ConnectionError: out of paper"


def test_cancelling_a_retry_that_waits_frees_the_lock():
    retry = RetryPolicy(attempts=3, backoff=HOUR, jitter=0)
    recorded = RecordedJob(every(minutes=10), retry=retry, fails=1)
    recorded.cloud.advance(minutes=15)
    holder = recorded.job.running
    recorded.cloud.scheduler.cancel(holder.id)
    assert recorded.job.running is None
    recorded.cloud.advance(minutes=15)
    assert recorded.begun == at(10, 20, 30)
    assert recorded.cloud.scheduler.get(holder.id).cancelled_by == "simulation"


def test_a_failed_run_that_is_driven_again_waits_for_the_lock():
    recorded = RecordedJob(every(hours=1), retry=RetryPolicy(attempts=1), fails=1)
    recorded.cloud.advance(hours=1)
    (failed,) = recorded.rows[:1]
    recorded.lasts.append(20 * MINUTE)
    recorded.cloud.clock.wait_until(MIDNIGHT + 2 * HOUR - SECOND)
    recorded.cloud.scheduler.redrive(failed.id, at=5 * MINUTE)
    recorded.cloud.advance(hours=1)
    begun = [(nominal, ran_at) for _, nominal, ran_at in recorded.runs[1:3]]
    assert begun[0] == (MIDNIGHT + 2 * HOUR, MIDNIGHT + 2 * HOUR)
    nominal, ran_at = begun[1]
    assert nominal == MIDNIGHT + HOUR
    ended_at = MIDNIGHT + 2 * HOUR + 20 * MINUTE
    assert ended_at <= ran_at <= ended_at + MINUTE
    assert recorded.cloud.scheduler.get(failed.id).status is Status.EXECUTED


USUAL = Settings()
DEAD_FOR = USUAL.lease + USUAL.clock_skew


class Mortal(RecordedJob):
    """Its first run is killed."""

    def stop_if_cancel_requested(self, _run):
        raise Killed

    def live(self, span):
        until = self.cloud.now + span
        while self.cloud.now < until:
            try:
                self.cloud.advance(until - self.cloud.now)
            except Killed:
                continue


def test_a_run_that_was_killed_is_taken_over_and_holds_the_lock_until_it_has_ended():
    recorded = Mortal(every(seconds=30), lasts=[timedelta(0)], settings=USUAL)
    recorded.live(timedelta(minutes=15))
    first, second, *_ = recorded.runs
    assert first == ("cadence", MIDNIGHT + 30 * SECOND, MIDNIGHT + 30 * SECOND)
    assert second[:2] == first[:2]
    assert second[2] > first[2] + DEAD_FOR
    between = [item for item in grid(MIDNIGHT + 30 * SECOND, 30 * SECOND, 30) if item <= second[2]]
    assert recorded.skipped() == [(item, "overlap") for item in between]
    assert recorded.job.running is None
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT)["executed"] == 30 - len(between)


def test_the_lock_of_a_dead_run_ends_with_its_lease_without_a_take_over():
    recorded = Mortal(every(seconds=30), lasts=[timedelta(0)], settings=USUAL)
    with pytest.raises(Killed):
        recorded.cloud.advance(seconds=30)
    recorded.lose(recorded.job.running)
    recorded.cloud.advance(minutes=6)
    freed_at = recorded.runs[1][2]
    assert MIDNIGHT + 30 * SECOND + DEAD_FOR < freed_at <= MIDNIGHT + 90 * SECOND + DEAD_FOR
    assert recorded.runs[1][1] == freed_at
    recorded.cloud.advance(minutes=15)
    assert recorded.at(Status.EXECUTED).count(MIDNIGHT + 30 * SECOND) == 1


def test_a_changed_policy_applies_to_later_actions():
    recorded = RecordedJob(every(minutes=10), overlap="allow", lasts=[15 * MINUTE])
    recorded.cloud.advance(minutes=30)
    recorded.deploy(every(minutes=10), overlap="skip")
    recorded.lasts.append(15 * MINUTE)
    recorded.cloud.advance(minutes=30)
    assert recorded.begun == at(10, 20, 30, 40, 60)
    assert recorded.job.version == 1


def deployed_in_mid_run(overlap):
    """A job whose policy a deploy changes at 00:25 while the run of 00:10 is in progress, until 00:45."""
    recorded = RecordedJob(every(minutes=10), overlap="allow", lasts=[15 * MINUTE])
    stop_if_cancel_requested = recorded.stop_if_cancel_requested

    def deploy_meanwhile(run):
        recorded.stop_if_cancel_requested = stop_if_cancel_requested
        recorded.deploy(every(minutes=10), overlap=overlap)
        recorded.cloud.advance(minutes=20)
        stop_if_cancel_requested(run)

    recorded.stop_if_cancel_requested = deploy_meanwhile
    recorded.cloud.advance(hours=1)
    return recorded


def test_after_a_deploy_from_allow_to_skip_no_run_begins_beside_one_that_holds_no_lock():
    recorded = deployed_in_mid_run("skip")
    assert recorded.begun == at(10, 20, 50, 60)
    skipped = [row for row in recorded.rows if row.status is Status.SKIPPED]
    assert [(row.nominal_at, row.skip_reason) for row in skipped] == [
        (item, "overlap") for item in at(30, 40)
    ]
    assert {row.note for row in skipped} == {"press-print.000001.20260303T001000Z was running"}
    assert recorded.job.unlocked_since is None


def test_after_a_deploy_from_allow_to_queue_one_one_run_waits_for_the_end_of_the_older_ones():
    recorded = deployed_in_mid_run("queue_one")
    assert recorded.begun == at(10, 20, 30, 50, 60)
    assert MIDNIGHT + 45 * MINUTE <= recorded.runs[2][2] <= MIDNIGHT + 46 * MINUTE
    assert recorded.skipped() == [(MIDNIGHT + 40 * MINUTE, "overlap")]


def test_after_a_deploy_from_allow_to_cancel_running_the_older_runs_are_stopped():
    recorded = deployed_in_mid_run("cancel_running")
    assert recorded.at(Status.CANCELLED) == at(10)
    assert recorded.begun == at(10, 20, 40, 50, 60)


def test_a_retry_that_holds_the_lock_waits_for_runs_that_began_without_it_under_allow():
    once_more = RetryPolicy(attempts=2, backoff=15 * 60, jitter=0)
    recorded = RecordedJob(every(minutes=10), overlap="skip", fails=1, retry=once_more)
    recorded.cloud.advance(minutes=12)
    recorded.deploy(every(minutes=10), overlap="allow", retry=once_more)
    recorded.lasts.append(MINUTE)

    def deploy_meanwhile(_run):
        recorded.deploy(every(minutes=10), overlap="skip", retry=once_more)
        recorded.cloud.advance(minutes=20)

    recorded.stop_if_cancel_requested = deploy_meanwhile
    recorded.cloud.advance(minutes=40)
    assert recorded.begun[:3] == at(10, 20, 10)
    assert recorded.runs[2][2] >= MIDNIGHT + 41 * MINUTE


def test_a_run_that_is_due_just_after_a_deploy_from_allow_waits_until_older_runs_are_known():
    recorded = RecordedJob(every(minutes=10), overlap="allow")
    recorded.cloud.advance(minutes=10, seconds=-1)
    recorded.deploy(every(minutes=10), overlap="skip")
    recorded.cloud.advance(minutes=5)
    (begun,) = (ran_at for _, _, ran_at in recorded.runs)
    assert MIDNIGHT + 11 * MINUTE < begun <= MIDNIGHT + 12 * MINUTE


def test_a_waiting_run_of_a_paused_job_runs_and_new_ones_are_skipped():
    recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[15 * MINUTE])

    def pause_meanwhile(_run):
        recorded.cloud.jobs.pause(recorded.name, reason="no paper")
        recorded.cloud.advance(minutes=15)

    recorded.stop_if_cancel_requested = pause_meanwhile
    recorded.cloud.advance(minutes=50)
    assert recorded.begun == at(10, 20)
    assert recorded.skipped() == [(item, "paused") for item in at(30, 40)]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 2, "paused": 3}
