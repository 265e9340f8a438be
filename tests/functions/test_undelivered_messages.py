"""The undelivered messages of a worker, in each form of AWS, and their redrive."""

from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws.damaged_rows import to_message
from duetime.aws.keys import row_key
from duetime.errors import BackendMisconfigured, NotFound
from duetime.model.action import ActionRef
from duetime.model.undelivered import BODY_LIMIT, UndeliveredKind
from duetime.ports.actions import DamagedItem, DamagedRow
from examples.billing import SendReceipt
from tests.functions.conftest import sample
from tests.functions.undelivered_inputs import NO_FAILURES, body_of, dead_letter, with_body, without_sqs
from tests.functions.undelivered_inputs import handle_undelivered as handle_undelivered  # noqa: PLC0414
from tests.functions.undelivered_inputs import operator as operator  # noqa: PLC0414 - fixtures
from tests.functions.undelivered_inputs import scheduler as scheduler  # noqa: PLC0414


def test_the_dead_letter_of_a_pending_action_is_stored_and_not_sent_again(
    handle_undelivered, scheduler, operator, queued
):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    assert handle_undelivered(dead_letter(action)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.action) == (UndeliveredKind.MESSAGE, "due-default", action.ref)
    assert entry.count == 1
    assert queued() == []


def test_all_dead_letters_of_one_due_time_are_one_entry(handle_undelivered, scheduler, operator):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    for number in ("a", "b", "c"):
        event = dead_letter(action)
        event["Records"][0]["messageId"] = number
        handle_undelivered(event)
    (entry,) = operator.list()
    assert entry.count == 3
    moved = scheduler.reschedule(action.id, timedelta(0))
    handle_undelivered(dead_letter(moved))
    assert len(operator.list()) == 2


def test_each_dead_notification_is_an_entry_with_its_body(handle_undelivered, operator):
    dead = sample("undelivered-notification")
    for number in ("a", "b", "b"):
        event = with_body(dead, {"detail": number}, messageId=number)
        assert handle_undelivered(event) == NO_FAILURES
    entries = operator.list()
    assert {(entry.kind, entry.source) for entry in entries} == {
        (UndeliveredKind.NOTIFICATION, "notifications")
    }
    assert sorted((entry.body, entry.count) for entry in entries) == [
        ('{"detail": "a"}', 1),
        ('{"detail": "b"}', 2),
    ]


def test_a_damaged_item_is_one_entry_however_often_it_is_found(handle_undelivered, scheduler, operator):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    row, item = (
        DamagedRow(action.ref, "no type"),
        DamagedItem("preferences", "acme#preferences", "-", "no kinds"),
    )
    for found in (row, item, row):
        event = with_body(sample("undelivered-redrive"), to_message(found, "sweep"))
        assert handle_undelivered(event) == NO_FAILURES
    entries = operator.list()
    assert {(entry.kind, entry.source) for entry in entries} == {(UndeliveredKind.RECORD, "sweep")}
    assert {(entry.action, entry.reason, entry.count) for entry in entries} == {
        (action.ref, "no type", 2),
        (None, "no kinds", 1),
    }


def test_the_dead_letter_of_a_settled_removed_or_rescheduled_action_is_ignored(
    handle_undelivered, scheduler, operator
):
    settled = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    scheduler.cancel(settled.id)
    moved = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    scheduler.reschedule(moved.id, timedelta(days=1))
    for event in (dead_letter(settled), dead_letter(moved), sample("undelivered")):
        assert handle_undelivered(event) == NO_FAILURES
    assert len(operator.list()) == 0


def test_a_redrive_sends_the_wake_and_removes_the_entry(handle_undelivered, scheduler, operator, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    handle_undelivered(dead_letter(action))
    (entry,) = operator.list()
    assert operator.redrive(entry) == NO_FAILURES
    assert [(message["id"], message["delay"]) for message in queued()] == [(action.id, 0)]
    with pytest.raises(NotFound, match="no undelivered input"):
        operator.get(entry.id)


def test_a_redrive_for_a_settled_action_only_removes_the_entry(
    handle_undelivered, scheduler, operator, queued
):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    handle_undelivered(dead_letter(action))
    (entry,) = operator.list()
    scheduler.cancel(action.id)
    assert operator.redrive(entry) == NO_FAILURES
    assert (len(operator.list()), queued()) == (0, [])


def test_a_failed_redrive_keeps_the_entry_with_the_new_reason(handle_undelivered, scheduler, operator):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    handle_undelivered(dead_letter(action))
    (entry,) = operator.list()
    with without_sqs():
        assert operator.redrive(entry) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.id, entry.count, entry.action) == (entry.id, 2, action.ref)
    assert entry.reason.startswith("redriven in vain: BackendUnavailable: SQS is not available")


def test_the_message_of_an_unreadable_row_is_stored_with_the_reason(handle_undelivered, deployed, operator):
    message = body_of(sample("undelivered"))
    key = row_key(ActionRef(message["tenant"], message["id"]))
    boto3.client("dynamodb").put_item(
        TableName=deployed.made.actions_table, Item=key | {"status": {"S": "strange"}}
    )
    assert handle_undelivered(sample("undelivered")) == NO_FAILURES
    (entry,) = operator.list()
    assert "cannot be read" in entry.reason


@pytest.mark.parametrize("body", [
    "poison", "[]", "null", "{}", '{"redrive": "u.20260301T120500Z.0123456789abcdef"}',
    ('{"tenant": "a#b", "id": "019ca932-7c00-735e-a389-6f2fb6b5d775", "type": "x",'
     ' "due_at": "2026-03-01T12:05:00Z", "generation": 1}'),
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "2026-03-01T12:05:00Z", "generation": 1}',
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "0001-01-01T00:00:00+14:00", "generation": 1}',
])  # fmt: skip
def test_an_unreadable_message_is_stored_and_its_redrive_sends_it_to_its_queue(
    handle_undelivered, operator, deployed, body
):
    assert handle_undelivered(with_body(sample("undelivered"), body)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.body, entry.action) == (
        UndeliveredKind.MESSAGE, "due-default", body, None,
    )  # fmt: skip
    assert operator.redrive(entry) == NO_FAILURES
    assert len(operator.list()) == 0
    (message,) = boto3.client("sqs").receive_message(QueueUrl=deployed.made.queues["default"])["Messages"]
    assert message["Body"] == body


@pytest.mark.parametrize("queue", ["other-due-default", "due-default", "notifications"])
@pytest.mark.parametrize("body", ['{"redrive": "u.20260301T120500Z.0123456789abcdef"}', None])
def test_a_dead_letter_of_a_foreign_queue_is_only_stored(
    handle_undelivered, scheduler, operator, body, queue
):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    foreign = dead_letter(action) if body is None else with_body(sample("undelivered"), body)
    arn = f"arn:aws:sqs:eu-west-1:123456789012:{queue}"
    foreign["Records"][0]["attributes"]["DeadLetterQueueSourceArn"] = arn
    assert handle_undelivered(foreign) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.action) == (UndeliveredKind.MESSAGE, arn, None)
    assert entry.reason.endswith(f"{arn!r} is no queue of duetime's")
    assert operator.redrive(entry) == NO_FAILURES
    (entry,) = operator.list()
    assert entry.reason.startswith("redriven in vain")


@pytest.mark.parametrize(
    "body",
    [
        "poison", "[1]", '"text"', "{}", '{"redrive": 7}', '{"redrive": "u.1"}', '{"requestPayload": {}}',
        '{"DDBStreamBatchInfo": {}, "requestContext": {}}', '{"DDBStreamBatchInfo": 7}',
        '{"requestPayload": {}, "requestContext": {"functionArn": "arn", "condition": "x"}}',
        '{"requestPayload": 7, "requestContext": {"functionArn": 7}}',
        ('{"requestPayload": 7,'
         ' "requestContext": {"functionArn": "a:b:c:d:e:f:duetime-dispatch", "condition": ""}}'),
        "[" * 100_000,
    ],
)  # fmt: skip
def test_an_unreadable_message_of_the_failure_queue_is_stored(handle_undelivered, operator, body):
    assert handle_undelivered(with_body(sample("undelivered-redrive"), body)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.body) == (UndeliveredKind.MESSAGE, "failures", body)


def test_a_long_body_is_truncated_and_not_sent_again(handle_undelivered, operator, queued):
    handle_undelivered(with_body(sample("undelivered"), "é" * BODY_LIMIT))
    (entry,) = operator.list()
    assert entry.is_cut
    assert entry.body == "é" * (BODY_LIMIT // 2)
    assert operator.redrive(entry) == NO_FAILURES
    (entry,) = operator.list()
    assert "cannot be redriven" in entry.reason
    assert queued() == []


def test_a_message_that_cannot_be_stored_is_reported_as_failed(handle_undelivered, deployed, scheduler):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    event = dead_letter(action)
    boto3.client("dynamodb").delete_table(TableName=deployed.made.jobs_table)
    failed = {"itemIdentifier": event["Records"][0]["messageId"]}
    assert handle_undelivered(event) == {"batchItemFailures": [failed]}


def test_the_error_of_a_redrive_without_the_failure_queue_names_the_setting(
    handle_undelivered, operator, monkeypatch
):
    handle_undelivered(with_body(sample("undelivered"), "poison"))
    monkeypatch.delenv("DUETIME_FAILURE_QUEUE")
    blind = Scheduler.from_env(tenant_id="acme").undelivered
    (entry,) = blind.list()
    with pytest.raises(BackendMisconfigured, match="DUETIME_FAILURE_QUEUE"):
        blind.redrive(entry.id)


def test_a_redrive_of_a_removed_entry_is_ignored(handle_undelivered, operator):
    assert handle_undelivered(sample("undelivered-redrive")) == NO_FAILURES
    assert len(operator.list()) == 0
