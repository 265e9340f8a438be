"""What a deploy makes of the jobs that code declares in simulated time."""

import threading
from collections import Counter

import pytest

from duetime import App, RetryPolicy, Run, daily, every, interval
from duetime.errors import BackendUnavailable, DeclarationError
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.desired_wakes import wakes_of
from duetime.jobs.plan import Plan
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.model.action import Status
from duetime.model.job import JobRef
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.diary import HOUR, MIDNIGHT, MINUTE, SECOND, Diary, accounts, at, grid

REF = JobRef(SYSTEM_TENANT, JobName("press-print"))


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


def stored(cloud):
    """All that there is about jobs: their rows, versions, and what wakes them."""
    memory = cloud._cloud
    return (
        dict(memory.job_store._jobs),
        {ref: dict(version) for ref, version in memory.job_store._versions.items()},
        dict(memory.job_wakes._wakes),
        memory.store.rows(),
    )


class TestADeploy:
    def test_that_changes_nothing_writes_nothing(self, diary):
        diary.cloud.advance(minutes=33)
        before = stored(diary.cloud)
        assert diary.deploy(every(minutes=10)) == ()
        assert stored(diary.cloud) == before

    def test_says_what_it_added(self):
        cloud = SimulatedCloud(App(), start=MIDNIGHT)
        app = Diary().app(daily("03:15", tz="Europe/Paris"))
        assert cloud.deploy(app) == ("added press-print: every day at 03:15, Europe/Paris time",)

    def test_of_the_same_cadences_in_another_order_changes_nothing(self):
        diary = Diary(every(minutes=10), daily("09:00"))
        assert diary.deploy(daily("09:00"), every(minutes=10)) == ()

    def test_of_another_title_is_no_new_version_and_disturbs_nothing(self, diary):
        diary.cloud.advance(minutes=15)
        planned = diary.at(Status.PENDING)
        (line,) = diary.deploy(every(minutes=10), title="Press", retry=RetryPolicy(attempts=1))
        assert line.startswith("changed press-print")
        assert "version" not in line
        assert (diary.job.version, diary.job.definition.title) == (1, "Press")
        assert diary.at(Status.PENDING) == planned
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 20, 30, 40)

    def test_of_another_cadence_is_a_new_version_that_begins_at_once(self, diary):
        diary.cloud.advance(minutes=15)
        (line,) = diary.deploy(every(minutes=7))
        assert line.endswith("version 2")
        retired = [(row.nominal_at, row.note) for row in diary.rows if row.skip_reason == "retired"]
        assert retired[0] == (MIDNIGHT + 20 * MINUTE, "version 2 has taken over")
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 21, 28, 35, 42)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 5}

    def test_lets_what_was_due_before_it_run(self, diary):
        diary.cloud.advance(minutes=9)
        diary.outage(2 * MINUTE)
        diary.deploy(every(minutes=7))
        diary.cloud.advance(minutes=10)
        assert diary.begun == at(10, 14, 21)
        assert {row.id[:18] for row in diary.rows if row.nominal_at == MIDNIGHT + 10 * MINUTE} == {
            "press-print.000001"
        }

    @pytest.mark.parametrize("seconds", [0, 0.5, 59.999, 60, 61])
    def test_runs_a_time_that_both_versions_have_once(self, seconds):
        diary = Diary(every(minutes=1))
        diary.cloud.advance(minutes=9)
        diary.cloud.clock.wait_until(MIDNIGHT + 9 * MINUTE + seconds * SECOND)
        diary.deploy(every(seconds=30))
        diary.cloud.advance(minutes=5)
        total = [item for item in diary.begun if item.second == 0]
        assert set(Counter(diary.begun).values()) == {1}
        assert total == grid(MIDNIGHT, MINUTE, len(total))
        assert set(accounts(diary.cloud, diary.name, MIDNIGHT)) == {"executed"}

    def test_that_goes_back_is_a_new_version_too(self, diary):
        diary.cloud.advance(minutes=15)
        diary.deploy(every(minutes=7))
        diary.cloud.advance(minutes=14)
        diary.deploy(every(minutes=10))
        diary.cloud.advance(minutes=31)
        assert diary.job.version == 3
        assert diary.begun == at(10, 21, 28, 30, 40, 50, 60)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 7}

    def test_every_few_minutes_loses_and_doubles_no_time(self):
        diary = Diary(every(seconds=10))
        for index in range(1, 31):
            diary.cloud.advance(seconds=37)
            diary.deploy(every(seconds=10), title=f"{index}") if index % 2 else diary.deploy(
                every(seconds=10), daily(f"0{index % 7}:00")
            )
        diary.cloud.advance(minutes=1)
        count = int((diary.cloud.now - MIDNIGHT) / (10 * SECOND))
        assert diary.begun == grid(MIDNIGHT, 10 * SECOND, count)
        assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": count}

    def test_keeps_what_operators_set(self, diary):
        diary.cloud.jobs.set(diary.name, attempts=7)
        diary.cloud.jobs.pause(diary.name, cadence="Every_10m", reason="no paper")
        diary.cloud.advance(minutes=30)
        before = diary.job
        diary.deploy(every(minutes=10), title="Press", overlap="allow")
        diary.deploy(every(minutes=10), daily("09:00"))
        after = diary.job
        assert (after.tuning, after.pauses, after.tally) == (before.tuning, before.pauses, before.tally)

    def test_with_a_default_zone_gives_it_to_cadences_that_name_none(self):
        settings = Settings(default_tz="Europe/Paris")
        diary = Diary(daily("09:00"), daily("10:00", tz="UTC"), settings=settings)
        diary.cloud.advance(days=1)
        assert diary.begun == [MIDNIGHT + 8 * HOUR, MIDNIGHT + 10 * HOUR]
        assert diary.deploy(daily("09:00"), daily("10:00", tz="UTC")) == ()

    def test_with_a_default_zone_takes_jobs_of_every_kind(self):
        settings = Settings(default_tz="Europe/Paris")
        diary = Diary(interval(minutes=7), "on_event kb Uploaded", settings=settings, overlap="skip")
        diary.cloud.advance(minutes=8)
        diary.cloud.send_event("kb", "Uploaded", {})
        assert [trigger for trigger, *_ in diary.runs] == ["cadence", "event"]
        assert Diary(settings=settings).deploy() == ()

    def test_to_a_back_end_of_minutes_refuses_jobs_that_want_seconds(self, diary, monkeypatch):
        monkeypatch.setattr(MemoryJobWakes, "precision", "minute")
        with pytest.raises(DeclarationError, match=r"press-print: precision is 'second', .* use precision="):
            diary.deploy(every(minutes=5))
        assert diary.job.version == 1
        diary.deploy(every(minutes=5), precision="minute")
        assert diary.job.version == 2

    def test_that_was_cut_short_is_finished_by_the_next(self, diary, monkeypatch):
        diary.cloud.advance(minutes=15)
        wakes = diary.cloud._cloud.job_wakes
        put = wakes.put

        def unavailable(_wake):
            raise BackendUnavailable("EventBridge Scheduler", "ThrottlingException")

        monkeypatch.setattr(wakes, "put", unavailable)
        with pytest.raises(BackendUnavailable):
            diary.deploy(every(minutes=7))
        monkeypatch.setattr(wakes, "put", put)
        assert diary.deploy(every(minutes=7)) == ()
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 21, 28, 35, 42)
        assert wakes.wake("schedule", "press-print").expression == expected(diary)[0].expression


def expected(diary):
    memory = diary.cloud._cloud
    return list(wakes_of(diary.job, diary.cloud.now, memory.settings))


class TestManyPlanners:
    @pytest.mark.parametrize("start", [MIDNIGHT, MIDNIGHT + 3 * HOUR])
    def test_at_once_make_one_row_for_each_time(self, start):
        diary = Diary(every(seconds=10), catch_up=5)
        memory = diary.cloud._cloud
        diary.cloud.clock.wait_until(start + 100 * SECOND)
        barrier = threading.Barrier(20)

        def plan():
            barrier.wait()
            Plan(memory.store, memory.job_store, clock=diary.cloud.clock, settings=memory.settings)(REF)

        threads = [threading.Thread(target=plan) for _ in range(20)]
        for item in threads:
            item.start()
        for thread in threads:
            thread.join()
        rows = [row.nominal_at for row in diary.rows]
        assert len(set(rows)) == len(rows)
        assert max(rows) == diary.job.cursor
        shown = accounts(diary.cloud, diary.name, MIDNIGHT, diary.job.cursor)
        assert set(shown) <= {"pending", "missed"}
        assert ("missed" in shown) == (start != MIDNIGHT)
        assert sum(row.catches_up for row in diary.rows) == (5 if "missed" in shown else 0)

    def test_a_wake_of_a_former_version_changes_nothing(self, diary):
        old = expected(diary)
        diary.deploy(daily("09:00"))
        before = stored(diary.cloud)
        for wake in old:
            diary.cloud._cloud.steps.dispatch_jobs.wake(wake.ref)
        assert stored(diary.cloud) == before

    def test_a_row_that_a_slow_planner_put_for_a_former_version_is_retired_when_it_is_due(self, diary):
        diary.cloud.advance(minutes=1)
        memory = diary.cloud._cloud
        put, late = memory.store.put, []
        memory.store.put = late.append
        diary.cloud._cloud.steps.dispatch_jobs.wake(REF)
        diary.cloud.advance(minutes=11)
        memory.store.put = put
        assert late
        diary.deploy(every(minutes=7))
        for row in late:
            put(row)
        diary.cloud.advance(minutes=30)
        assert len(diary.begun) == len(set(diary.begun))
        previous = [item for item in diary.rows if item.id in {row.id for row in late}]
        assert {item.skip_reason for item in previous if item.nominal_at > MIDNIGHT + 12 * MINUTE} == {
            "retired"
        }


class TestMending:
    def test_sets_again_what_is_missing_and_removes_what_no_job_wants(self, diary):
        wakes = diary.cloud._cloud.job_wakes
        (wake,) = expected(diary)
        wakes.remove("schedule", wake.name)
        stray = App()

        @stray.job(every(minutes=1), name="gone-job")
        def gone(run: Run) -> None:
            raise AssertionError(run)

        (unwanted,) = wakes_of(SimulatedCloud(stray).jobs.get("gone-job"), MIDNIGHT, Settings())
        wakes.put(unwanted)
        diary.cloud.advance(hours=6, minutes=1)
        assert [name for _, name in wakes.known()] == [wake.name]
        assert diary.begun == grid(MIDNIGHT, 10 * MINUTE, 36)
