"""What becomes of nominal times that nobody planned, or nobody could claim in time in simulated time."""

from itertools import pairwise

import pytest

from duetime import daily, every
from duetime.errors import BackendUnavailable
from duetime.settings import Settings
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at, grid


class TestAnOutage:
    def test_drops_what_was_missed_and_records_it(self):
        printed = RecordedJob(every(minutes=1))
        printed.cloud.advance(hours=1)
        printed.outage(HOUR + 5 * SECOND)
        printed.cloud.advance(hours=1)
        in_the_grace = at(*range(111, 121))
        assert sorted(printed.begun) == [*at(*range(1, 61)), *in_the_grace, *at(*range(121, 181))]
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 130, "missed": 50}

    def test_makes_no_more_late_runs_than_the_grace_holds(self):
        settings = Settings(grace=10 * SECOND, job_grace=80 * SECOND)
        printed = RecordedJob(every(seconds=10), settings=settings)
        printed.cloud.advance(hours=1)
        printed.outage(5 * HOUR)
        ended_at = printed.cloud.now
        printed.cloud.advance(hours=1)
        late = [nominal for _, nominal, ran_at in printed.runs if ran_at > nominal]
        assert late
        assert min(late) >= ended_at - 80 * SECOND
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert shown["missed"] + shown["executed"] == 7 * 360
        assert len(printed.runs) == shown["executed"]

    def test_of_a_month_costs_a_few_rows_however_often_the_job_is_due(self):
        printed = RecordedJob(every(seconds=1))
        printed.cloud.advance(minutes=5)
        before = len(printed.rows)
        printed.outage(30 * DAY)
        printed.cloud.advance(seconds=1)
        assert len(printed.rows) - before < 1_200
        later = [item for item in printed.begun if item > MIDNIGHT + HOUR]
        assert min(later) >= printed.cloud.now - 601 * SECOND

    def test_is_made_up_for_by_the_latest_runs_that_the_job_asks_for(self):
        printed = RecordedJob(every(minutes=10), catch_up=3)
        printed.cloud.advance(minutes=35)
        printed.outage(HOUR)
        printed.cloud.advance(minutes=15)
        ended_at = MIDNIGHT + 95 * MINUTE
        assert [run for run in printed.runs if run[0] == "catch-up"] == [
            ("catch-up", nominal, ended_at + place * 5 * SECOND)
            for place, nominal in enumerate(at(60, 70, 80))
        ]
        assert sorted(printed.begun) == at(10, 20, 30, 60, 70, 80, 90, 100, 110)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 9, "missed": 2}

    def test_is_made_up_for_with_the_spread_of_the_settings(self):
        printed = RecordedJob(every(minutes=10), catch_up=4, settings=Settings(catch_up_spread=2 * MINUTE))
        printed.cloud.advance(minutes=35)
        printed.outage(2 * HOUR)
        printed.cloud.advance(minutes=15)
        made_up = [ran_at for trigger, _, ran_at in printed.runs if trigger == "catch-up"]
        assert [then - first for first, then in pairwise(made_up)] == [2 * MINUTE] * 3

    def test_is_made_up_for_by_runs_that_wait_for_the_lock(self):
        printed = RecordedJob(every(minutes=10), catch_up=3)
        printed.cloud.advance(minutes=35)
        printed.outage(HOUR)
        printed.lasts.extend([21 * SECOND] * 4)
        printed.cloud.advance(minutes=4)
        assert sorted(printed.begun) == at(10, 20, 30, 60, 70, 80, 90)
        assert printed.begun == printed.ended
        assert not [item for item in printed.skipped() if item[1] == "overlap"]

    def test_is_made_up_for_where_the_missed_run_was_planned_before(self):
        """The next runs of a daily job are always planned, so what it misses has a row already."""
        printed = RecordedJob(daily("02:30"), catch_up=1)
        printed.cloud.advance(hours=2)
        printed.outage(HOUR)
        printed.cloud.advance(days=1)
        due = MIDNIGHT + 2.5 * HOUR
        assert printed.runs == [("catch-up", due, MIDNIGHT + 3 * HOUR), ("cadence", due + DAY, due + DAY)]
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 2}

    def test_is_not_made_up_for_where_the_job_does_not_ask_for_it(self):
        printed = RecordedJob(daily("02:30"))
        printed.cloud.advance(hours=2)
        printed.outage(HOUR)
        printed.cloud.advance(days=1)
        due = MIDNIGHT + 2.5 * HOUR
        assert printed.begun == [due + DAY]
        assert printed.skipped() == [(due, "missed")]
        (row, *_) = printed.rows
        assert row.note == "it could be claimed only 1800 s after it was due"

    def test_of_days_is_made_up_for_by_the_latest_run_alone(self):
        printed = RecordedJob(daily("02:30"), catch_up=1)
        printed.cloud.advance(hours=2)
        printed.outage(5 * DAY)
        printed.cloud.advance(hours=1)
        assert [nominal for _, nominal, _ in printed.runs[:1]] == [MIDNIGHT + 4 * DAY + 2.5 * HOUR]
        assert accounts(printed.cloud, printed.name, MIDNIGHT)["missed"] == 4

    def test_of_one_cadence_that_is_paused_leaves_what_is_made_up_for_to_the_others(self):
        printed = RecordedJob(every(minutes=1), every(minutes=10), catch_up=2)
        printed.cloud.advance(minutes=35)
        printed.cloud.jobs.pause(printed.name, cadence="Every_1m")
        printed.cloud.advance(minutes=25)
        printed.outage(65 * MINUTE)
        printed.cloud.advance(minutes=1)
        made_up = [nominal for trigger, nominal, _ in printed.runs if trigger == "catch-up"]
        assert made_up == at(100, 110)


class TestALateClaim:
    def test_within_the_grace_is_run_late(self):
        printed = RecordedJob(every(hours=1))
        printed.cloud.advance(minutes=59)
        printed.outage(10 * MINUTE)
        printed.cloud.advance(minutes=1)
        assert printed.runs == [("cadence", *at(60, 69))]

    def test_past_the_grace_is_missed(self):
        printed = RecordedJob(every(hours=1))
        printed.cloud.advance(minutes=59)
        printed.outage(11 * MINUTE + SECOND)
        printed.cloud.advance(minutes=1)
        assert printed.runs == []
        assert printed.skipped() == [(MIDNIGHT + HOUR, "missed")]

    def test_a_triggered_run_is_never_missed(self):
        printed = RecordedJob(every(hours=1))
        printed.cloud.jobs.trigger(printed.name)
        printed.outage(5 * HOUR)
        printed.cloud.advance(seconds=1)
        assert ("manual", MIDNIGHT, MIDNIGHT + 5 * HOUR) in printed.runs


class TestLostWakes:
    @pytest.mark.parametrize("step", [10 * SECOND, MINUTE, 7 * MINUTE, HOUR, 5 * HOUR])
    @pytest.mark.parametrize("lost", ["all", "every other"])
    def test_are_made_good_before_anything_is_late(self, monkeypatch, step, lost):
        printed = RecordedJob(every(seconds=step.total_seconds()))
        wakes, count = printed.cloud.memory.job_wakes, [0]
        fire = wakes.fire

        def faulty(now):
            fired = fire(now)
            count[0] += bool(fired)
            return () if lost == "all" or count[0] % 2 else fired

        monkeypatch.setattr(wakes, "fire", faulty)
        hours = 3 if step < HOUR else 72
        printed.cloud.advance(hours=hours)
        assert all(nominal == ran_at for _, nominal, ran_at in printed.runs)
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert set(shown) == {"executed"}
        assert shown["executed"] == len(printed.runs)


class TestTheSwitch:
    @pytest.fixture
    def settings(self):
        return Settings(enabled=False)

    def switch(self, settings, *, on):
        object.__setattr__(settings, "enabled", on)

    def test_off_lists_jobs_and_fires_none(self, settings):
        printed = RecordedJob(every(minutes=10), settings=settings)
        printed.cloud.advance(hours=5)
        assert (printed.rows, printed.runs) == ([], [])
        assert printed.name in {item.name for item in printed.cloud.jobs.list()}

    def test_on_again_leaves_what_was_missed_recorded(self, settings):
        printed = RecordedJob(every(minutes=10), settings=settings)
        printed.cloud.advance(hours=5)
        self.switch(settings, on=True)
        printed.cloud.advance(hours=1)
        assert sorted(printed.begun)[-6:] == at(310, 320, 330, 340, 350, 360)
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert shown["missed"] >= 28
        assert shown["missed"] + shown["executed"] == 36

    def test_on_again_catches_up_as_the_job_is_configured(self, settings):
        printed = RecordedJob(every(minutes=10), settings=settings, catch_up=2)
        printed.cloud.advance(hours=5)
        self.switch(settings, on=True)
        printed.cloud.advance(hours=1)
        assert [nominal for trigger, nominal, _ in printed.runs if trigger == "catch-up"] == at(280, 290)

    def test_off_for_a_deploy_still_leaves_every_time_accounted_for(self, settings):
        printed = RecordedJob(every(minutes=10), settings=settings)
        printed.cloud.advance(hours=2)
        printed.deploy(every(minutes=20))
        printed.cloud.advance(hours=2)
        printed.cloud.deploy(RecordedJob(name="other-job").app())
        printed.cloud.advance(hours=2)
        printed.deploy(every(minutes=20))
        self.switch(settings, on=True)
        printed.cloud.advance(hours=2)
        assert printed.begun == at(*range(380, 481, 20))
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert shown == {"missed": 12 + 6, "disabled": 6, "executed": 6}

    def test_off_and_on_again_in_a_while_runs_late_what_is_within_the_grace(self, settings):
        self.switch(settings, on=True)
        printed = RecordedJob(every(minutes=10), settings=settings)
        printed.cloud.advance(minutes=25)
        self.switch(settings, on=False)
        printed.cloud.advance(minutes=50)
        assert printed.begun == at(10, 20)
        self.switch(settings, on=True)
        printed.cloud.advance(minutes=45)
        shown = accounts(printed.cloud, printed.name, MIDNIGHT)
        assert sum(shown.values()) == 12
        assert sorted(printed.begun)[-3:] == at(100, 110, 120)


class TestACrash:
    def test_between_the_rows_and_the_cursor_neither_loses_nor_doubles_a_run(self, monkeypatch):
        printed = RecordedJob(every(minutes=1))
        store, crashes = printed.cloud.memory.job_store, [0]
        move = store.move_cursor

        def crash(*arguments, **more):
            crashes[0] += 1
            if crashes[0] % 3:
                raise BackendUnavailable("the jobs table", "it crashed")
            return move(*arguments, **more)

        monkeypatch.setattr(store, "move_cursor", crash)
        until = MIDNIGHT + 2 * HOUR
        while printed.cloud.now < until:
            try:
                printed.cloud.advance(until - printed.cloud.now)
            except BackendUnavailable:
                continue
        assert crashes[0] > 100
        assert sorted(printed.begun) == grid(MIDNIGHT, MINUTE, 120)
        assert accounts(printed.cloud, printed.name, MIDNIGHT) == {"executed": 120}
