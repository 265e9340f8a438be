"""The nightly recount in simulated time: it finds a planner without one of its rules, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Calendar, Run, cron, daily, every, interval, manual
from duetime.cadence import bounds
from duetime.cadence import cadence as cadence_module
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.walk import BY_THE_CLOCK, MOVED_AND_REPEATED, SKIPPED_AND_ONCE
from duetime.jobs import maintain, plan
from duetime.jobs.maintain import resumed
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import Action
from duetime.model.cadence_set import CadenceSet
from duetime.model.metric import Metric
from duetime.model.recount import BOOKMARK, RecountProblem, RecountReport, last_report
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import DAY, HOUR, MINUTE, SECOND, RecordedJob

SUNDAYS = {"autumn": datetime(2026, 10, 24, tzinfo=UTC), "spring": datetime(2026, 3, 28, tzinfo=UTC)}
THURSDAY = datetime(2026, 12, 24, tzinfo=UTC)
HOLIDAYS = Calendar(exclude=["12-25"], instead="next_business_day", name="fr")


@pytest.fixture(autouse=True)
def unread_cadences():
    """A cadence that was read under a mutation, or before it, must not be used after it."""
    from duetime.cadence import _parse, days  # noqa: PLC0415 - used here alone

    def forget():
        CadenceSet.parse.cache_clear()
        for cached in (getattr(_parse.parse, "cache_clear", None), days.month_in.cache_clear):
            if cached is not None:
                cached()

    forget()
    yield
    forget()


def report_of(cloud: SimulatedCloud) -> RecountReport:
    report = last_report(cloud.memory.backends.bookmarks.read(BOOKMARK))
    assert report is not None
    return report


def problems_of(cloud: SimulatedCloud) -> set[tuple[RecountProblem, str]]:
    return {(found.problem, f"{found.at:%m-%d %H:%M:%S}") for found in report_of(cloud).findings}


def kinds_of(cloud: SimulatedCloud) -> set[RecountProblem]:
    return {found.problem for found in report_of(cloud).findings}


def lived(*cadences, start, days=3, **options) -> RecordedJob:
    recorded = RecordedJob(*cadences, start=start, **options)
    recorded.cloud.advance(days=days)
    return recorded


def lose_the_row_of_five(monkeypatch) -> None:
    put = MemoryStore.put

    def lose(store: MemoryStore, row: Action) -> None:
        if not row.id.endswith("20261224T050000Z"):
            put(store, row)

    monkeypatch.setattr(MemoryStore, "put", lose)


class TestAPlannerWithoutARule:
    """Each test lives some days with a planner that lacks one rule; the recount shares no code with it."""

    def test_that_repeats_a_fixed_time_in_the_hour_that_comes_twice(self, monkeypatch):
        monkeypatch.setattr(Modifiers, "dst_policy", lambda *_self, **_kind: MOVED_AND_REPEATED)
        recorded = lived(daily("02:30", tz="Europe/Paris"), start=SUNDAYS["autumn"])
        assert problems_of(recorded.cloud) == {(RecountProblem.NOT_NOMINAL, "10-25 01:30:00")}

    def test_that_drops_the_times_of_a_gap(self, monkeypatch):
        monkeypatch.setattr(Modifiers, "dst_policy", lambda *_self, **_kind: SKIPPED_AND_ONCE)
        recorded = lived(daily("02:30", tz="Europe/Paris"), start=SUNDAYS["spring"])
        assert problems_of(recorded.cloud) == {(RecountProblem.NO_ROW, "03-29 01:00:00")}

    def test_that_follows_the_clock_in_a_gap(self, monkeypatch):
        monkeypatch.setattr(Modifiers, "dst_policy", lambda *_self, **_kind: BY_THE_CLOCK)
        recorded = lived(cron("30 2 * * *", tz="Europe/Paris", dst="vixie"), start=SUNDAYS["spring"])
        assert problems_of(recorded.cloud) == {(RecountProblem.NO_ROW, "03-29 01:00:00")}

    def test_that_runs_on_a_holiday(self, monkeypatch):
        monkeypatch.setattr(Calendar, "_leaves", lambda *_day: True)
        recorded = lived(daily("09:00", calendar=Calendar(exclude=["12-25"])), start=THURSDAY)
        assert problems_of(recorded.cloud) == {(RecountProblem.NOT_NOMINAL, "12-25 09:00:00")}

    def test_that_moves_nothing_from_a_holiday(self, monkeypatch):
        def applied(calendar, month, admitted, _regular):
            days = [n for n in range(month.length) if admitted >> n & 1]
            return sum(1 << n for n in days if calendar.leaves(month.first + n))

        monkeypatch.setattr(Calendar, "applied", applied)
        recorded = lived(daily("09:00", days="fri", calendar=HOLIDAYS), start=THURSDAY, days=6)
        assert problems_of(recorded.cloud) == {(RecountProblem.NO_ROW, "12-28 09:00:00")}

    def test_that_ignores_a_window(self, monkeypatch):
        monkeypatch.setattr(
            "duetime.cadence.walk.Windowed.first_from", lambda self, at: self.times.first_from(at)
        )
        recorded = lived(every(hours=6, window=("00:00", "07:00")), start=THURSDAY, days=2)
        assert kinds_of(recorded.cloud) == {RecountProblem.NOT_NOMINAL}

    def test_that_ignores_the_spread(self, monkeypatch):
        monkeypatch.setattr(bounds.Bounds, "delay_of", lambda *_key: 0)
        recorded = lived(daily("09:00", spread="1h"), start=THURSDAY, days=2)
        assert {problem for problem, _ in problems_of(recorded.cloud)} == {
            RecountProblem.NOT_NOMINAL,
            RecountProblem.NO_ROW,
        }

    def test_that_counts_an_interval_one_second_late(self, monkeypatch):
        monkeypatch.setattr(cadence_module, "instant_at", lambda at: datetime.fromtimestamp(at + 1, UTC))
        recorded = lived(interval(hours=5), start=THURSDAY, days=2)
        assert {problem for problem, _ in problems_of(recorded.cloud)} == {
            RecountProblem.NOT_NOMINAL,
            RecountProblem.NO_ROW,
        }

    def test_that_catches_nothing_up(self, monkeypatch):
        monkeypatch.setattr(plan, "_latest", lambda *_missed: ())
        recorded = RecordedJob(every(hours=1), catch_up=2, start=THURSDAY)
        recorded.cloud.advance(hours=2, minutes=5)
        recorded.outage(6 * HOUR)
        recorded.cloud.advance(days=1)
        assert problems_of(recorded.cloud) == {
            (RecountProblem.NOT_MADE_UP_FOR, "12-24 06:00:00"),
            (RecountProblem.NOT_MADE_UP_FOR, "12-24 07:00:00"),
        }

    def test_that_records_no_missed_times(self, monkeypatch):
        move = MemoryJobStore.move_cursor
        monkeypatch.setattr(MemoryJobStore, "move_cursor", lambda *of, **_missed: move(*of))
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(hours=2, minutes=5)
        recorded.outage(6 * HOUR)
        recorded.cloud.advance(days=1)
        found = {(RecountProblem.NO_ROW, f"12-24 0{hour}:00:00") for hour in (5, 6, 7)}
        assert problems_of(recorded.cloud) == found

    def test_that_forgets_a_pause_when_it_ends(self, monkeypatch):
        monkeypatch.setattr(maintain, "resumed", lambda *of: (resumed(*of)[0], ()))
        monkeypatch.setattr("duetime.jobs.operate.resumed", lambda *of: (resumed(*of)[0], ()))
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(minutes=30)
        recorded.cloud.jobs.pause("press-print", reason="a mistake")
        recorded.cloud.advance(hours=5)
        recorded.cloud.jobs.resume("press-print")
        recorded.cloud.advance(days=1)
        assert kinds_of(recorded.cloud) == {RecountProblem.NO_ROW}

    def test_that_plans_no_more(self, monkeypatch):
        recorded = lived(every(hours=1), start=THURSDAY, days=1)
        monkeypatch.setattr(plan.Plan, "__call__", lambda *_ref: plan.Planned())
        recorded.cloud.advance(days=2)
        assert kinds_of(recorded.cloud) == {RecountProblem.NOT_PLANNED}

    def test_that_loses_a_row(self, monkeypatch):
        put = MemoryStore.put
        monkeypatch.setattr(
            MemoryStore,
            "put",
            lambda self, row: None if row.id.endswith("20261224T050000Z") else put(self, row),
        )
        recorded = lived(every(hours=1), start=THURSDAY, days=2)
        assert problems_of(recorded.cloud) == {(RecountProblem.NO_ROW, "12-24 05:00:00")}

    def test_that_writes_each_row_a_second_time(self, monkeypatch):
        row_of = plan.Plan._row
        twice = []

        def doubled(self, job, due, *rest, **options):
            self._actions.put(row_of(self, job, replace(due, at=due.at + SECOND), *rest, **options))
            twice.append(due.at)
            return row_of(self, job, due, *rest, **options)

        monkeypatch.setattr(plan.Plan, "_row", doubled)
        recorded = lived(every(hours=12), start=THURSDAY, days=2)
        assert twice
        assert kinds_of(recorded.cloud) == {RecountProblem.NOT_NOMINAL}

    def test_that_skips_without_a_reason(self, monkeypatch):
        end = MemoryJobStore.end_pending
        monkeypatch.setattr(
            MemoryJobStore,
            "end_pending",
            lambda self, row, ended, ref: end(self, row, replace(ended, skip_reason=None), ref),
        )
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(minutes=30)
        recorded.cloud.jobs.skip_next("press-print")
        recorded.cloud.advance(days=1)
        assert problems_of(recorded.cloud) == {(RecountProblem.NO_REASON, "12-24 01:00:00")}


class TestAFinding:
    @pytest.fixture
    def cloud(self, monkeypatch):
        put = MemoryStore.put
        monkeypatch.setattr(
            MemoryStore,
            "put",
            lambda self, row: None if row.id.endswith("20261224T050000Z") else put(self, row),
        )
        return RecordedJob(every(hours=1), start=THURSDAY).cloud

    def test_is_an_event_once_though_two_recounts_find_it(self, cloud):
        cloud.advance(days=3)
        events = [event["detail"] for event in cloud.events("job.unaccounted")]
        assert [event["job"]["nominal_at"][:10] for event in events] == ["2026-12-24"]
        assert events[0]["job"] == {
            "name": "press-print",
            "nominal_at": "2026-12-24T05:00:00.000000Z",
            "problem": "no_row",
            "run_id": None,
            "reason": None,
        }
        assert cloud.metrics.total(Metric.UNACCOUNTED) == 1

    def test_is_reported_as_stuck_work_which_raises_the_alarm_of_undelivered_inputs(self, cloud):
        reported = []
        cloud.memory.steps.recount._report_stuck = reported.append
        cloud.advance(days=2)
        assert [text.partition(";")[0] for text in reported] == ["a recount found 1", "a recount found 1"]
        assert "no_row: press-print at 2026-12-24T05:00:00Z" in reported[0]


class TestNothingIsFound:
    """All that may happen to a job's time is accounted for."""

    def check(self, recorded, *, has_backfill=False, **accounts):
        recorded.cloud.advance(hours=30)
        report = report_of(recorded.cloud)
        assert (report.found, report.unread, report.next_job) == (0, (), "")
        assert {name: count for name, count in report.times.items() if name in accounts} == accounts
        if not has_backfill:  # `explain` has an entry for each run of a backfill, too
            recorded.cloud.check()

    def test_after_days_of_runs_at_changes_of_the_clocks(self):
        for start in SUNDAYS.values():
            recorded = lived(
                daily("02:30", tz="Europe/Paris"), every(minutes=20, tz="Europe/Paris"), start=start, days=2
            )
            self.check(recorded)

    def test_after_an_outage_with_runs_made_up_for(self):
        recorded = RecordedJob(every(hours=1), catch_up=2, start=THURSDAY)
        recorded.cloud.advance(hours=2, minutes=5)
        recorded.outage(6 * HOUR)
        self.check(recorded, missed=3, executed=21)

    def test_after_a_change_of_the_number_made_up_for(self):
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(hours=2, minutes=5)
        recorded.outage(6 * HOUR)
        recorded.cloud.advance(minutes=5)
        recorded.deploy(every(hours=1), catch_up=2)
        self.check(recorded, missed=5)

    def test_after_pauses_of_a_job_and_of_a_cadence(self):
        recorded = RecordedJob(every(hours=1), daily("04:30"), start=THURSDAY)
        recorded.cloud.advance(minutes=30)
        recorded.cloud.jobs.pause("press-print", until=timedelta(hours=3))
        recorded.cloud.advance(hours=4)
        recorded.cloud.jobs.pause("press-print", cadence="Daily_04_30", until=timedelta(hours=30))
        recorded.cloud.advance(hours=2)
        recorded.cloud.jobs.pause("press-print")
        self.check(recorded)
        recorded.cloud.jobs.resume("press-print")
        self.check(recorded)

    def test_after_a_skip_a_backfill_and_a_manual_run(self):
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(minutes=30)
        recorded.cloud.jobs.skip_next("press-print")
        recorded.cloud.jobs.trigger("press-print")
        recorded.cloud.advance(hours=5)
        recorded.cloud.jobs.backfill("press-print", THURSDAY - DAY, THURSDAY + 2 * HOUR, at_once=5)
        self.check(recorded, has_backfill=True, skipped=1)

    def test_after_deploys_that_change_remove_and_return_the_job(self):
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        for cadences in ([every(minutes=45)], [daily("05:15")], [manual()], [every(hours=2)]):
            recorded.cloud.advance(hours=3, minutes=17)
            recorded.deploy(*cadences)
        recorded.cloud.advance(hours=2)
        recorded.cloud.deploy(App())
        self.check(recorded)
        recorded.deploy(every(hours=2))
        self.check(recorded)

    def test_after_overlapping_failing_and_cancelled_runs(self):
        recorded = RecordedJob(every(hours=1), lasts=[90 * MINUTE, 200 * MINUTE], fails=3, start=THURSDAY)
        recorded.cloud.advance(hours=9)
        self.check(recorded)

    def test_while_the_global_switch_is_off_and_after_it(self):
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        recorded.cloud.advance(hours=3)
        recorded.switch(on=False)
        recorded.cloud.advance(hours=40)
        recorded.switch(on=True)
        self.check(recorded)

    def test_of_one_shots_in_each_state(self):
        recorded = RecordedJob(every(hours=1), start=THURSDAY)
        self.check(recorded)
        assert report_of(recorded.cloud).one_shots == {}


class TestTheRecount:
    def test_takes_place_once_a_day_and_is_a_run_of_its_job(self):
        cloud = lived(every(hours=1), start=THURSDAY).cloud
        runs = list(cloud.jobs.history("duetime-recount"))
        assert [run.nominal_at for run in runs] == [THURSDAY + n * DAY for n in (3, 2, 1, 0)]
        assert runs[0].attempts[-1].message == "1 job, 48 nominal times, 0 findings"

    def test_is_triggered_like_any_job(self):
        cloud = lived(every(hours=1), start=THURSDAY, days=1).cloud
        cloud.advance(hours=3)
        run = cloud.jobs.trigger("duetime-recount")
        cloud.advance(seconds=1)
        assert cloud.scheduler.get(run.id).status == "executed"
        assert report_of(cloud).began_at == THURSDAY + 27 * HOUR

    def test_that_has_too_little_time_goes_on_with_the_next_job(self):
        app = App()
        for name in ("shop-open", "shop-close"):

            @app.job(every(hours=1), name=name)
            def run_shop(run: Run) -> None: ...

        cloud = SimulatedCloud(app, start=THURSDAY)
        cloud.advance(days=1, hours=1)
        recount = cloud.memory.steps.recount
        begun = recount(stop_at=cloud.now)
        assert (begun.jobs, bool(begun.next_job), recount.is_due()) == (0, True, True)
        done = recount(stop_at=cloud.now + HOUR)
        assert (done.jobs, done.next_job, recount.is_due()) == (2, "", False)
        assert done.began_at == begun.began_at

    def test_reads_its_own_report_back(self):
        report = report_of(lived(every(hours=1), start=THURSDAY).cloud)
        assert RecountReport.from_json(report.to_json()) == report
        assert report.times == {"executed": 48}
