"""Whether a job's run may begin: each row of the table in `duetime.admission`, and what lies beside it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids
from duetime.action import Action, SkipReason, Status
from duetime.admission import Bounds, Go, Mine, Seen, Skip, Wait, judge
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.job import WHOLE_JOB, Definition, Job, JobRef, Origin, Overlap, Pause
from duetime.job_ports import Hold
from duetime.lease import Held

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = (timedelta(**{each: 1}) for each in ("seconds", "minutes", "hours", "days"))
SKEW, GRACE = 5 * SECOND, 10 * MINUTE
NAME = JobName("press-print")
HOURLY, DAILY, EVENT = "Every_1h", "Daily_12_00", "OnEvent_kb_Uploaded"
TEXTS = ("daily 12:00", "every 1h", "on_event kb Uploaded")
POLICIES = tuple(Overlap)


def job(overlap=Overlap.SKIP, *, catch_up=0, **more):
    facts = {
        "ref": JobRef(SYSTEM_TENANT, NAME),
        "definition": Definition(
            name=NAME, type=NAME, cadences=TEXTS, overlap=Overlap(overlap), catch_up=catch_up
        ),
        "origin": Origin.CODE,
        "version": 3,
        "since": NOON - 10 * DAY,
        "anchor": NOON - 30 * DAY,
        "cursor": NOON,
        "attend_at": NOON,
        "ends": {2: NOON - 10 * DAY},
    }
    return Job(**facts | more)


def row(at=NOON, *, version=3, kind="occurrence", **more):
    made = {
        "occurrence": lambda: ids.occurrence_id(NAME, version, at),
        "manual": lambda: ids.manual_run_id(NAME, version, at),
        "event": lambda: ids.event_run_id(NAME, at, "e-1"),
    }[kind]()
    facts = {
        "tenant_id": SYSTEM_TENANT,
        "id": made,
        "type": NAME,
        "due_at": at,
        "due_shard": "0",
        "created_by": "duetime",
        "payload": None,
        "cadence": {"occurrence": HOURLY, "manual": None, "event": EVENT}[kind],
    }
    return Action(**facts | more)


def running(at=NOON - HOUR, *, lease_until=NOON + MINUTE, **more):
    facts = {"status": Status.PROCESSING, "attempt": 1, "fence": 1, "lease_until": lease_until}
    return row(at, **facts | more)


def verdict(of, its_job, *, now=NOON, holder=None, waiting=None, nonce="mine"):
    locked = its_job
    if locked is not None and holder is not None:
        locked = replace(locked, running=holder.ref)
    if locked is not None and waiting is not None:
        locked = replace(locked, waiting=waiting.ref)
    seen = Seen(row=of, job=locked, holder=holder, waiting=waiting)
    return judge(seen, nonce, Bounds(now=now, skew=SKEW, grace=GRACE))


def paused(since=NOON - HOUR, until=None, *, cadence=WHOLE_JOB):
    return {cadence: Pause(since=since, by="ann", reason="no paper", until=until)}


LOCKED = Go(Hold.LOCK)


class TestAProcessingRow:
    def test_under_a_live_lease_is_somebody_elses(self):
        assert verdict(running(), job()) == Held(NOON + MINUTE)

    def test_whose_lease_has_not_ended_for_longer_than_clocks_differ_still_is(self):
        assert verdict(running(lease_until=NOON - SKEW), job()) == Held(NOON - SKEW)

    def test_under_this_very_claim_is_mine(self):
        assert isinstance(verdict(running(claim_nonce="mine"), job()), Mine)

    @pytest.mark.parametrize("overlap", [each for each in POLICIES if each is not Overlap.ALLOW])
    def test_whose_lease_has_ended_is_taken_over_under_its_own_lock(self, overlap):
        dead = running(lease_until=NOON - MINUTE)
        assert verdict(dead, job(overlap, running=dead.ref)) == LOCKED

    def test_whose_lock_another_has_taken_waits_for_it(self):
        dead, other = running(lease_until=NOON - MINUTE), running(NOON - MINUTE)
        assert verdict(dead, job(), holder=other) == Wait()

    def test_is_taken_over_whatever_became_of_its_job(self):
        dead = running(lease_until=NOON - MINUTE)
        gone = job(running=dead.ref, dropped_at=NOON - 2 * HOUR, pauses=paused(NOON - 2 * HOUR))
        assert verdict(dead, gone) == LOCKED

    def test_of_no_job_is_left_alone(self):
        assert verdict(running(lease_until=NOON - MINUTE), None) is None


class TestNothingToDo:
    @pytest.mark.parametrize("status", [each for each in Status if each.is_final])
    def test_for_a_row_that_is_settled(self, status):
        assert verdict(row(status=status), job()) is None

    def test_for_a_row_that_is_not_due_yet(self):
        assert verdict(row(NOON + SECOND), job()) is None


class TestAnOccurrence:
    def test_of_a_job_that_nobody_knows_is_skipped(self):
        assert verdict(row(), None) == Skip(SkipReason.DISABLED, "its job is gone")

    def test_of_a_dropped_job_is_skipped(self):
        skip = Skip(SkipReason.DISABLED, "press-print is no longer declared")
        assert verdict(row(), job(dropped_at=NOON - SECOND)) == skip

    def test_of_a_dropped_job_that_was_due_before_that_runs(self):
        assert verdict(row(), job(dropped_at=NOON)) == LOCKED

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


class TestWhatIsMadeUpFor:
    MADE_UP = Go(Hold.LOCK, catches_up=True)

    def test_is_never_missed(self):
        assert verdict(row(catches_up=True), job(), now=NOON + DAY) == self.MADE_UP

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 1), (1, 2), (2, 3), (5, 100)])
    def test_is_one_of_the_latest_past_the_grace(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert verdict(row(), job(catch_up=catch_up), now=now) == self.MADE_UP
        allowed = verdict(row(), job(Overlap.ALLOW, catch_up=catch_up), now=now)
        assert allowed == Go(Hold.UNCHANGED, catches_up=True)

    @pytest.mark.parametrize(("later", "catch_up"), [(0, 0), (1, 1), (2, 2), (200, 100)])
    def test_is_none_before_the_latest(self, later, catch_up):
        now = NOON + later * HOUR + GRACE + MINUTE
        assert verdict(row(), job(catch_up=catch_up), now=now).reason is SkipReason.MISSED

    @pytest.mark.parametrize("overlap", [each for each in POLICIES if each is not Overlap.ALLOW])
    def test_waits_for_the_lock_whatever_the_policy_and_stops_nobody(self, overlap):
        now = NOON + GRACE + MINUTE
        holder = running(now, lease_until=now + HOUR)
        assert verdict(row(catches_up=True), job(overlap), now=now, holder=holder) == Wait()
        assert verdict(row(), job(overlap, catch_up=1), now=now, holder=holder) == Wait()

    def test_is_skipped_when_its_job_is_paused(self):
        assert verdict(row(catches_up=True), job(pauses=paused())).reason is SkipReason.PAUSED


class TestTheOnlyOneOfItsJob:
    @pytest.mark.parametrize("overlap", [each for each in POLICIES if each is not Overlap.ALLOW])
    @pytest.mark.parametrize("kind", ["occurrence", "manual", "event"])
    def test_runs_under_the_lock(self, overlap, kind):
        assert verdict(row(kind=kind), job(overlap)) == LOCKED

    @pytest.mark.parametrize(
        ("kind", "hold"),
        [("occurrence", Hold.UNCHANGED), ("manual", Hold.NOTHING), ("event", Hold.NOTHING)],
    )
    def test_runs_without_a_lock_where_runs_may_overlap(self, kind, hold):
        assert verdict(row(kind=kind), job(Overlap.ALLOW)) == Go(hold)

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
        seen = Seen(row=row(), job=its_job, holder=dead, waiting=None)
        assert judge(seen, "mine", Bounds(now=NOON, skew=SKEW, grace=GRACE)) == Go(
            Hold.LOCK, takes_over_lock=True
        )


class TestBesideAnother:
    HOLDER = running()
    WAITING = row(NOON - MINUTE)

    def test_runs_where_runs_may_overlap(self):
        assert verdict(row(), job(Overlap.ALLOW), holder=self.HOLDER) == Go(Hold.UNCHANGED)

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
        first, second = sorted((row(kind="manual") for _ in range(2)), key=lambda each: each.id)
        assert isinstance(verdict(second, its_job, holder=self.HOLDER, waiting=first), Wait)
        assert isinstance(verdict(first, its_job, holder=self.HOLDER, waiting=second), Skip)

    @pytest.mark.parametrize("overlap", [each for each in POLICIES if each is not Overlap.ALLOW])
    def test_waits_if_it_is_a_retry_or_a_redrive(self, overlap):
        again = row(NOON - 2 * HOUR, attempt=2, due_at=NOON)
        assert verdict(again, job(overlap), holder=self.HOLDER) == Wait()


class TestAManualRun:
    @pytest.mark.parametrize(
        "its_job",
        [job(pauses=paused()), job(dropped_at=NOON - HOUR), job(ends={2: NOON - HOUR})],
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
        [job(pauses=paused()), job(dropped_at=NOON - HOUR), job(version=4, ends={3: NOON - HOUR})],
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
