"""A job runs when its cadences say, to the second, whatever its runs take in simulated time."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from duetime import App, Run, cron, daily, every, interval, once
from duetime.model.action import Status
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, grid

PARIS = ZoneInfo("Europe/Paris")


@pytest.mark.parametrize("timers", ["eventbridge", "wheel"])
def test_a_job_of_every_ten_seconds_runs_at_each_of_them_for_hours(timers):
    recorded = RecordedJob(every(seconds=10), settings=Settings(timers=timers))
    recorded.cloud.advance(hours=2)
    times = grid(MIDNIGHT, 10 * SECOND, 720)
    assert recorded.runs == [("cadence", at, at) for at in times]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 720}


def test_a_job_of_every_second_runs_at_each_of_them():
    recorded = RecordedJob(every(seconds=1))
    recorded.cloud.advance(minutes=10)
    assert recorded.runs == [("cadence", at, at) for at in grid(MIDNIGHT, SECOND, 600)]


def test_a_job_that_is_due_to_the_minute_runs_at_its_first_second():
    recorded = RecordedJob(every(minutes=1), precision="minute", start=MIDNIGHT + 30 * SECOND)
    recorded.cloud.advance(hours=1)
    assert recorded.runs == [("cadence", at, at) for at in grid(MIDNIGHT, MINUTE, 60)]


def test_the_next_run_is_computed_from_the_nominal_time_never_from_the_end_of_the_last():
    recorded = RecordedJob(every(minutes=10), lasts=[25 * MINUTE] * 2)
    recorded.cloud.advance(hours=2)
    assert recorded.begun == [MIDNIGHT + n * MINUTE for n in (10, 40, 70, 80, 90, 100, 110, 120)]
    assert [at for at, _ in recorded.skipped()] == [MIDNIGHT + n * MINUTE for n in (20, 30, 50, 60)]


def test_a_job_with_a_spread_runs_at_its_own_delay_with_an_explanation():
    recorded = RecordedJob(every(hours=1, spread="10m"), start=MIDNIGHT)
    recorded.cloud.advance(hours=6)
    delay = recorded.begun[0] - MIDNIGHT
    assert timedelta(0) < delay < 10 * MINUTE
    assert recorded.begun == [MIDNIGHT + n * HOUR + delay for n in range(6)]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 6}
    explained = recorded.cloud.jobs.explain(recorded.name, MIDNIGHT, recorded.cloud.now)
    assert all(f"{delay // MINUTE}m later, by its spread" in entry.note for entry in explained)


def test_a_job_ends_with_its_count_and_leaves_out_an_excluded_time():
    cadence = every(hours=1, start=MIDNIGHT + 2 * HOUR, count=4, except_at=MIDNIGHT + 3 * HOUR)
    recorded = RecordedJob(cadence, start=MIDNIGHT)
    recorded.cloud.advance(hours=30)
    assert recorded.begun == [MIDNIGHT + n * HOUR for n in (2, 4, 5)]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 3}


def test_two_cadences_that_are_due_at_one_instant_make_one_run_that_names_one_of_them():
    app, ran = App(), []

    @app.job(every(minutes=20), every(minutes=30), name="press-print")
    def press(run: Run) -> None:
        ran.append((run.nominal_at, run.cadence))

    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.advance(hours=1)
    minutes = {20: "Every_20m", 30: "Every_30m", 40: "Every_20m", 60: "Every_20m"}
    assert ran == [(MIDNIGHT + item * MINUTE, name) for item, name in minutes.items()]


def test_a_run_names_its_job():
    app, shown = App(), []

    @app.job(daily("09:00"), name="press-print")
    def press(run: Run) -> None:
        shown.append(run)

    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.advance(hours=10)
    (run,) = shown
    assert (run.job, run.cadence, run.trigger, run.tenant_id) == (
        "press-print",
        "Daily_09_00",
        "cadence",
        "system",
    )
    assert run.id == "press-print.000001.20260303T090000Z" == run.idempotency_key
    row = cloud.scheduler.get(run.id)
    assert (row.status, row.executed_at) == (Status.EXECUTED, MIDNIGHT + 9 * HOUR)


def test_an_interval_counts_from_when_its_job_was_first_deployed():
    start = MIDNIGHT + 7.25 * SECOND
    recorded = RecordedJob(interval(minutes=7), start=start)
    recorded.cloud.advance(hours=1)
    recorded.deploy(interval(minutes=7), title="Press")
    recorded.cloud.advance(hours=1)
    recorded.deploy(interval(minutes=7), title="Press")
    recorded.cloud.advance(hours=1)
    assert recorded.begun == grid(MIDNIGHT + 7 * SECOND, 7 * MINUTE, 25)
    assert recorded.job.version == 1


def test_an_interval_continues_in_a_new_version_of_its_job():
    recorded = RecordedJob(interval(minutes=7))
    recorded.cloud.advance(minutes=30)
    recorded.deploy(interval(minutes=7), daily("23:00"))
    recorded.cloud.advance(minutes=30)
    assert recorded.job.version == 2
    assert recorded.begun == grid(MIDNIGHT, 7 * MINUTE, 8)


def test_a_job_that_is_due_once_runs_once_and_has_no_next():
    recorded = RecordedJob(once("2026-03-05T10:30"))
    recorded.cloud.advance(days=10)
    due = datetime(2026, 3, 5, 10, 30, tzinfo=UTC)
    assert recorded.runs == [("cadence", due, due)]
    assert recorded.job.cadence_set.next_after(recorded.cloud.now) is None
    assert [row.status for row in recorded.rows] == [Status.EXECUTED]
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 1}


def test_a_job_without_times_waits_until_it_is_triggered():
    recorded = RecordedJob()
    recorded.cloud.advance(days=3)
    assert recorded.rows == []
    recorded.cloud.jobs.trigger(recorded.name)
    recorded.cloud.advance(seconds=1)
    assert [trigger for trigger, *_ in recorded.runs] == ["manual"]


SPRING = (datetime(2026, 3, 29, tzinfo=PARIS), datetime(2026, 3, 30, tzinfo=PARIS))
AUTUMN = (datetime(2026, 10, 25, tzinfo=PARIS), datetime(2026, 10, 26, tzinfo=PARIS))


@pytest.mark.parametrize(
    ("cadence", "day", "count"),
    [
        (every(minutes=10, tz="Europe/Paris"), SPRING, 23 * 6),
        (every(minutes=10, tz="Europe/Paris"), AUTUMN, 25 * 6),
        (every(hours=1, tz="Europe/Paris"), SPRING, 23),
        (every(hours=1, tz="Europe/Paris"), AUTUMN, 25),
        (cron("0 * * * *", tz="Europe/Paris"), SPRING, 23),
        (cron("0 * * * *", tz="Europe/Paris"), AUTUMN, 25),
        (interval(minutes=10), SPRING, 23 * 6),
        (interval(minutes=10), AUTUMN, 25 * 6),
    ],
)
def test_evenly_spaced_runs_continue_through_a_clock_change(cadence, day, count):
    start, end = (item.astimezone(UTC) for item in day)
    recorded = RecordedJob(cadence, start=start - 6 * HOUR)
    recorded.cloud.advance(end - recorded.cloud.now)
    that_day = [at for at in recorded.begun if start < at <= end]
    step = (end - start) / count
    assert that_day == grid(start, step, count)
    assert all(at == ran_at for _, at, ran_at in recorded.runs)
    assert accounts(recorded.cloud, recorded.name, start) == {"executed": count}


@pytest.mark.parametrize(("day", "ran_at"), [(SPRING, "03:00 CEST"), (AUTUMN, "02:30 CEST")])
def test_a_time_that_the_clocks_jump_over_or_show_twice_runs_once(day, ran_at):
    recorded = RecordedJob(daily("02:30", tz="Europe/Paris"), start=day[0].astimezone(UTC) - 30 * HOUR)
    recorded.cloud.advance(days=4)
    local = [f"{at.astimezone(PARIS):%d %H:%M %Z}" for at in recorded.begun]
    before, after = day[0] - DAY, day[1]
    assert local == [
        f"{before:%d} 02:30 {before:%Z}",
        f"{day[0]:%d} {ran_at}",
        f"{after:%d} 02:30 {after:%Z}",
        f"{after + DAY:%d} 02:30 {after:%Z}",
    ]


def test_jobs_continue_from_the_store_alone():
    recorded = RecordedJob(every(minutes=1))
    recorded.cloud.advance(minutes=30)
    memory = recorded.cloud.memory
    for receipt in memory.queues.messages:
        memory.queues.delete(receipt)
    memory.timers.fire(recorded.cloud.now + DAY)  # nothing dispatches these
    memory.changes.clear()
    memory.wire(recorded.app(every(minutes=1)))
    recorded.cloud.advance(minutes=30)
    assert sorted(recorded.begun) == grid(MIDNIGHT, MINUTE, 60)
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 60}
    late = [at for _, at, ran_at in recorded.runs if at != ran_at]
    assert late
    assert max(late) < MIDNIGHT + 34 * MINUTE


def test_jobs_do_not_disturb_one_another_nor_one_shots():
    app, ran = App(), []

    for name, step in (("press-print", 30), ("press-clean", 45)):

        def press(run: Run) -> None:
            ran.append((run.job, run.nominal_at))

        app.job(every(seconds=step), name=name)(press)
    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.advance(hours=1)
    assert [at for job, at in ran if job == "press-print"] == grid(MIDNIGHT, 30 * SECOND, 120)
    assert len({at for job, at in ran if job == "press-clean"}) == 80
