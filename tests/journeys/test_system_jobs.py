"""The sweep and the catch-up are jobs, too: seen, with a history, and to be triggered in simulated time."""

import pytest

from duetime import App, every
from duetime.errors import BackendUnavailable, StateConflict
from duetime.model.action import Status
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, RecordedJob

NAMES = ["duetime-catch-up", "duetime-recount", "duetime-sweep"]


@pytest.fixture
def recorded():
    return RecordedJob(every(minutes=10))


def test_they_are_listed_and_never_planned():
    cloud = SimulatedCloud(App(), start=MIDNIGHT)
    cloud.advance(hours=13)
    listed = list(cloud.jobs.list())
    assert [job.name for job in listed] == NAMES
    assert all(job.definition.title and job.definition.self_scheduled for job in listed)
    assert Status.PENDING not in {row.status for name in NAMES for row in cloud.jobs.history(name)}


def test_each_pass_is_a_run_of_its_job(recorded):
    recorded.cloud.advance(hours=12, minutes=1)
    passes = list(recorded.cloud.jobs.history("duetime-catch-up"))
    assert [run.nominal_at for run in passes] == [MIDNIGHT + 12 * HOUR, MIDNIGHT + 6 * HOUR]
    assert {run.status for run in passes} == {Status.EXECUTED}
    assert passes[0].attempts[-1].message.startswith("sent 0, maintained ")
    assert recorded.cloud.jobs.history("duetime-sweep").actions


def test_a_pass_that_failed_is_recorded_with_the_reason(recorded):
    def unavailable(_known):
        raise BackendUnavailable("EventBridge", "it is down")

    recorded.hook("job_wakes").hooks["known"] = unavailable
    with pytest.raises(BackendUnavailable):
        recorded.cloud.advance(hours=6, minutes=1)
    (failed,) = recorded.cloud.jobs.history("duetime-catch-up")
    assert failed.status is Status.FAILED
    assert "EventBridge is not available" in failed.failure_reason


@pytest.mark.parametrize("name", NAMES)
def test_they_are_triggered_like_any_job(recorded, name):
    recorded.cloud.advance(minutes=5)
    run = recorded.cloud.jobs.trigger(name)
    recorded.cloud.advance(seconds=1)
    settled = recorded.cloud.scheduler.get(run.id)
    assert (settled.status, settled.trigger) == (Status.EXECUTED, "manual")
    assert recorded.cloud.jobs.get(name).tally.triggered_by == "simulation"


@pytest.mark.parametrize("change", ["pause", "skip_next"])
def test_they_are_neither_paused_nor_skipped(recorded, change):
    with pytest.raises(StateConflict, match="the clock runs it"):
        getattr(recorded.cloud.jobs, change)("duetime-sweep")
    assert not recorded.cloud.jobs.get("duetime-sweep").pauses


def test_a_triggered_sweep_sends_overdue_rows(recorded):
    recorded.cloud.advance(minutes=9)
    (first, *_) = recorded.rows
    recorded.lose(first.ref)
    memory = recorded.cloud.memory
    memory.sweep_at = MIDNIGHT + 5 * HOUR
    recorded.cloud.clock.wait_until(MIDNIGHT + 16 * MINUTE)
    recorded.cloud.jobs.trigger("duetime-sweep")
    recorded.cloud.advance(seconds=1)
    assert recorded.begun == [MIDNIGHT + 10 * MINUTE]


def test_a_deploy_leaves_them_and_their_history_alone(recorded):
    recorded.cloud.advance(hours=6, minutes=1)
    before = [recorded.cloud.jobs.get(name) for name in NAMES]
    assert recorded.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
    assert [recorded.cloud.jobs.get(name) for name in NAMES] == before
    assert recorded.cloud.jobs.history("duetime-catch-up").actions


def test_their_runs_are_no_actions_of_the_simulation(recorded):
    recorded.cloud.advance(hours=7)
    assert {action.job for action in recorded.cloud.actions()} == {"press-print"}
