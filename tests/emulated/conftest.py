import json
import threading
from datetime import timedelta

import pytest

from duetime import App, Payload, Run
from duetime.settings import Settings
from duetime.testing import WorkerDied
from tests.emulated import LocalCloud, LocalOptions
from tests.emulated.addresses import queue_arn
from tests.quick_moto import quick_local_clouds

PATIENCE = 120.0
"""Seconds. Events take one or two; a busy machine may need more."""


class Note(Payload):
    text: str


class Deadly(Payload):
    text: str


class Notes:
    """An app whose handlers record their runs, and kill their worker `kills_left` times."""

    def __init__(self):
        self.app = App()
        self.runs: list[tuple[str, Run]] = []
        self.kills_left = 0
        self.blocked_until: threading.Event | None = None
        self._changed = threading.Condition()
        self.app.action(self._note())
        self.app.action(self._deadly())

    def _note(self):
        def note(payload: Note, run: Run) -> None:
            if self.blocked_until:
                self.blocked_until.wait(PATIENCE)
            self._write(payload.text, run)

        return note

    def _deadly(self):
        def deadly(payload: Deadly, run: Run) -> None:
            self._write(payload.text, run)
            if self.kills_left:
                self.kills_left -= 1
                raise WorkerDied(f"killed in {payload.text}")

        return deadly

    def _write(self, text, run):
        with self._changed:
            self.runs.append((text, run))
            self._changed.notify_all()

    def of(self, text):
        return [run for written, run in self.runs if written == text]

    def wait_for(self, text, count=1):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.of(text)) >= count, PATIENCE), (
                f"{text} did not run"
            )
        return self.of(text)


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
def notes():
    return Notes()


@pytest.fixture
def cloud(notes):
    with LocalCloud(notes.app, LocalOptions(settings=SHORT)) as cloud:
        yield cloud


def eventually(condition, what="it"):
    """Wait until `condition` returns a true value, and return it."""
    waited, tick = 0.0, 0.02
    while not (found := condition()):
        assert waited < PATIENCE, f"{what} did not happen"
        threading.Event().wait(tick)
        waited += tick
    return found


def status_of(cloud, action):
    return cloud.scheduler().get(action.id).status


def settled(cloud, action):
    """Wait until the action is final, and return it."""

    def final():
        found = cloud.scheduler().get(action.id)
        return found if found.status.is_final else None

    return eventually(final, f"the end of {action.id}")


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


def rest(seconds):
    """Wait in real time while something must not happen."""
    threading.Event().wait(seconds)
