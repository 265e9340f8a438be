"""Failed inputs become undelivered through the deployed function, and can be redriven."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.aws.messages import to_json
from duetime.model.undelivered import UndeliveredKind
from duetime.wakeups.due_messages import message_of
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.conftest import SHORT, Deadly, Note, eventually, give_up, settled
from tests.emulated.test_one_shots import make_schedule

HASTY = EmulatedOptions(
    settings=SHORT.with_made(queue_visibility=timedelta(seconds=1)),
    max_receives=2,
    retry_waits=(timedelta(seconds=0.1), timedelta(seconds=0.2)),
)


@pytest.fixture
def cloud(notes):
    with EmulatedCloud(notes.app, HASTY) as cloud:
        yield cloud


def undelivered_item(cloud, **of):
    """Wait for the only undelivered item with these values, and return it."""

    def found():
        items = cloud.scheduler().undelivered.list()
        return [item for item in items if all(getattr(item, name) == value for name, value in of.items())]

    (item,) = eventually(found, f"an undelivered item, {of}")
    return item


def test_a_malformed_message_becomes_undelivered_and_can_be_redriven(cloud, notes):
    cloud.client("sqs").send_message(QueueUrl=cloud.settings.made.queues["default"], MessageBody="poison")
    item = undelivered_item(cloud)
    assert (item.kind, item.source, item.body) == (UndeliveredKind.MESSAGE, "due-default", "poison")
    assert item.action is None
    cloud.scheduler().undelivered.redrive(item.id)
    eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
    again = undelivered_item(cloud)
    assert (again.body, again.count) == ("poison", 1)


def test_an_undelivered_message_names_its_action_and_its_redrive_runs_it(notes):
    patient = replace(HASTY.settings, grace=timedelta(minutes=9))
    with EmulatedCloud(notes.app, replace(HASTY, settings=patient)) as cloud:
        notes.kills_left = 1
        action = cloud.scheduler().schedule(Deadly(text="killed"), at=timedelta(0))
        notes.wait_for("killed")
        message = to_json(message_of(action))
        give_up(cloud, message)
        item = undelivered_item(cloud, source="due-spare")
        assert (item.kind, item.action, item.body) == (UndeliveredKind.MESSAGE, action.ref, message)
        settled(cloud, action)
        cloud.scheduler().undelivered.redrive(item.id)
        eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
        assert len(notes.of("killed")) == 2


def test_a_wake_that_dispatch_rejects_becomes_undelivered(cloud):
    make_schedule(
        cloud,
        "strange",
        "rate(1 hour)",
        target=cloud.settings.made.dispatch_arn,
        target_input='{"no": "wake"}',
    )
    item = undelivered_item(cloud)
    assert (item.kind, item.source, json.loads(item.body)) == (
        UndeliveredKind.WAKE,
        "dispatch",
        {"no": "wake"},
    )
    assert "cannot be read as a message" in item.reason


def test_a_wake_for_a_missing_function_becomes_undelivered(cloud):
    missing = "arn:aws:lambda:us-east-1:123456789012:function:missing"
    make_schedule(cloud, "lost", "rate(1 hour)", target=missing, target_input='{"to": "missing"}')
    item = undelivered_item(cloud)
    assert (item.kind, item.source, json.loads(item.body)) == (
        UndeliveredKind.MESSAGE,
        "failures",
        {"to": "missing"},
    )


def test_a_redrive_arms_a_failed_stream_record(notes):
    def broken(_event, _context):
        raise ConnectionError("no queue")

    options = replace(
        HASTY,
        settings=replace(SHORT, grace=timedelta(minutes=9)),
        wrap_handler=lambda name, handler: broken if name == "duetime-arm" else handler,
        longest_pause=timedelta(milliseconds=10),
    )
    with EmulatedCloud(notes.app, options) as cloud:
        action = cloud.scheduler().schedule(Note(text="unarmed"), at=timedelta(0))
        settled(cloud, action)
        assert len(notes.of("unarmed")) == 1
        assert list(cloud.scheduler().undelivered.list()) == []


def test_a_poison_message_becomes_undelivered_and_a_redrive_sends_it_again(notes):
    with EmulatedCloud(notes.app, replace(HASTY, mail_to="ops@acme.example", max_receives=1)) as cloud:
        sqs, url = cloud.client("sqs"), cloud.settings.made.notification_queue
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
        sqs.send_message(QueueUrl=url, MessageBody="poison")
        item = undelivered_item(cloud, kind=UndeliveredKind.NOTIFICATION)
        assert (item.source, item.body) == ("notifications", "poison")
        cloud.scheduler().undelivered.redrive(item.id)
        eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
        again = undelivered_item(cloud, kind=UndeliveredKind.NOTIFICATION)
        assert (again.body, again.count) == ("poison", 1)
