"""The sweep and the catch-up are jobs, too: seen, with a history, and to be triggered in simulated time."""

import pytest

from duetime import App, every
from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, RecordedJob

NAMES = ["duetime-catch-up", "duetime-sweep"]


@pytest.fixture
def printed():
    return RecordedJob(every(minutes=10))


def test_they_are_listed_and_never_planned():
    cloud = SimulatedCloud(App(), start=MIDNIGHT)
    cloud.advance(hours=13)
    listed = list(cloud.jobs.list())
    assert [job.name for job in listed] == NAMES
    assert all(job.definition.title and job.definition.self_scheduled for job in listed)
    assert Status.PENDING not in {row.status for name in NAMES for row in cloud.jobs.history(name)}


def test_each_pass_is_a_run_of_its_job(printed):
    printed.cloud.advance(hours=12, minutes=1)
    passes = list(printed.cloud.jobs.history("duetime-catch-up"))
    assert [run.nominal_at for run in passes] == [MIDNIGHT + 12 * HOUR, MIDNIGHT + 6 * HOUR]
    assert {run.status for run in passes} == {Status.EXECUTED}
    assert passes[0].attempts[-1].message.startswith("sent 0, attended to ")
    assert printed.cloud.jobs.history("duetime-sweep").actions


def test_a_pass_that_failed_is_recorded_with_the_reason(printed, monkeypatch):
    memory = printed.cloud.memory

    def unavailable(*, stop_at):
        raise BackendUnavailable("EventBridge", f"it is down until {stop_at:%H}")

    monkeypatch.setattr(memory.steps, "repair", unavailable)
    with pytest.raises(BackendUnavailable):
        printed.cloud.advance(hours=6, minutes=1)
    (failed,) = printed.cloud.jobs.history("duetime-catch-up")
    assert failed.status is Status.FAILED
    assert "EventBridge is not available" in failed.failure_reason


@pytest.mark.parametrize("name", NAMES)
def test_they_are_triggered_like_any_job(printed, name):
    printed.cloud.advance(minutes=5)
    run = printed.cloud.jobs.trigger(name)
    printed.cloud.advance(seconds=1)
    settled = printed.cloud.scheduler.get(run.id)
    assert (settled.status, settled.trigger) == (Status.EXECUTED, "manual")
    assert printed.cloud.jobs.get(name).tally.triggered_by == "simulation"


def test_a_triggered_sweep_sends_what_is_overdue(printed):
    printed.cloud.advance(minutes=9)
    (first, *_) = printed.rows
    printed.lose(first.ref)
    memory = printed.cloud.memory
    memory.sweep_at = MIDNIGHT + 5 * HOUR
    printed.cloud.clock.wait_until(MIDNIGHT + 16 * MINUTE)
    printed.cloud.jobs.trigger("duetime-sweep")
    printed.cloud.advance(seconds=1)
    assert printed.begun == [MIDNIGHT + 10 * MINUTE]


def test_a_deploy_leaves_them_and_their_history_alone(printed):
    printed.cloud.advance(hours=6, minutes=1)
    before = [printed.cloud.jobs.get(name) for name in NAMES]
    assert printed.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
    assert [printed.cloud.jobs.get(name) for name in NAMES] == before
    assert printed.cloud.jobs.history("duetime-catch-up").actions


def test_their_runs_are_no_actions_of_the_simulation(printed):
    printed.cloud.advance(hours=7)
    assert {action.job for action in printed.cloud.actions()} == {"press-print"}
