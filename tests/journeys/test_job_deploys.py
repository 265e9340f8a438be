"""What a deploy makes of the jobs that code declares in simulated time."""

import threading
from collections import Counter

import pytest

from duetime import App, Calendar, Registration, RetryPolicy, Run, daily, every, interval
from duetime.errors import BackendUnavailable, DeclarationError
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.desired_wakes import wakes_of
from duetime.jobs.plan import Plan
from duetime.model.action import Status
from duetime.model.job import JobRef
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at, grid

REF = JobRef(SYSTEM_TENANT, JobName("press-print"))


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


def stored(cloud):
    """Return the stored rows, versions and wakes of the job."""
    memory = cloud.memory
    return (
        list(memory.job_store.list(SYSTEM_TENANT, limit=100, cursor=None)),
        memory.job_store.versions(REF),
        {known: memory.job_wakes.wake(*known) for known in memory.job_wakes.known()},
        memory.store.rows(),
    )


class TestADeploy:
    def test_that_changes_nothing_writes_nothing(self, recorded):
        recorded.cloud.advance(minutes=33)
        before = stored(recorded.cloud)
        assert recorded.deploy(every(minutes=10)) == ()
        assert stored(recorded.cloud) == before

    def test_returns_the_added_jobs(self):
        cloud = SimulatedCloud(App(), start=MIDNIGHT)
        app = RecordedJob().app(daily("03:15", tz="Europe/Paris"))
        assert cloud.deploy(app) == ("added press-print: every day at 03:15, Europe/Paris time",)

    def test_of_a_calendar_without_its_holidays_is_rejected_as_is_its_registration(self, recorded):
        unresolved = daily("09:00", calendar=Calendar(through="2027-12-31", unresolved="DE"))
        with pytest.raises(DeclarationError, match="lacks the holidays of DE: define it outside of Lambda"):
            recorded.deploy(unresolved)
        registration = Registration(name="acme-print", handler="press-print", cadences=[unresolved.text])
        with pytest.raises(DeclarationError, match="lacks the holidays of DE"):
            recorded.cloud.jobs.register(registration)

    def test_of_the_same_cadences_in_another_order_changes_nothing(self):
        recorded = RecordedJob(every(minutes=10), daily("09:00"))
        assert recorded.deploy(daily("09:00"), every(minutes=10)) == ()

    @pytest.mark.parametrize("cadence", [every(minutes=7), None], ids=["changed", "removed"])
    def test_by_a_slower_clock_begins_no_version_before_the_previous_one_ended(self, recorded, cadence):
        cloud = recorded.cloud
        cloud.advance(minutes=20, seconds=2)
        cloud.deploy(App()) if cadence is None else recorded.deploy(cadence)
        cloud.clock._now -= 3 * SECOND  # the next deploy runs on another machine
        recorded.deploy(every(minutes=10))
        changes = [cloud.memory.job_store.versions(REF)[-1].since, *recorded.job.ends.values()]
        assert min(changes) == max(changes) == MIDNIGHT + 20 * MINUTE + 2 * SECOND

    def test_of_another_title_adds_no_version_and_changes_no_planned_run(self, recorded):
        recorded.cloud.advance(minutes=15)
        planned = recorded.at(Status.PENDING)
        (line,) = recorded.deploy(every(minutes=10), title="Press", retry=RetryPolicy(attempts=1))
        assert line.startswith("changed press-print")
        assert "version" not in line
        assert (recorded.job.version, recorded.job.definition.title) == (1, "Press")
        assert recorded.at(Status.PENDING) == planned
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 20, 30, 40)

    def test_of_another_cadence_adds_a_version_that_begins_at_once(self, recorded):
        recorded.cloud.advance(minutes=15)
        (line,) = recorded.deploy(every(minutes=7))
        assert line.endswith("version 2")
        retired = [(row.nominal_at, row.note) for row in recorded.rows if row.skip_reason == "retired"]
        assert retired[0] == (MIDNIGHT + 20 * MINUTE, "version 2 has taken over")
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 21, 28, 35, 42)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 5}

    def test_runs_occurrences_that_were_due_before_it(self, recorded):
        recorded.cloud.advance(minutes=9)
        recorded.outage(2 * MINUTE)
        recorded.deploy(every(minutes=7))
        recorded.cloud.advance(minutes=10)
        assert recorded.begun == at(10, 14, 21)
        assert {row.id[:18] for row in recorded.rows if row.nominal_at == MIDNIGHT + 10 * MINUTE} == {
            "press-print.000001"
        }

    @pytest.mark.parametrize("seconds", [0, 0.5, 59.999, 60, 61])
    def test_runs_a_time_that_both_versions_have_once(self, seconds):
        recorded = RecordedJob(every(minutes=1))
        recorded.cloud.advance(minutes=9)
        recorded.cloud.clock.wait_until(MIDNIGHT + 9 * MINUTE + seconds * SECOND)
        recorded.deploy(every(seconds=30))
        recorded.cloud.advance(minutes=5)
        total = [item for item in recorded.begun if item.second == 0]
        assert set(Counter(recorded.begun).values()) == {1}
        assert total == grid(MIDNIGHT, MINUTE, len(total))
        assert set(accounts(recorded.cloud, recorded.name, MIDNIGHT)) == {"executed"}

    def test_that_goes_back_is_a_new_version_too(self, recorded):
        recorded.cloud.advance(minutes=15)
        recorded.deploy(every(minutes=7))
        recorded.cloud.advance(minutes=14)
        recorded.deploy(every(minutes=10))
        recorded.cloud.advance(minutes=31)
        assert recorded.job.version == 3
        assert recorded.begun == at(10, 21, 28, 30, 40, 50, 60)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 7}

    def test_every_few_minutes_loses_and_doubles_no_time(self):
        recorded = RecordedJob(every(seconds=10))
        for index in range(1, 31):
            recorded.cloud.advance(seconds=37)
            recorded.deploy(every(seconds=10), title=f"{index}") if index % 2 else recorded.deploy(
                every(seconds=10), daily(f"0{index % 7}:00")
            )
        recorded.cloud.advance(minutes=1)
        count = int((recorded.cloud.now - MIDNIGHT) / (10 * SECOND))
        assert recorded.begun == grid(MIDNIGHT, 10 * SECOND, count)
        assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": count}

    def test_does_not_change_settings_of_operators(self, recorded):
        recorded.cloud.jobs.set(recorded.name, attempts=7)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_10m", reason="no paper")
        recorded.cloud.advance(minutes=30)
        before = recorded.job
        recorded.deploy(every(minutes=10), title="Press", overlap="allow")
        recorded.deploy(every(minutes=10), daily("09:00"))
        after = recorded.job
        assert (after.tuning, after.pauses, after.tally) == (before.tuning, before.pauses, before.tally)

    def test_with_a_default_zone_gives_it_to_cadences_that_name_none(self):
        settings = Settings(default_tz="Europe/Paris")
        recorded = RecordedJob(daily("09:00"), daily("10:00", tz="UTC"), settings=settings)
        recorded.cloud.advance(days=1)
        assert recorded.begun == [MIDNIGHT + 8 * HOUR, MIDNIGHT + 10 * HOUR]
        assert recorded.deploy(daily("09:00"), daily("10:00", tz="UTC")) == ()

    def test_with_a_default_zone_takes_jobs_of_every_kind(self):
        settings = Settings(default_tz="Europe/Paris")
        recorded = RecordedJob(interval(minutes=7), "on_event kb Uploaded", settings=settings, overlap="skip")
        recorded.cloud.advance(minutes=8)
        recorded.cloud.send_event("kb", "Uploaded", {})
        assert [trigger for trigger, *_ in recorded.runs] == ["cadence", "event"]
        assert RecordedJob(settings=settings).deploy() == ()

    def test_a_back_end_of_minutes_rejects_jobs_that_need_seconds(self, recorded):
        recorded.cloud.memory.job_wakes.precision = "minute"
        with pytest.raises(DeclarationError, match=r"press-print: precision is 'second', .* use precision="):
            recorded.deploy(every(minutes=5))
        assert recorded.job.version == 1
        recorded.deploy(every(minutes=5), precision="minute")
        assert recorded.job.version == 2

    def test_that_was_cut_short_is_finished_by_the_next(self, recorded):
        recorded.cloud.advance(minutes=15)
        wakes = recorded.hook("job_wakes")

        def unavailable(_put, _wake):
            raise BackendUnavailable("EventBridge Scheduler", "ThrottlingException")

        wakes.hooks["put"] = unavailable
        with pytest.raises(BackendUnavailable):
            recorded.deploy(every(minutes=7))
        wakes.hooks.clear()
        assert recorded.deploy(every(minutes=7)) == ()
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 21, 28, 35, 42)
        assert wakes.wake("schedule", "press-print").expression == expected(recorded)[0].expression


def expected(recorded):
    memory = recorded.cloud.memory
    return list(wakes_of(recorded.job, recorded.cloud.now, memory.settings))


class TestManyPlanners:
    @pytest.mark.parametrize("start", [MIDNIGHT, MIDNIGHT + 3 * HOUR])
    def test_at_once_make_one_row_for_each_time(self, start):
        recorded = RecordedJob(every(seconds=10), catch_up=5)
        memory = recorded.cloud.memory
        recorded.cloud.clock.wait_until(start + 100 * SECOND)
        barrier = threading.Barrier(20)

        def plan():
            barrier.wait()
            Plan(memory.backends)(REF)

        threads = [threading.Thread(target=plan) for _ in range(20)]
        for item in threads:
            item.start()
        for thread in threads:
            thread.join()
        rows = [row.nominal_at for row in recorded.rows]
        assert len(set(rows)) == len(rows)
        assert max(rows) == recorded.job.cursor
        shown = accounts(recorded.cloud, recorded.name, MIDNIGHT, recorded.job.cursor)
        assert set(shown) <= {"pending", "missed"}
        assert ("missed" in shown) == (start != MIDNIGHT)
        assert sum(row.planned.catches_up for row in recorded.rows) == (5 if "missed" in shown else 0)

    def test_a_wake_of_a_former_version_changes_nothing(self, recorded):
        old = expected(recorded)
        recorded.deploy(daily("09:00"))
        before = stored(recorded.cloud)
        for wake in old:
            recorded.cloud.memory.steps.dispatch_jobs.wake(wake.ref)
        assert stored(recorded.cloud) == before

    def test_a_row_that_a_slow_planner_put_for_a_former_version_is_retired_when_it_is_due(self, recorded):
        recorded.cloud.advance(minutes=1)
        memory = recorded.cloud.memory
        put, late = memory.store.put, []
        memory.store.put = late.append
        recorded.cloud.memory.steps.dispatch_jobs.wake(REF)
        recorded.cloud.advance(minutes=11)
        memory.store.put = put
        assert late
        recorded.deploy(every(minutes=7))
        for row in late:
            put(row)
        recorded.cloud.advance(minutes=30)
        assert len(recorded.begun) == len(set(recorded.begun))
        previous = [item for item in recorded.rows if item.id in {row.id for row in late}]
        assert {item.skip_reason for item in previous if item.nominal_at > MIDNIGHT + 12 * MINUTE} == {
            "retired"
        }


class TestMending:
    def test_recreates_missing_wakes_and_removes_stray_ones(self, recorded):
        wakes = recorded.cloud.memory.job_wakes
        (wake,) = expected(recorded)
        wakes.remove("schedule", wake.name)
        stray = App()

        @stray.job(every(minutes=1), name="gone-job")
        def gone(run: Run) -> None:
            raise AssertionError(run)

        (unwanted,) = wakes_of(SimulatedCloud(stray).jobs.get("gone-job"), MIDNIGHT, Settings())
        wakes.put(unwanted)
        recorded.cloud.advance(hours=6, minutes=1)
        assert [name for _, name in wakes.known()] == [wake.name]
        assert recorded.begun == grid(MIDNIGHT, 10 * MINUTE, 36)
