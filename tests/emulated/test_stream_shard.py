"""The stream of the local cloud has one record for each write, as DynamoDB's has, even where moto has two."""

import boto3
import pytest
from moto import mock_aws

from duetime.aws.tables import ACTIONS, create_table_request
from tests.emulated.call_lock import CallLock
from tests.emulated.stream_poller import StreamShard


@pytest.fixture
def dynamodb(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(**create_table_request(ACTIONS, "actions"))
        yield client


def key(sort):
    return {"pk": {"S": "acme#1"}, "sk": {"S": sort}}


def update(client, sort):
    client.update_item(
        TableName="actions",
        Key=key(sort),
        UpdateExpression="SET n = if_not_exists(n, :zero) + :one",
        ExpressionAttributeValues={":zero": {"N": "0"}, ":one": {"N": "1"}},
    )


def summary(records):
    return [
        (
            record["eventName"],
            record["dynamodb"]["Keys"]["sk"]["S"],
            record["dynamodb"].get("NewImage", {}).get("n"),
        )
        for record in records
    ]


def written(client):
    update(client, "a")
    update(client, "a")
    client.put_item(TableName="actions", Item=key("b"))
    update(client, "c")
    client.delete_item(TableName="actions", Key=key("b"))
    client.put_item(TableName="actions", Item=key("b"))
    update(client, "d")


WRITTEN = [
    ("INSERT", "a", {"N": "1"}),
    ("MODIFY", "a", {"N": "2"}),
    ("INSERT", "b", None),
    ("INSERT", "c", {"N": "1"}),
    ("REMOVE", "b", None),
    ("INSERT", "b", None),
    ("INSERT", "d", {"N": "1"}),
]


def test_an_update_that_creates_an_item_is_one_record_with_the_new_item(dynamodb):
    shard = StreamShard(CallLock(), "actions")
    written(dynamodb)
    assert summary(shard.read(1_000)) == WRITTEN
    assert shard.read(1_000) == []


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_records_are_the_same_for_every_page_size(dynamodb, most):
    shard, found = StreamShard(CallLock(), "actions"), []
    written(dynamodb)
    while page := shard.read(most):
        assert len(page) <= most
        found += summary(page)
    assert found == WRITTEN


def test_records_written_during_a_read_come_after_it(dynamodb):
    shard = StreamShard(CallLock(), "actions")
    update(dynamodb, "a")
    assert summary(shard.read(10)) == WRITTEN[:1]
    update(dynamodb, "a")
    assert summary(shard.read(10)) == WRITTEN[1:2]
