"""Messages of a worker that were given up, in each form in which AWS hands them over.

And what operators do with them.
"""

from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws.keys import row_key
from duetime.errors import BackendMisconfigured, UndeliveredNotFound
from duetime.model.action import ActionRef
from duetime.model.undelivered import BODY_LIMIT, UndeliveredKind
from examples.billing import SendReceipt
from tests.functions.conftest import sample
from tests.functions.salvaged import TAKEN, body_of, dead_message, unplugged, with_body
from tests.functions.salvaged import desk as desk  # noqa: PLC0414 - fixtures
from tests.functions.salvaged import salvage as salvage  # noqa: PLC0414
from tests.functions.salvaged import scheduler as scheduler  # noqa: PLC0414


def test_a_dead_message_of_an_action_that_waits_is_kept_and_not_sent_again(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    assert salvage(dead_message(action)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action) == (UndeliveredKind.MESSAGE, "due-default", action.ref)
    assert thing.count == 1
    assert queued() == []


def test_however_many_of_its_messages_die_it_is_one_thing(salvage, scheduler, desk):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    for number in ("a", "b", "c"):
        event = dead_message(action)
        event["Records"][0]["messageId"] = number
        salvage(event)
    (thing,) = desk.list()
    assert thing.count == 3
    moved = scheduler.reschedule(action.id, timedelta(0))
    salvage(dead_message(moved))
    assert len(desk.list()) == 2


def test_a_dead_message_of_an_action_that_is_settled_gone_or_due_anew_is_of_no_consequence(
    salvage, scheduler, desk
):
    settled = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    scheduler.cancel(settled.id)
    moved = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    scheduler.reschedule(moved.id, timedelta(days=1))
    for event in (dead_message(settled), dead_message(moved), sample("undelivered")):
        assert salvage(event) == TAKEN
    assert len(desk.list()) == 0


def test_redriving_it_sends_its_wake_and_forgets_it(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    assert desk.redriven(thing) == TAKEN
    assert [(each["id"], each["delay"]) for each in queued()] == [(action.id, 0)]
    with pytest.raises(UndeliveredNotFound):
        desk.get(thing.id)


def test_redriving_it_when_its_action_is_settled_just_forgets_it(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    scheduler.cancel(action.id)
    assert desk.redriven(thing) == TAKEN
    assert (len(desk.list()), queued()) == (0, [])


def test_what_is_redriven_in_vain_stays_with_the_new_reason(salvage, scheduler, desk, monkeypatch):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    unplugged(monkeypatch)
    assert desk.redriven(thing) == TAKEN
    (kept,) = desk.list()
    assert (kept.id, kept.count, kept.action) == (thing.id, 2, action.ref)
    assert kept.reason.startswith("redriven in vain: BackendUnavailable: SQS is not available")


def test_a_row_that_cannot_be_read_is_kept_with_why(salvage, deployed, desk):
    told = body_of(sample("undelivered"))
    key = row_key(ActionRef(told["tenant"], told["id"]))
    boto3.client("dynamodb").put_item(
        TableName=deployed.actions_table, Item=key | {"status": {"S": "strange"}}
    )
    assert salvage(sample("undelivered")) == TAKEN
    (thing,) = desk.list()
    assert "cannot be read" in thing.reason


@pytest.mark.parametrize("body", ["poison", "[]", "null", "{}", '{"redrive": "u.20260301T120500Z.0123456789abcdef"}',
    '{"tenant": "a#b", "id": "019ca932-7c00-735e-a389-6f2fb6b5d775", "type": "x", "due_at": "2026-03-01T12:05:00Z", "gen": 1}',
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "2026-03-01T12:05:00Z", "gen": 1}',
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "0001-01-01T00:00:00+14:00", "gen": 1}',
])  # fmt: skip
def test_what_no_worker_could_read_is_kept_and_put_back_onto_its_queue(salvage, desk, deployed, body):
    assert salvage(with_body(sample("undelivered"), body)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.body, thing.action) == (
        UndeliveredKind.MESSAGE, "due-default", body, None,
    )  # fmt: skip
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 0
    (message,) = boto3.client("sqs").receive_message(QueueUrl=deployed.queues["default"])["Messages"]
    assert message["Body"] == body


@pytest.mark.parametrize(
    "body",
    [
        "poison", "[1]", '"text"', "{}", '{"redrive": 7}', '{"redrive": "u.1"}', '{"requestPayload": {}}',
        '{"DDBStreamBatchInfo": {}, "requestContext": {}}', '{"DDBStreamBatchInfo": 7}',
        '{"requestPayload": {}, "requestContext": {"functionArn": "arn", "condition": "x"}}',
        '{"requestPayload": 7, "requestContext": {"functionArn": 7}}',
        '{"requestPayload": 7, "requestContext": {"functionArn": "a:b:c:d:e:f:duetime-dispatch", "condition": ""}}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_what_nobody_can_read_among_the_failures_is_kept(salvage, desk, body):
    assert salvage(with_body(sample("undelivered-redrive"), body)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.body) == (UndeliveredKind.MESSAGE, "failures", body)


def test_a_body_that_is_too_long_is_kept_as_far_as_it_goes_and_not_put_back(salvage, desk, queued):
    salvage(with_body(sample("undelivered"), "é" * BODY_LIMIT))
    (thing,) = desk.list()
    assert thing.is_cut
    assert thing.body == "é" * (BODY_LIMIT // 2)
    assert desk.redriven(thing) == TAKEN
    (kept,) = desk.list()
    assert "cannot be done again" in kept.reason
    assert queued() == []


def test_what_cannot_be_kept_comes_again(salvage, deployed, scheduler):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    event = dead_message(action)
    boto3.client("dynamodb").delete_table(TableName=deployed.jobs_table)
    failed = {"itemIdentifier": event["Records"][0]["messageId"]}
    assert salvage(event) == {"batchItemFailures": [failed]}


def test_without_the_failure_queue_a_redrive_says_what_is_missing(salvage, desk, monkeypatch):
    salvage(with_body(sample("undelivered"), "poison"))
    monkeypatch.delenv("DUETIME_FAILURE_QUEUE")
    blind = Scheduler.from_env(tenant_id="acme").undelivered
    (thing,) = blind.list()
    with pytest.raises(BackendMisconfigured, match="DUETIME_FAILURE_QUEUE"):
        blind.redrive(thing.id)


def test_a_request_to_redrive_what_is_gone_needs_nothing(salvage, desk):
    assert salvage(sample("undelivered-redrive")) == TAKEN
    assert len(desk.list()) == 0
