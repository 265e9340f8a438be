"""What was given up is salvaged by the very function that a deploy ships, and redriven when somebody asks."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.aws.messages import to_json
from duetime.local import LocalCloud, LocalOptions
from duetime.model.undelivered import UndeliveredKind
from duetime.wakeups.due_messages import message_of
from tests.local.conftest import SHORT, Deadly, Note, eventually, settled
from tests.local.test_one_shots_on_the_local_cloud import make_schedule

HASTY = LocalOptions(
    settings=replace(SHORT, queue_visibility=timedelta(seconds=1)),
    max_receives=2,
    retry_waits=(timedelta(seconds=0.1), timedelta(seconds=0.2)),
)


@pytest.fixture
def cloud(notes):
    with LocalCloud(notes.app, HASTY) as cloud:
        yield cloud


def undelivered_thing(cloud, **of):
    """The one undelivered thing, once there is one that is so."""

    def found():
        things = cloud.scheduler().undelivered.list()
        return [thing for thing in things if all(getattr(thing, name) == value for name, value in of.items())]

    (thing,) = eventually(found, f"something undelivered, {of}")
    return thing


def test_a_malformed_message_becomes_undelivered_and_can_be_redriven(cloud, notes):
    cloud.client("sqs").send_message(QueueUrl=cloud.settings.queues["default"], MessageBody="poison")
    thing = undelivered_thing(cloud)
    assert (thing.kind, thing.source, thing.body) == (UndeliveredKind.MESSAGE, "due-default", "poison")
    assert thing.action is None
    cloud.scheduler().undelivered.redrive(thing.id)
    eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
    again = undelivered_thing(cloud)
    assert (again.body, again.count) == ("poison", 1)


def test_an_undelivered_message_names_its_action_and_its_redrive_runs_it(notes):
    patient = replace(HASTY.settings, grace=timedelta(minutes=9))
    with LocalCloud(notes.app, replace(HASTY, settings=patient)) as cloud:
        notes.kills_left = 1
        action = cloud.scheduler().schedule(Deadly(text="killed"), at=timedelta(0))
        notes.wait_for("killed")
        message = to_json(message_of(action))
        dead = cloud.client("sqs").get_queue_url(QueueName="duetime-due-default-dead")["QueueUrl"]
        cloud.client("sqs").send_message(QueueUrl=dead, MessageBody=message)
        thing = undelivered_thing(cloud)
        assert (thing.kind, thing.action, thing.body) == (UndeliveredKind.MESSAGE, action.ref, message)
        settled(cloud, action)
        cloud.scheduler().undelivered.redrive(thing.id)
        eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
        assert len(notes.of("killed")) == 2


def test_a_wake_that_dispatch_rejects_becomes_undelivered(cloud):
    make_schedule(
        cloud, "strange", "rate(1 hour)", target=cloud.settings.dispatch_arn, target_input='{"no": "wake"}'
    )
    thing = undelivered_thing(cloud)
    assert (thing.kind, thing.source, json.loads(thing.body)) == (
        UndeliveredKind.WAKE,
        "dispatch",
        {"no": "wake"},
    )
    assert "not a due message" in thing.reason


def test_a_wake_for_a_missing_function_becomes_undelivered(cloud):
    nobody = "arn:aws:lambda:us-east-1:123456789012:function:nobody"
    make_schedule(cloud, "lost", "rate(1 hour)", target=nobody, target_input='{"to": "nobody"}')
    thing = undelivered_thing(cloud)
    assert (thing.kind, thing.source, json.loads(thing.body)) == (
        UndeliveredKind.MESSAGE,
        "failures",
        {"to": "nobody"},
    )


def test_a_redrive_arms_a_failed_stream_record(notes, monkeypatch):
    def broken(_event, _context):
        raise ConnectionError("no queue")

    monkeypatch.setattr("duetime.lambdas.arm.make_handler", lambda _settings, **_said: broken)
    monkeypatch.setattr("duetime.local.stream_delivery.LONGEST_PAUSE", timedelta(milliseconds=10))
    patient = replace(SHORT, grace=timedelta(minutes=9))
    with LocalCloud(notes.app, replace(HASTY, settings=patient)) as cloud:
        action = cloud.scheduler().schedule(Note(text="unarmed"), at=timedelta(0))
        settled(cloud, action)
        assert len(notes.of("unarmed")) == 1
        assert list(cloud.scheduler().undelivered.list()) == []
