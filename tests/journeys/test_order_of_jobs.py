"""The order of calls on a job: another one would lose a time, run one twice, or leave a schedule behind."""

from dataclasses import replace

import pytest

from duetime import every
from duetime.errors import BackendUnavailable, InvalidArgument
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.desired_wakes import base_of
from duetime.jobs.job_versions import JobVersions
from duetime.model.action import Status
from duetime.model.job import JobRef
from tests.hooked import Hooked
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, RecordedJob, accounts, at


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


@pytest.fixture
def memory(recorded):
    return recorded.cloud.memory


@pytest.fixture
def ref(recorded):
    return JobRef(SYSTEM_TENANT, JobName(recorded.name))


def versions(memory, jobs):
    return JobVersions(replace(memory.backends, jobs=jobs))


def never(*_given, **_more):
    return False


def fails(*_given, **_more):
    raise BackendUnavailable("EventBridge Scheduler", "Read timeout")


class TestAVersion:
    def test_that_could_not_be_written_retires_no_run_of_the_former_one(self, recorded, memory):
        jobs = Hooked(memory.backends.jobs)
        jobs.hooks["change"] = never
        other = recorded.app(every(hours=1)).manifest.jobs[0]
        assert versions(memory, jobs).redefine(recorded.job, other, lambda _ref: None) is None
        assert recorded.rows
        assert recorded.skipped() == []

    def test_that_was_removed_skips_its_planned_runs_at_once(self, recorded, memory):
        planned = recorded.at(Status.PENDING)
        assert versions(memory, memory.backends.jobs).remove(recorded.job, "it is no longer declared")
        assert planned
        assert recorded.skipped() == [(nominal_at, "disabled") for nominal_at in planned]

    def test_that_another_deploy_removes_at_the_same_time_is_removed_once(self, recorded, memory):
        jobs = recorded.hook("jobs")
        removed = []

        def change(method, job, after, **more):
            if not removed:
                recorded.outage(MINUTE)
                removed.append(versions(memory, jobs.backend).remove(job, "it is no longer declared"))
            return method(job, after, **more)

        jobs.hooks["change"] = change
        revision = recorded.job.revision
        assert memory.steps.reconcile([], worker=recorded.job.definition.worker).changes == ()
        assert (removed, recorded.job.revision) == ([True], revision + 1)


class TestMaintenance:
    def test_plans_a_job_before_it_calls_eventbridge(self, recorded, memory, ref):
        wakes = recorded.hook("job_wakes")
        wakes.hooks["put"] = fails
        memory.backends.jobs.change(recorded.job, stale(recorded.job))
        recorded.outage(5 * MINUTE)
        before = len(recorded.rows)
        recorded.outage(20 * MINUTE)
        with pytest.raises(BackendUnavailable):
            memory.steps.maintain(ref)
        assert len(recorded.rows) > before

    def test_of_a_job_whose_schedules_are_right_forgets_its_failures(self, recorded, memory, ref):
        job = recorded.job
        memory.backends.jobs.postpone(job, recorded.cloud.now, failures=5)
        assert not recorded.job.wakes.is_stale
        memory.steps.maintain.set_wakes(ref)
        assert recorded.job.maintain_failures == 0
        assert recorded.job.maintain_at > recorded.cloud.now

    def test_of_a_job_that_cannot_be_planned_is_reported_and_postponed(self, recorded, memory):
        store = recorded.hook("store")
        store.hooks["put"] = fails
        recorded.outage(HOUR)
        passed = memory.steps.maintain_due_jobs(stop_at=recorded.cloud.now + MINUTE)
        assert passed.failed == (recorded.name,)
        assert (recorded.job.maintain_failures, recorded.job.maintain_at) == (1, recorded.cloud.now + MINUTE)

    def test_after_an_outage_plans_no_time_under_a_pause_that_is_over(self):
        recorded = RecordedJob(every(minutes=10), every(minutes=4))
        planned = recorded.at(Status.PENDING)
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_4m", until=MIDNIGHT + 15 * MINUTE)
        recorded.outage(19 * MINUTE)
        memory = recorded.cloud.memory
        memory.steps.maintain.plan(JobRef(SYSTEM_TENANT, JobName(recorded.name)))
        assert set(recorded.at(Status.PENDING)) - set(planned) == set(at(10, 16, 20, 24))  # not 12

    def test_is_not_made_by_a_pause_that_is_rejected(self, recorded):
        recorded.outage(HOUR)
        before = recorded.job, recorded.rows
        with pytest.raises(InvalidArgument, match="until"):
            recorded.cloud.jobs.pause(recorded.name, until=recorded.cloud.now - MINUTE)
        assert (recorded.job, recorded.rows) == before


class TestARepair:
    def test_at_the_quota_of_schedules_makes_room_before_it_sets_what_is_missing(self, recorded, memory):
        [missing] = memory.job_wakes.known()
        wake = memory.job_wakes.wake(*missing)
        memory.job_wakes.remove(*missing)
        memory.job_wakes.put(replace(wake, name="unknown"))
        wakes = recorded.hook("job_wakes")
        wakes.hooks["put"] = lambda put, wake: fails() if memory.job_wakes.known() else put(wake)
        memory.steps.repair(stop_at=recorded.cloud.now + MINUTE)
        assert set(memory.job_wakes.known()) == {missing}

    def test_removes_a_surplus_schedule_of_a_job_that_exists(self, recorded, memory, ref):
        surplus, known = add_surplus(memory, ref), set(memory.job_wakes.known())
        result = memory.steps.repair(stop_at=recorded.cloud.now + MINUTE)
        assert result.set == (recorded.name,)
        assert set(memory.job_wakes.known()) == known - {surplus}

    def test_sets_a_schedule_that_a_job_needs_again_by_the_time_that_it_was_removed(
        self, recorded, memory, ref
    ):
        kind, name = add_surplus(memory, ref)
        wakes = recorded.hook("job_wakes")
        needed = {}

        def remove(remove_wake, *wake):
            needed.update(dict.fromkeys(memory.job_wakes.known()))
            remove_wake(*wake)
            for known in set(memory.job_wakes.known()):
                remove_wake(*known)  # a late removal of an earlier pass

        wakes.hooks["remove"] = remove
        memory.steps.repair(stop_at=recorded.cloud.now + MINUTE)
        assert set(memory.job_wakes.known()) == set(needed) - {(kind, name)}


def stale(job):
    return replace(job, wakes=replace(job.wakes, is_stale=True))


def add_surplus(memory, ref):
    """Add a schedule of the job that it does not need; return its kind and name."""
    [(kind, name)] = memory.job_wakes.known()
    wake = replace(memory.job_wakes.wake(kind, name), name=f"{base_of(ref, memory.settings)}.7")
    memory.job_wakes.put(wake)
    return kind, wake.name


def test_a_pause_after_one_that_nothing_has_ended_yet_begins_at_its_own_time(recorded):
    cloud = recorded.cloud
    cloud.jobs.pause(recorded.name, until=MIDNIGHT + 25 * MINUTE)
    recorded.outage(31 * MINUTE)
    cloud.jobs.pause(recorded.name, until=MIDNIGHT + 45 * MINUTE)
    cloud.advance(minutes=20)
    assert recorded.begun == at(30, 50)
    assert accounts(cloud, recorded.name, MIDNIGHT) == {"executed": 2, "missed": 2, "paused": 1}
