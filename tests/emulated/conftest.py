"""The emulated deployment with an app that notes its runs, and what its tests ask it."""

import json
from datetime import timedelta

import pytest

from duetime.settings import Settings
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.addresses import queue_arn
from tests.local.conftest import PATIENCE, Deadly, Note, Notes, eventually, notes, rest, settled, status_of
from tests.quick_moto import quick_local_clouds

__all__ = ["PATIENCE", "Deadly", "Note", "Notes", "eventually", "notes", "rest", "settled", "status_of"]

SHORT = Settings(
    near_limit=timedelta(seconds=2),
    wake_early=timedelta(seconds=1),
    lease=timedelta(seconds=2),
    heartbeat=timedelta(seconds=0.5),
    cancel_poll=timedelta(seconds=0.2),
    clock_skew=timedelta(0),
    grace=timedelta(seconds=1),
)


@pytest.fixture(autouse=True)
def quick_clouds():
    """Start the local clouds of these tests with what the first one of the process has learnt."""
    with quick_local_clouds():
        yield


@pytest.fixture
def cloud(notes):
    with EmulatedCloud(notes.app, EmulatedOptions(settings=SHORT)) as cloud:
        yield cloud


def give_up(cloud, body):
    """Make a message the dead letter of a due queue, which is not polled."""
    sqs, policy = cloud.client("sqs"), {"deadLetterTargetArn": queue_arn("duetime-failures")}
    spare = {"RedrivePolicy": json.dumps(policy | {"maxReceiveCount": 1}), "VisibilityTimeout": "0"}
    url = sqs.create_queue(QueueName="duetime-due-spare", Attributes=spare)["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=body)
    eventually(lambda: not sqs.receive_message(QueueUrl=url).get("Messages"), "the last receive")


def schedules_in(cloud):
    group = cloud.settings.made.schedule_group
    return [
        schedule["Name"]
        for schedule in cloud.client("scheduler").list_schedules(GroupName=group)["Schedules"]
    ]
