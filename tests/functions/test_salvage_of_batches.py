"""Batches of a stream that were given up: each record is armed alone, or kept until somebody has seen it."""
# ruff: noqa: PLR0917 - a test is given the fixtures that it tells of

from datetime import timedelta

import boto3

from duetime.aws.keys import row_key
from duetime.errors import BackendUnavailable
from duetime.model.undelivered import UndeliveredKind
from examples.billing import SendReceipt
from tests.functions.conftest import sample
from tests.functions.salvaged import TAKEN, stream_event, unplugged
from tests.functions.salvaged import desk as desk  # noqa: PLC0414 - fixtures
from tests.functions.salvaged import salvage as salvage  # noqa: PLC0414
from tests.functions.salvaged import scheduler as scheduler  # noqa: PLC0414


def test_a_batch_that_arm_gave_up_on_is_armed_record_by_record(salvage, scheduler, deployed, desk, queued):
    actions = [scheduler.schedule(SendReceipt(order=f"o-{index}"), at=timedelta(0)) for index in range(3)]
    assert salvage(stream_event(deployed, 2)) == TAKEN
    assert {each["id"] for each in queued()} == {action.id for action in actions[:2]}
    assert len(desk.list()) == 0


def test_a_record_that_fails_again_is_kept_alone_and_its_redrive_arms_the_row(
    salvage, scheduler, deployed, desk, queued, monkeypatch
):
    far = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(days=1))
    near = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    with monkeypatch.context() as while_sqs_is_gone:
        unplugged(while_sqs_is_gone)
        for _ in range(2):
            assert salvage(stream_event(deployed, 2)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action, thing.count) == (
        UndeliveredKind.RECORD,
        "arm",
        near.ref,
        2,
    )
    assert "receipt" not in thing.body
    schedules = boto3.client("scheduler").list_schedules(GroupName=deployed.schedule_group)["Schedules"]
    assert [schedule["Name"] for schedule in schedules] == [f"{far.id}.1"]
    assert desk.redriven(thing) == TAKEN
    assert [each["id"] for each in queued()] == [near.id]
    assert len(desk.list()) == 0


def test_a_removal_that_fails_again_takes_its_key_and_payload_along_when_it_is_redriven(
    salvage, scheduler, deployed, desk, monkeypatch
):
    keyed = {"at": timedelta(days=1), "idempotency_key": "order-17"}
    action = scheduler.schedule(SendReceipt(order="x" * 5_000), **keyed)
    dynamodb, table = boto3.client("dynamodb"), deployed.actions_table
    dynamodb.delete_item(TableName=table, Key=row_key(action.ref))

    def refuse(*_about):
        raise BackendUnavailable("DynamoDB", "throttled")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("duetime.aws.store.DynamoStore.remove_payload", refuse)
        meanwhile.setattr("duetime.aws.store.DynamoStore.remove_key", refuse)
        assert salvage(stream_event(deployed, 4)) == TAKEN
    (thing,) = desk.list()
    assert thing.action == action.ref
    assert desk.redriven(thing) == TAKEN
    assert dynamodb.scan(TableName=table)["Items"] == []


def test_a_record_that_cannot_be_read_is_kept(salvage, deployed, desk):
    row = {"pk": {"S": "acme#5"}, "sk": {"S": "019ca932-7c00-735e-a389-6f2fb6b5d775"}}
    boto3.client("dynamodb").put_item(
        TableName=deployed.actions_table, Item=row | {"status": {"S": "strange"}}
    )
    assert salvage(stream_event(deployed, 1)) == TAKEN
    (thing,) = desk.list()
    assert (thing.action.id, thing.reason) == (row["sk"]["S"], "the record cannot be read")


def test_a_batch_that_is_no_longer_in_the_stream_is_kept_until_somebody_has_seen_it(
    salvage, desk, monkeypatch
):
    monkeypatch.setattr("duetime.aws.streams.DynamoStream.read", lambda *_about: None)
    assert salvage(sample("undelivered-stream")) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action) == (UndeliveredKind.RECORD, "arm", None)
    assert "DDBStreamBatchInfo" in thing.body
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 0
