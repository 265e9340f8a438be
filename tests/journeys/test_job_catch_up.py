"""Nominal times that were planned or claimed too late, in simulated time."""

from dataclasses import replace

import pytest

from duetime import daily, every
from duetime.errors import BackendUnavailable
from duetime.settings import Settings
from tests.hooked import Hooked
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at, grid


class TestAnOutage:
    def test_drops_missed_runs_and_records_them(self):
        recorded = RecordedJob(every(minutes=1))
        recorded.cloud.advance(hours=1)
        recorded.outage(HOUR + 5 * SECOND)
        recorded.cloud.advance(hours=1)
        in_the_grace = at(*range(111, 121))
        assert sorted(recorded.begun) == [*at(*range(1, 61)), *in_the_grace, *at(*range(121, 181))]
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 130, "missed": 50}

    def test_makes_no_more_late_runs_than_the_grace_holds(self):
        settings = Settings(grace=10 * SECOND, job_grace=80 * SECOND)
        recorded = RecordedJob(every(seconds=10), settings=settings)
        recorded.cloud.advance(minutes=20)
        recorded.outage(2 * HOUR)
        ended_at = recorded.cloud.now
        recorded.cloud.advance(minutes=20)
        late = [nominal for _, nominal, ran_at in recorded.runs if ran_at > nominal]
        assert late
        assert min(late) >= ended_at - 80 * SECOND
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert shown["missed"] + shown["executed"] == 160 * 6
        assert len(recorded.runs) == shown["executed"]

    def test_of_a_month_costs_a_few_rows_however_often_the_job_is_due(self):
        recorded = RecordedJob(every(seconds=1))
        recorded.cloud.advance(minutes=5)
        before = len(recorded.rows)
        recorded.outage(30 * DAY)
        recorded.cloud.advance(seconds=1)
        assert len(recorded.rows) - before < 1_200
        later = [item for item in recorded.begun if item > MIDNIGHT + HOUR]
        assert min(later) >= recorded.cloud.now - 601 * SECOND

    def test_is_followed_by_the_configured_number_of_catch_up_runs(self):
        recorded = RecordedJob(every(minutes=10), catch_up=3)
        recorded.cloud.advance(minutes=35)
        recorded.outage(HOUR)
        recorded.cloud.advance(minutes=15)
        ended_at = MIDNIGHT + 95 * MINUTE
        assert [run for run in recorded.runs if run[0] == "catch-up"] == [
            ("catch-up", nominal, ended_at + place * 5 * SECOND)
            for place, nominal in enumerate(at(60, 70, 80))
        ]
        assert sorted(recorded.begun) == at(10, 20, 30, 60, 70, 80, 90, 100, 110)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 9, "missed": 2}

    def test_shorter_than_the_configured_number_of_runs_is_made_up_for(self):
        recorded = RecordedJob(every(minutes=10), catch_up=9)
        recorded.cloud.advance(minutes=35)
        recorded.outage(HOUR)
        recorded.cloud.advance(minutes=15)
        assert sorted(recorded.begun) == at(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 11}

    def test_is_made_up_for_by_runs_that_wait_for_the_lock(self):
        recorded = RecordedJob(every(minutes=10), catch_up=3)
        recorded.cloud.advance(minutes=35)
        recorded.outage(HOUR)
        recorded.lasts.extend([21 * SECOND] * 4)
        recorded.cloud.advance(minutes=4)
        assert sorted(recorded.begun) == at(10, 20, 30, 60, 70, 80, 90)
        assert recorded.begun == recorded.ended
        assert not [item for item in recorded.skipped() if item[1] == "overlap"]

    def test_runs_late_if_the_missed_run_was_planned_before(self):
        """The next runs of a daily job are always planned, so what it misses has a row already."""
        recorded = RecordedJob(daily("02:30"), catch_up=1)
        recorded.cloud.advance(hours=2)
        recorded.outage(HOUR)
        recorded.cloud.advance(days=1)
        due = MIDNIGHT + 2.5 * HOUR
        assert recorded.runs == [("catch-up", due, MIDNIGHT + 3 * HOUR), ("cadence", due + DAY, due + DAY)]
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 2}

    def test_does_not_run_late_unless_the_job_enables_it(self):
        recorded = RecordedJob(daily("02:30"))
        recorded.cloud.advance(hours=2)
        recorded.outage(HOUR)
        recorded.cloud.advance(days=1)
        due = MIDNIGHT + 2.5 * HOUR
        assert recorded.begun == [due + DAY]
        assert recorded.skipped() == [(due, "missed")]
        (row, *_) = recorded.rows
        assert row.note == "it could be claimed only 1800 s after it was due"

    def test_of_days_is_followed_by_the_latest_run_alone(self):
        recorded = RecordedJob(daily("02:30"), catch_up=1)
        recorded.cloud.advance(hours=2)
        recorded.outage(5 * DAY)
        recorded.cloud.advance(hours=1)
        assert [nominal for _, nominal, _ in recorded.runs[:1]] == [MIDNIGHT + 4 * DAY + 2.5 * HOUR]
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT)["missed"] == 4

    def test_of_one_paused_cadence_leaves_catch_up_runs_to_the_others(self):
        recorded = RecordedJob(every(minutes=1), every(minutes=10), catch_up=2)
        recorded.cloud.advance(minutes=35)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_1m")
        recorded.cloud.advance(minutes=25)
        recorded.outage(65 * MINUTE)
        recorded.cloud.advance(minutes=1)
        made_up = [nominal for trigger, nominal, _ in recorded.runs if trigger == "catch-up"]
        assert made_up == at(100, 110)


class TestALateClaim:
    def test_within_the_grace_is_run_late(self):
        recorded = RecordedJob(every(hours=1))
        recorded.cloud.advance(minutes=59)
        recorded.outage(10 * MINUTE)
        recorded.cloud.advance(minutes=1)
        assert recorded.runs == [("cadence", *at(60, 69))]

    def test_past_the_grace_is_missed(self):
        recorded = RecordedJob(every(hours=1))
        recorded.cloud.advance(minutes=59)
        recorded.outage(11 * MINUTE + SECOND)
        recorded.cloud.advance(minutes=1)
        assert recorded.runs == []
        assert recorded.skipped() == [(MIDNIGHT + HOUR, "missed")]

    def test_a_triggered_run_is_never_missed(self):
        recorded = RecordedJob(every(hours=1))
        recorded.cloud.jobs.trigger(recorded.name)
        recorded.outage(5 * HOUR)
        recorded.cloud.advance(seconds=1)
        assert ("manual", MIDNIGHT, MIDNIGHT + 5 * HOUR) in recorded.runs


class TestLostWakes:
    @pytest.mark.parametrize("step", [10 * SECOND, MINUTE, 7 * MINUTE, HOUR, 5 * HOUR])
    @pytest.mark.parametrize("lost", ["all", "every other"])
    def test_are_repaired_before_a_run_is_late(self, step, lost):
        recorded = RecordedJob(every(seconds=step.total_seconds()))
        memory, count = recorded.cloud.memory, [0]
        memory.job_wakes = Hooked(memory.job_wakes)

        def faulty(fire, now):
            fired = fire(now)
            count[0] += bool(fired)
            return () if lost == "all" or count[0] % 2 else fired

        memory.job_wakes.hooks["fire"] = faulty
        recorded.cloud.advance(20 * MINUTE if step < MINUTE else 3 * HOUR if step < HOUR else 72 * HOUR)
        assert all(nominal == ran_at for _, nominal, ran_at in recorded.runs)
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert set(shown) == {"executed"}
        assert shown["executed"] == len(recorded.runs)


class TestTheSwitch:
    @pytest.fixture
    def settings(self):
        return Settings(enabled=False)

    def test_off_lists_jobs_and_fires_none(self, settings):
        recorded = RecordedJob(every(minutes=10), settings=settings)
        recorded.cloud.advance(hours=5)
        assert (recorded.rows, recorded.runs) == ([], [])
        assert recorded.name in {item.name for item in recorded.cloud.jobs.list()}

    def test_switching_on_again_leaves_missed_runs_recorded(self, settings):
        recorded = RecordedJob(every(minutes=10), settings=settings)
        recorded.cloud.advance(hours=5)
        recorded.switch(on=True)
        recorded.cloud.advance(hours=1)
        assert sorted(recorded.begun)[-6:] == at(310, 320, 330, 340, 350, 360)
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert shown["missed"] >= 28
        assert shown["missed"] + shown["executed"] == 36

    def test_on_again_catches_up_as_the_job_is_configured(self, settings):
        recorded = RecordedJob(every(minutes=10), settings=settings, catch_up=2)
        recorded.cloud.advance(hours=5)
        recorded.switch(on=True)
        recorded.cloud.advance(hours=1)
        assert [nominal for trigger, nominal, _ in recorded.runs if trigger == "catch-up"] == at(280, 290)

    def test_off_for_a_deploy_still_leaves_every_time_accounted_for(self, settings):
        recorded = RecordedJob(every(minutes=10), settings=settings)
        recorded.cloud.advance(hours=2)
        recorded.deploy(every(minutes=20))
        recorded.cloud.advance(hours=2)
        recorded.cloud.deploy(RecordedJob(name="other-job").app())
        recorded.cloud.advance(hours=2)
        recorded.deploy(every(minutes=20))
        recorded.switch(on=True)
        recorded.cloud.advance(hours=2)
        assert recorded.begun == at(*range(380, 481, 20))
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert shown == {"missed": 12 + 6, "disabled": 6, "executed": 6}

    def test_switching_off_and_on_runs_late_within_the_grace(self, settings):
        recorded = RecordedJob(every(minutes=10), settings=replace(settings, enabled=True))
        recorded.cloud.advance(minutes=25)
        recorded.switch(on=False)
        recorded.cloud.advance(minutes=50)
        assert recorded.begun == at(10, 20)
        recorded.switch(on=True)
        recorded.cloud.advance(minutes=45)
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT)
        assert sum(shown.values()) == 12
        assert sorted(recorded.begun)[-3:] == at(100, 110, 120)


class TestACrash:
    def test_between_the_rows_and_the_cursor_neither_loses_nor_doubles_a_run(self):
        recorded, crashes = RecordedJob(every(minutes=1)), [0]

        def crash(move, *arguments, **more):
            crashes[0] += 1
            if crashes[0] % 3:
                raise BackendUnavailable("the jobs table", "it crashed")
            return move(*arguments, **more)

        recorded.hook("jobs").hooks["move_cursor"] = crash
        until = MIDNIGHT + 2 * HOUR
        while recorded.cloud.now < until:
            try:
                recorded.cloud.advance(until - recorded.cloud.now)
            except BackendUnavailable:
                continue
        assert crashes[0] > 100
        assert sorted(recorded.begun) == grid(MIDNIGHT, MINUTE, 120)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 120}
