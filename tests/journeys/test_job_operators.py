"""What operators do with a job, and what comes of it; told in simulated time."""

from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run, daily, every, on_event
from duetime.action import Status
from duetime.errors import (
    ActionConflict,
    ActionNotFound,
    DeclarationError,
    InvalidSelection,
    InvalidTime,
    JobConflict,
    JobNotFound,
)
from duetime.scheduler import Scheduler
from duetime.testing import SimulatedCloud
from tests.journeys.diary import DAY, HOUR, MIDNIGHT, MINUTE, SECOND, Diary, accounts


def at(*minutes):
    return [MIDNIGHT + each * MINUTE for each in minutes]


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


class TestAPause:
    def test_runs_nothing_new_and_says_who_and_why(self, diary):
        diary.cloud.advance(minutes=35)
        paused = diary.cloud.jobs.pause(diary.name, reason="no paper")
        assert paused.is_paused
        diary.cloud.advance(hours=5)
        assert diary.begun == at(10, 20, 30)
        pause = diary.job.pauses[""]
        assert (pause.by, pause.reason, pause.since) == ("simulation", "no paper", MIDNIGHT + 35 * MINUTE)
        skipped = [each for each in diary.rows if each.status is Status.SKIPPED]
        assert skipped
        assert {each.note for each in skipped} == {"paused by simulation: no paper"}
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 3, "paused": 30}

    def test_costs_no_row_for_what_it_passes_over(self):
        diary = Diary(every(seconds=1))
        diary.cloud.advance(seconds=10)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(days=30)
        assert len(diary.rows) < 400
        told = diary.cloud.jobs.explain(diary.name, MIDNIGHT, diary.cloud.now, limit=1_000)
        assert told.entries[-1].account == "skipped"
        assert told.entries[-1].ends_at == diary.cloud.now

    def test_that_is_resumed_plans_at_once_and_makes_up_for_nothing(self, diary):
        diary.cloud.advance(minutes=35)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(hours=2)
        diary.cloud.jobs.resume(diary.name)
        assert diary.at(Status.PENDING)[0] == MIDNIGHT + 160 * MINUTE
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 20, 30, 160, 170, 180)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 6, "paused": 12}

    def test_of_a_moment_between_two_runs_changes_nothing(self, diary):
        diary.cloud.advance(minutes=31)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.resume(diary.name)
        diary.cloud.advance(hours=1)
        assert diary.begun == at(*range(10, 91, 10))

    def test_ends_by_itself_when_it_was_said_until_when(self, diary):
        diary.cloud.advance(minutes=35)
        diary.cloud.jobs.pause(diary.name, until=2 * HOUR)
        diary.cloud.advance(hours=3)
        assert diary.begun == at(10, 20, 30, 160, 170, 180, 190, 200, 210)
        assert diary.job.pauses == {}
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 9, "paused": 12}

    def test_that_ends_by_itself_lets_what_comes_in_the_next_minute_run_within_it(self):
        diary = Diary(every(seconds=10))
        diary.cloud.advance(minutes=10)
        diary.cloud.jobs.pause(diary.name, until=30.5 * MINUTE)
        diary.cloud.advance(hours=1)
        ended_at = MIDNIGHT + 40.5 * MINUTE
        after = [(nominal, ran_at) for _, nominal, ran_at in diary.runs if nominal > MIDNIGHT + 10 * MINUTE]
        assert after[0][0] == ended_at + 10 * SECOND
        assert all(ran_at - nominal <= MINUTE for nominal, ran_at in after)
        assert set(accounts(diary.cloud, diary.name, MIDNIGHT)) == {"executed", "paused"}

    def test_of_one_cadence_leaves_the_others(self):
        diary = Diary(every(minutes=10), every(minutes=15))
        diary.cloud.advance(minutes=31)
        diary.cloud.jobs.pause(diary.name, cadence="Every_15m", reason="no ink")
        diary.cloud.advance(minutes=60)
        assert diary.begun == at(10, 15, 20, 30, 40, 50, 60, 70, 80, 90)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 10, "paused": 2}
        diary.cloud.jobs.resume(diary.name, cadence="Every_15m")
        diary.cloud.advance(minutes=30)
        assert diary.begun[-4:] == at(100, 105, 110, 120)

    def test_of_one_cadence_leaves_an_instant_that_another_has_too(self):
        diary = Diary(every(minutes=10), every(minutes=20))
        diary.cloud.advance(minutes=1)
        first_by_name = {each.nominal_at: each.cadence for each in diary.rows}
        diary.cloud.jobs.pause(diary.name, cadence=first_by_name[MIDNIGHT + 20 * MINUTE])
        diary.cloud.advance(minutes=40)
        assert MIDNIGHT + 20 * MINUTE in diary.begun

    def test_of_one_cadence_ends_by_itself_while_the_others_go_on(self):
        diary = Diary(every(minutes=1), every(minutes=1, seconds=30))
        diary.cloud.advance(minutes=10)
        diary.cloud.jobs.pause(diary.name, cadence="Every_1m30s", until=30 * MINUTE)
        diary.cloud.advance(hours=2)
        assert diary.job.pauses == {}
        halves = [each for each in diary.begun if each.second == 30]
        assert halves == at(1.5, 4.5, 7.5, *(40.5 + 3 * n for n in range(30)))
        told = accounts(diary.cloud, diary.name, MIDNIGHT)
        assert set(told) == {"executed", "paused"}

    def test_lets_what_runs_end_and_its_retry_run(self):
        diary = Diary(every(minutes=10), fails=1, retry=RetryPolicy(backoff=7 * MINUTE, jitter=0))
        diary.cloud.advance(minutes=11)
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.advance(hours=1)
        assert [ran_at for _, _, ran_at in diary.runs] == at(10, 17)
        assert diary.at(Status.EXECUTED) == at(10)

    def test_survives_a_deploy_of_another_schedule(self, diary):
        diary.cloud.jobs.pause(diary.name, reason="no paper")
        diary.deploy(every(minutes=5))
        diary.cloud.advance(hours=1)
        assert diary.runs == []
        assert (diary.job.version, diary.job.pauses[""].reason) == (2, "no paper")
        diary.cloud.jobs.resume(diary.name)
        diary.cloud.advance(minutes=10)
        assert diary.begun == at(65, 70)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"paused": 12, "executed": 2}

    def test_that_ended_by_itself_before_a_deploy_leaves_every_time_accounted_for(self, diary):
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.pause(diary.name, until=50 * MINUTE)
        diary.outage(HOUR)
        diary.deploy(every(minutes=5))
        diary.cloud.advance(minutes=10)
        assert diary.begun == at(60, 70, 75)
        told = accounts(diary.cloud, diary.name, MIDNIGHT)
        assert told == {"missed": 2, "paused": 3, "executed": 3}  # two were planned before the pause

    def test_of_a_paused_job_keeps_its_begin_and_takes_the_new_reason(self, diary):
        diary.cloud.jobs.pause(diary.name, reason="no paper")
        diary.cloud.advance(minutes=5)
        diary.cloud.jobs.pause(diary.name, reason="no ink", until=HOUR)
        pause = diary.job.pauses[""]
        assert (pause.since, pause.reason) == (MIDNIGHT, "no ink")
        assert pause.until == MIDNIGHT + 65 * MINUTE

    def test_of_a_cadence_that_a_deploy_has_removed_can_still_be_ended(self):
        diary = Diary(every(minutes=10), daily("09:00"))
        diary.cloud.jobs.pause(diary.name, cadence="Daily_09_00")
        diary.deploy(every(minutes=10))
        assert diary.cloud.jobs.resume(diary.name, cadence="Daily_09_00").pauses == {}

    @pytest.mark.parametrize("until", [-MINUTE, timedelta(0), MIDNIGHT])
    def test_that_would_have_ended_already_is_refused(self, diary, until):
        with pytest.raises(InvalidTime, match="has passed"):
            diary.cloud.jobs.pause(diary.name, until=until)

    def test_of_what_there_is_not_is_refused(self, diary):
        with pytest.raises(JobNotFound):
            diary.cloud.jobs.pause("no-such-job")
        with pytest.raises(JobNotFound):
            diary.cloud.jobs.pause("No job at all#")
        with pytest.raises(
            JobConflict, match=r"cannot pause job press-print: it has no cadence 'Daily_09_00'; .* Every_10m"
        ):
            diary.cloud.jobs.pause(diary.name, cadence="Daily_09_00")
        with pytest.raises(JobConflict, match="cannot resume job press-print: it is not paused"):
            diary.cloud.jobs.resume(diary.name)


class Size(Payload):
    width: int = 1


class TestATrigger:
    def test_runs_a_job_now_beside_its_times(self, diary):
        diary.cloud.advance(minutes=5)
        action = diary.cloud.jobs.trigger(diary.name)
        diary.cloud.advance(minutes=15)
        assert [(trigger, ran_at) for trigger, _, ran_at in diary.runs] == [
            ("manual", MIDNIGHT + 5 * MINUTE),
            ("cadence", MIDNIGHT + 10 * MINUTE),
            ("cadence", MIDNIGHT + 20 * MINUTE),
        ]
        run = diary.cloud.scheduler.get(action.id)
        assert (run.status, run.created_by) == (Status.EXECUTED, "simulation")
        assert diary.job.tally.triggered_by == "simulation"

    def test_works_while_the_job_is_paused(self, diary):
        diary.cloud.jobs.pause(diary.name)
        diary.cloud.jobs.trigger(diary.name)
        diary.cloud.advance(hours=1)
        assert diary.runs == [("manual", MIDNIGHT, MIDNIGHT)]

    def test_while_it_runs_is_refused_under_skip_and_says_what_is_running(self):
        refused = []

        def trigger_meanwhile(run):
            with pytest.raises(JobConflict) as conflict:
                diary.cloud.jobs.trigger(diary.name)
            refused.append(str(conflict.value))

        diary = Diary(every(minutes=10), lasts=[MINUTE])
        diary.stop_if_asked = trigger_meanwhile
        diary.cloud.advance(minutes=10)
        running = "press-print.000001.20260303T001000Z"
        assert refused == [f"cannot trigger job press-print: {running} is running, and its overlap is 'skip'"]

    def test_while_it_runs_waits_under_queue_one(self):
        diary = Diary(every(minutes=10), overlap="queue_one", lasts=[MINUTE])
        diary.stop_if_asked = lambda _run: (
            diary.cloud.jobs.trigger(diary.name),
            diary.cloud.advance(minutes=1),
        )
        diary.cloud.advance(minutes=15)
        assert [(each[0], each[2]) for each in diary.runs] == [
            ("cadence", MIDNIGHT + 10 * MINUTE),
            ("manual", MIDNIGHT + 12 * MINUTE),
        ]

    def test_gives_the_run_the_payload_that_it_says(self):
        app, given = App(), []

        @app.job(daily("09:00"), name="press-print", payload=Size(width=7))
        def press(size: Size, run: Run) -> None:
            given.append((run.trigger, size.width))

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.jobs.trigger("press-print")
        cloud.advance(seconds=1)
        cloud.jobs.trigger("press-print", payload=Size(width=9))
        cloud.advance(hours=9)
        assert given == [("manual", 7), ("manual", 9), ("cadence", 7)]

    def test_twice_in_one_second_runs_twice(self):
        diary = Diary(overlap="allow")
        first, second = (diary.cloud.jobs.trigger(diary.name) for _ in range(2))
        diary.cloud.advance(seconds=1)
        assert first.id != second.id
        assert len(diary.runs) == 2


class TestSkippingTheNext:
    def test_skips_it_and_no_other(self, diary):
        diary.cloud.advance(minutes=15)
        skipped = diary.cloud.jobs.skip_next(diary.name)
        assert (skipped.status, skipped.nominal_at) == (Status.SKIPPED, MIDNIGHT + 20 * MINUTE)
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 30, 40)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 3, "asked": 1}

    def test_twice_skips_the_two_next(self, diary):
        skipped = [diary.cloud.jobs.skip_next(diary.name).nominal_at for _ in range(2)]
        diary.cloud.advance(minutes=30)
        assert (skipped, diary.begun) == (at(10, 20), at(30))

    def test_of_one_cadence_leaves_the_others(self):
        diary = Diary(every(minutes=10), every(minutes=15))
        diary.cloud.advance(minutes=1)
        diary.cloud.jobs.skip_next(diary.name, cadence="Every_15m")
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 20, 30)

    def test_of_a_job_that_is_due_next_year_works(self):
        diary = Diary(daily("09:00", months="jan"))
        assert diary.cloud.jobs.skip_next(diary.name).nominal_at.year == 2027

    def test_once_more_than_is_planned_skips_on(self):
        diary = Diary(daily("09:00"))
        skipped = [diary.cloud.jobs.skip_next(diary.name).nominal_at for _ in range(5)]
        assert skipped == [MIDNIGHT + 9 * HOUR + each * DAY for each in range(5)]
        diary.cloud.advance(days=6)
        assert diary.begun == [MIDNIGHT + 9 * HOUR + 5 * DAY]
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 1, "asked": 5}

    def test_passes_over_what_a_pause_holds(self, diary):
        diary.cloud.advance(minutes=1)
        diary.cloud.jobs.pause(diary.name, until=timedelta(minutes=24))
        assert diary.cloud.jobs.skip_next(diary.name).nominal_at == MIDNIGHT + 30 * MINUTE
        diary.cloud.advance(minutes=54)
        assert diary.begun == at(40, 50)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 2, "paused": 2, "asked": 1}

    def test_finds_what_is_due_behind_a_cadence_that_is_paused(self):
        diary = Diary(every(minutes=10), daily("09:00"))
        diary.cloud.advance(minutes=1)
        diary.cloud.jobs.pause(diary.name, cadence="Every_10m")
        assert diary.cloud.jobs.skip_next(diary.name).nominal_at == MIDNIGHT + 9 * HOUR
        diary.cloud.advance(days=2)
        assert diary.begun == [MIDNIGHT + 33 * HOUR]

    def test_of_a_cadence_skips_none_that_runs_for_another(self):
        diary = Diary(every(minutes=10), every(minutes=15))
        diary.cloud.advance(minutes=16)
        assert (
            diary.cloud.jobs.skip_next(diary.name, cadence="Every_15m").nominal_at == MIDNIGHT + 45 * MINUTE
        )

    def test_under_a_pause_without_end_says_what_to_do(self, diary):
        diary.cloud.jobs.pause(diary.name)
        with pytest.raises(JobConflict, match="resume it first"):
            diary.cloud.jobs.skip_next(diary.name)

    def test_where_nothing_is_planned_is_refused(self, diary):
        with pytest.raises(JobConflict, match="none is to come"):
            Diary().cloud.jobs.skip_next("press-print")
        with pytest.raises(JobConflict, match="no cadence"):
            diary.cloud.jobs.skip_next(diary.name, cadence="Daily_09_00")


class TestSettings:
    def test_of_retries_hold_for_what_begins_after(self):
        diary = Diary(every(hours=1), fails=9, retry=RetryPolicy(attempts=1))
        diary.cloud.jobs.set(diary.name, attempts=3, backoff=[MINUTE, 120], jitter=0)
        diary.cloud.advance(minutes=90)
        assert [ran_at for _, _, ran_at in diary.runs] == at(60, 61, 63)
        diary.cloud.jobs.set(diary.name)
        diary.cloud.advance(minutes=60)
        assert len(diary.runs) == 4

    def test_of_one_cadence_go_before_those_of_the_job(self):
        diary = Diary(every(minutes=10), daily("00:15"), fails=99, retry=RetryPolicy(attempts=1))
        diary.cloud.jobs.set(diary.name, attempts=1)
        diary.cloud.jobs.set(diary.name, attempts=2, backoff=60, jitter=0, cadence="Daily_00_15")
        diary.cloud.advance(minutes=25)
        assert [ran_at for _, _, ran_at in diary.runs] == at(10, 15, 16, 20)

    def test_survive_a_deploy(self):
        diary = Diary(every(hours=1), fails=9)
        diary.cloud.jobs.set(diary.name, attempts=1)
        diary.deploy(every(minutes=30))
        diary.cloud.advance(minutes=45)
        assert diary.begun == at(30)
        assert diary.at(Status.FAILED) == at(30)

    def test_out_of_their_range_are_refused(self, diary):
        for bad in ({"attempts": 0}, {"backoff": -1}, {"jitter": 2}, {"backoff": "60"}):
            with pytest.raises(DeclarationError):
                diary.cloud.jobs.set(diary.name, **bad)
        assert diary.job.tuning == {}


class TestARunByItsId:
    def test_is_shown_cancelled_and_given_another_time(self, diary):
        diary.cloud.advance(minutes=1)
        scheduler = diary.cloud.scheduler
        first, second = (f"press-print.000001.20260303T00{each}000Z" for each in (1, 2))
        assert scheduler.cancel(first).status is Status.CANCELLED
        assert scheduler.reschedule(second, at=MIDNIGHT + 25 * MINUTE).status is Status.PENDING
        diary.cloud.advance(minutes=30)
        assert [ran_at for _, _, ran_at in diary.runs] == at(25, 30)
        assert scheduler.get(first).cancelled_by == "simulation"
        with pytest.raises(ActionConflict):
            scheduler.cancel(second)

    def test_that_failed_is_driven_again(self):
        diary = Diary(every(hours=1), fails=1, retry=RetryPolicy(attempts=1))
        diary.cloud.advance(minutes=61)
        (failed, *_) = diary.rows
        diary.cloud.scheduler.redrive(failed.id)
        diary.cloud.advance(minutes=1)
        assert diary.cloud.scheduler.get(failed.id).status is Status.EXECUTED
        assert [nominal for _, nominal, _ in diary.runs] == at(60, 60)

    def test_is_not_there_for_a_scheduler_that_does_not_see_the_systems(self, diary):
        diary.cloud.advance(minutes=10)
        memory = diary.cloud._cloud
        blind = Scheduler(
            memory.store,
            tenant_id="acme",
            actor="test",
            clock=diary.cloud.clock,
            settings=memory.settings,
            jobs=memory.job_ports,
            sees_system=False,
        )
        ran = diary.rows[0].id
        assert diary.cloud.scheduler.get(ran).status is Status.EXECUTED
        for call in (blind.get, blind.cancel, blind.redrive):
            with pytest.raises(ActionNotFound):
                call(ran)
        with pytest.raises(JobNotFound):
            blind.jobs.get(diary.name)
        assert list(blind.jobs.list()) == []


def history(diary, **said):
    """All runs of the job that meet what is said, page by page."""
    seen, cursor = [], None
    while True:
        page = diary.cloud.jobs.history(diary.name, cursor=cursor, **said)
        seen += page
        cursor = page.cursor
        if cursor is None:
            return seen


class TestTheHistory:
    def test_lists_the_runs_newest_first_in_pages(self, diary):
        diary.cloud.advance(hours=5)
        seen, cursor = [], None
        while True:
            page = diary.cloud.jobs.history(diary.name, limit=7, cursor=cursor)
            seen += [each.nominal_at for each in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == sorted((each.nominal_at for each in diary.rows), reverse=True)

    def test_is_filtered_by_status(self, diary):
        diary.cloud.advance(minutes=35)
        assert {each.status for each in history(diary, status="executed")} == {Status.EXECUTED}
        assert len(history(diary, status={Status.EXECUTED, "pending"})) == len(history(diary))
        assert history(diary, status="failed") == []

    def test_is_filtered_by_nominal_time_from_after_its_start_up_to_its_end(self, diary):
        diary.cloud.advance(hours=1)
        start, end = MIDNIGHT + 10 * MINUTE, MIDNIGHT + 30 * MINUTE
        told = [each.nominal_at for each in history(diary, nominal_after=start, nominal_until=end)]
        assert told == [end, MIDNIGHT + 20 * MINUTE]
        recent = history(diary, nominal_after=-25 * MINUTE, nominal_until=timedelta(0))
        assert [each.nominal_at for each in recent] == [MIDNIGHT + each * MINUTE for each in (60, 50, 40)]

    def test_that_is_filtered_has_short_pages_that_lead_on_to_all_that_is_meant(self, diary):
        diary.cloud.advance(hours=2)
        end = MIDNIGHT + 20 * MINUTE
        first = diary.cloud.jobs.history(diary.name, nominal_until=end, limit=3)
        assert (len(first), first.cursor is None) == (0, False)
        told = [each.nominal_at for each in history(diary, nominal_until=end, limit=3)]
        assert told == [end, MIDNIGHT + 10 * MINUTE]

    @pytest.mark.parametrize(
        ("said", "refusal"),
        [
            ({"status": "done"}, InvalidSelection),
            ({"status": []}, InvalidSelection),
            ({"nominal_after": MIDNIGHT, "nominal_until": MIDNIGHT}, InvalidSelection),
            ({"nominal_after": MIDNIGHT.replace(tzinfo=None)}, InvalidTime),
        ],
    )
    def test_of_what_cannot_be_meant_is_refused(self, diary, said, refusal):
        with pytest.raises(refusal):
            diary.cloud.jobs.history(diary.name, **said)

    def test_of_event_runs_and_of_triggered_ones_is_one_list(self):
        diary = Diary(on_event("kb", "Uploaded"), every(minutes=10), overlap="allow")
        diary.cloud.advance(minutes=11)
        diary.cloud.send_event("kb", "Uploaded", {})
        diary.cloud.advance(minutes=1)
        diary.cloud.jobs.trigger(diary.name)
        diary.cloud.advance(minutes=1)
        seen = [
            each.trigger for each in diary.cloud.jobs.history(diary.name) if each.status is Status.EXECUTED
        ]
        assert seen == ["manual", "event", "cadence"]

    def test_of_a_job_that_is_not_there_is_refused(self, diary):
        with pytest.raises(JobNotFound):
            diary.cloud.jobs.history("no-such-job")


def test_jobs_are_listed_by_name_in_pages_codes_before_ones_own(diary):
    names, cursor = [], None
    while True:
        page = diary.cloud.jobs.list(limit=1, cursor=cursor)
        names += [each.name for each in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert names == ["duetime-catch-up", "duetime-sweep", "press-print"]


def test_a_days_tally_tells_of_the_last_run():
    diary = Diary(every(hours=1), fails=2, retry=RetryPolicy(attempts=1))
    diary.cloud.advance(hours=2)
    assert diary.job.tally.consecutive_failures == 2
    diary.cloud.advance(DAY)
    tally = diary.job.tally
    assert (tally.executed, tally.failed, tally.consecutive_failures) == (24, 2, 0)
    assert (tally.last_status, tally.last_started_at) == ("executed", diary.cloud.now)
