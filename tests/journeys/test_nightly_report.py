"""The worked example of a nightly ECS task, over moto; the events are as ECS documents them."""

from datetime import UTC, datetime

import boto3
import pytest
from moto.ecs.models import ecs_backends

from duetime import App
from duetime.targets import with_targets
from duetime.targets.executions import calls_of
from duetime.targets.grants import Grants
from duetime.targets.status_events import StatusEvents
from duetime.testing import SimulatedCloud
from examples.nightly_report import make_cluster, register

EVENING = datetime(2027, 1, 1, 20, tzinfo=UTC)


class Nights:
    def __init__(self):
        grant = make_cluster()
        self.cloud = SimulatedCloud(with_targets(App(), [grant]), start=EVENING)
        register(self.cloud.scheduler)
        self._events = StatusEvents(Grants((grant,)), calls_of, dict, self.cloud.memory.backends)

    def tasks(self, status="RUNNING"):
        ecs = boto3.client("ecs")
        arns = ecs.list_tasks(cluster="night", desiredStatus=status)["taskArns"]
        return ecs.describe_tasks(cluster="night", tasks=arns)["tasks"] if arns else []

    def end(self, task, code):
        detail = {
            "lastStatus": "STOPPED",
            "startedBy": task["startedBy"],
            "taskDefinitionArn": task["taskDefinitionArn"],
            "overrides": task["overrides"],
            "containers": [{"name": "main", "exitCode": code}],
        }
        self._events({"source": "aws.ecs", "detail-type": "ECS Task State Change", "detail": detail})
        boto3.client("ecs").stop_task(cluster="night", task=task["taskArn"])
        ecs = ecs_backends["123456789012"]["eu-west-1"]
        [container] = ecs.tasks["night"][task["taskArn"]].containers
        container.exitCode = code  # moto always has 0

    def publish(self):
        for event in list(self.cloud.memory.bus.published):
            self._events(event)


@pytest.fixture
def nights(mocked_aws):
    return Nights()


def test_each_night_one_task_writes_the_report(nights):
    for _ in range(3):
        nights.cloud.advance(hours=10)
        [task] = nights.tasks()
        assert task["overrides"]["containerOverrides"][0]["command"] == ["report", "--yesterday"]
        nights.end(task, 0)
        nights.cloud.advance(hours=14)
    runs = [action for action in nights.cloud.actions() if action.attempt]
    assert [run.status.value for run in runs] == ["executed"] * 3


def test_a_task_that_fails_is_repeated_and_the_night_is_executed(nights):
    nights.cloud.advance(hours=6)
    [first] = nights.tasks()
    nights.end(first, 1)
    nights.cloud.advance(minutes=30)
    [second] = nights.tasks()
    assert second["startedBy"] == first["startedBy"] + "-2"
    nights.end(second, 0)
    [run] = [action for action in nights.cloud.actions() if action.attempt]
    assert (run.status.value, run.attempt) == ("executed", 2)


def test_a_task_that_runs_too_long_is_stopped_and_begins_again(nights):
    nights.cloud.advance(hours=13)
    [stopped] = nights.tasks("STOPPED")
    [running] = nights.tasks()
    assert running["startedBy"] == stopped["startedBy"] + "-2"


def test_a_cancel_stops_the_task(nights):
    nights.cloud.advance(hours=6)
    [run] = nights.cloud.actions("processing")
    nights.cloud.scheduler.cancel(run.id)
    nights.cloud.advance(seconds=10)
    nights.publish()
    assert not nights.tasks()
    assert nights.cloud.scheduler.get(run.id).status.value == "cancelled"
