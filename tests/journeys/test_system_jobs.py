"""The sweep and the catch-up are jobs, too: seen, with a history, and to be triggered in simulated time."""

import pytest

from duetime import App, every
from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.testing import SimulatedCloud
from tests.journeys.diary import HOUR, MIDNIGHT, MINUTE, Diary

NAMES = ["duetime-catch-up", "duetime-sweep"]


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


def test_they_are_listed_and_nobody_plans_them():
    cloud = SimulatedCloud(App(), start=MIDNIGHT)
    cloud.advance(hours=13)
    listed = list(cloud.jobs.list())
    assert [job.name for job in listed] == NAMES
    assert all(job.definition.title and job.definition.self_scheduled for job in listed)
    assert Status.PENDING not in {row.status for name in NAMES for row in cloud.jobs.history(name)}


def test_each_pass_is_a_run_of_its_job(diary):
    diary.cloud.advance(hours=12, minutes=1)
    passes = list(diary.cloud.jobs.history("duetime-catch-up"))
    assert [run.nominal_at for run in passes] == [MIDNIGHT + 12 * HOUR, MIDNIGHT + 6 * HOUR]
    assert {run.status for run in passes} == {Status.EXECUTED}
    assert passes[0].attempts[-1].message.startswith("sent 0, attended to ")
    assert diary.cloud.jobs.history("duetime-sweep").actions


def test_a_pass_that_failed_is_recorded_with_the_reason(diary, monkeypatch):
    memory = diary.cloud._cloud

    def unavailable(*, stop_at):
        raise BackendUnavailable("EventBridge", f"it is down until {stop_at:%H}")

    monkeypatch.setattr(memory.steps, "repair", unavailable)
    with pytest.raises(BackendUnavailable):
        diary.cloud.advance(hours=6, minutes=1)
    (failed,) = diary.cloud.jobs.history("duetime-catch-up")
    assert failed.status is Status.FAILED
    assert "EventBridge is not available" in failed.failure_reason


@pytest.mark.parametrize("name", NAMES)
def test_they_are_triggered_like_any_job(diary, name):
    diary.cloud.advance(minutes=5)
    run = diary.cloud.jobs.trigger(name)
    diary.cloud.advance(seconds=1)
    settled = diary.cloud.scheduler.get(run.id)
    assert (settled.status, settled.trigger) == (Status.EXECUTED, "manual")
    assert diary.cloud.jobs.get(name).tally.triggered_by == "simulation"


def test_a_triggered_sweep_sends_what_is_overdue(diary):
    diary.cloud.advance(minutes=9)
    (first, *_) = diary.rows
    diary.lose(first.ref)
    memory = diary.cloud._cloud
    memory._sweep_at = MIDNIGHT + 5 * HOUR
    diary.cloud.clock.wait_until(MIDNIGHT + 16 * MINUTE)
    diary.cloud.jobs.trigger("duetime-sweep")
    diary.cloud.advance(seconds=1)
    assert diary.begun == [MIDNIGHT + 10 * MINUTE]


def test_a_deploy_leaves_them_and_their_history_alone(diary):
    diary.cloud.advance(hours=6, minutes=1)
    before = [diary.cloud.jobs.get(name) for name in NAMES]
    assert diary.cloud.deploy(App()) == ("dropped press-print: it is disabled, its history is kept",)
    assert [diary.cloud.jobs.get(name) for name in NAMES] == before
    assert diary.cloud.jobs.history("duetime-catch-up").actions


def test_their_runs_are_no_actions_of_the_simulation(diary):
    diary.cloud.advance(hours=7)
    assert {action.job for action in diary.cloud.actions()} == {"press-print"}
