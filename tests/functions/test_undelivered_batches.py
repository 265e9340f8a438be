"""Undelivered batches of a stream: each record is armed alone, or stored for an operator."""

from datetime import timedelta

import boto3

from duetime.aws import clients
from duetime.aws.keys import row_key
from duetime.model.undelivered import UndeliveredKind
from examples.billing import SendReceipt
from tests.functions.aws_faults import failing
from tests.functions.conftest import sample
from tests.functions.undelivered_inputs import NO_FAILURES, stream_event, without_sqs
from tests.functions.undelivered_inputs import handle_undelivered as handle_undelivered  # noqa: PLC0414
from tests.functions.undelivered_inputs import operator as operator  # noqa: PLC0414 - fixtures
from tests.functions.undelivered_inputs import scheduler as scheduler  # noqa: PLC0414


def test_an_undelivered_batch_is_armed_record_by_record(
    handle_undelivered, scheduler, deployed, operator, queued
):
    actions = [scheduler.schedule(SendReceipt(order=f"o-{index}"), at=timedelta(0)) for index in range(3)]
    assert handle_undelivered(stream_event(deployed, 2)) == NO_FAILURES
    assert {message["id"] for message in queued()} == {action.id for action in actions[:2]}
    assert len(operator.list()) == 0


def test_a_record_that_fails_again_is_stored_alone_and_its_redrive_arms_the_row(
    handle_undelivered, scheduler, deployed, operator, queued
):
    far = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(days=1))
    near = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    with without_sqs():
        for _ in range(2):
            assert handle_undelivered(stream_event(deployed, 2)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.action, entry.count) == (
        UndeliveredKind.RECORD,
        "arm",
        near.ref,
        2,
    )
    assert "receipt" not in entry.body
    schedules = boto3.client("scheduler").list_schedules(GroupName=deployed.made.schedule_group)["Schedules"]
    assert [schedule["Name"] for schedule in schedules] == [f"acme.{far.id}.1"]
    assert operator.redrive(entry) == NO_FAILURES
    assert [message["id"] for message in queued()] == [near.id]
    assert len(operator.list()) == 0


def test_the_redrive_of_a_removal_removes_its_key_and_payload(
    handle_undelivered, scheduler, deployed, operator
):
    keyed = {"at": timedelta(days=1), "idempotency_key": "order-17"}
    action = scheduler.schedule(SendReceipt(order="x" * 5_000), **keyed)
    dynamodb, table = boto3.client("dynamodb"), deployed.made.actions_table
    dynamodb.delete_item(TableName=table, Key=row_key(action.ref))
    with failing(clients.dynamodb(), "DeleteItem"):
        assert handle_undelivered(stream_event(deployed, 4)) == NO_FAILURES
    (entry,) = operator.list()
    assert entry.action == action.ref
    assert operator.redrive(entry) == NO_FAILURES
    assert dynamodb.scan(TableName=table)["Items"] == []


def test_an_unreadable_record_is_stored(handle_undelivered, deployed, operator):
    row = {"pk": {"S": "acme#5"}, "sk": {"S": "019ca932-7c00-735e-a389-6f2fb6b5d775"}}
    boto3.client("dynamodb").put_item(
        TableName=deployed.made.actions_table, Item=row | {"status": {"S": "strange"}}
    )
    assert handle_undelivered(stream_event(deployed, 1)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.action.id, entry.reason) == (row["sk"]["S"], "the record cannot be read")


def test_a_batch_that_has_left_the_stream_is_stored_until_an_operator_redrives_it(
    handle_undelivered, operator
):
    with failing(clients.dynamodb_streams(), "GetShardIterator", "TrimmedDataAccessException"):
        assert handle_undelivered(sample("undelivered-stream")) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.action) == (UndeliveredKind.RECORD, "arm", None)
    assert "DDBStreamBatchInfo" in entry.body
    assert operator.redrive(entry) == NO_FAILURES
    assert len(operator.list()) == 0
