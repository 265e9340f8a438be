"""A rejected transaction changes neither moto's tables nor their streams."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends

from duetime.aws.tables import ACTIONS, create_table_request
from duetime.testing import TurnedClock
from tests.emulated.moto_patches import repeated_transactions, undone_transactions

KEY = {"pk": {"S": "acme#1"}, "sk": {"S": "a"}}
OTHER = {"pk": {"S": "acme#1"}, "sk": {"S": "b"}}
NEVER = {"ConditionExpression": "attribute_exists(nothing)"}


@pytest.fixture
def dynamodb(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws(), undone_transactions():
        client = boto3.client("dynamodb")
        client.create_table(**create_table_request(ACTIONS, "actions"))
        client.put_item(TableName="actions", Item={**KEY, "n": {"N": "1"}})
        yield client


def shard():
    return dynamodb_backends["123456789012"]["us-east-1"].get_table("actions").stream_shard


def write(client, *entries):
    client.transact_write_items(
        TransactItems=[{kind: {"TableName": "actions", **more}} for kind, more in entries]
    )


def stored(client):
    return {row["sk"]["S"]: row["n"]["N"] for row in client.scan(TableName="actions")["Items"]}


def counted(key):
    more = {"ExpressionAttributeValues": {":n": {"N": "5"}}}
    return ("Update", {"Key": key, "UpdateExpression": "SET n = :n", **more})


@pytest.mark.parametrize(
    "first",
    [counted(KEY), counted(OTHER), ("Put", {"Item": {**OTHER, "n": {"N": "7"}}}), ("Delete", {"Key": KEY})],
)
def test_a_rejected_transaction_is_rolled_back(dynamodb, first):
    before, length = shard(), len(shard().items)
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        write(dynamodb, first, ("ConditionCheck", {"Key": {**KEY, "sk": {"S": "c"}}, **NEVER}))
    assert stored(dynamodb) == {"a": "1"}
    assert shard() is before
    assert len(before.items) == length


def test_a_transaction_is_written_and_sent_to_the_stream(dynamodb):
    before, length = shard(), len(shard().items)
    write(dynamodb, counted(KEY), counted(OTHER))
    assert stored(dynamodb) == {"a": "5", "b": "5"}
    assert shard() is before
    assert len(before.items) > length


def test_a_transaction_with_one_item_twice_is_rejected(dynamodb):
    with pytest.raises(dynamodb.exceptions.ClientError):
        write(dynamodb, counted(KEY), counted(KEY))
    assert stored(dynamodb) == {"a": "1"}


def test_a_transaction_on_a_missing_table_is_rejected(dynamodb):
    with pytest.raises(dynamodb.exceptions.ClientError):
        dynamodb.transact_write_items(
            TransactItems=[{"Put": {"TableName": "missing", "Item": {**KEY, "n": {"N": "1"}}}}]
        )


@pytest.mark.parametrize(("minutes", "counted"), [(9, "6"), (11, "11")])
def test_a_transaction_that_comes_again_with_its_token_is_applied_once_in_ten_minutes(
    dynamodb, minutes, counted
):
    clock = TurnedClock(datetime(2026, 3, 1, tzinfo=UTC))
    add = {"Key": KEY, "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "5"}}}
    request = {
        "TransactItems": [{"Update": {"TableName": "actions", **add}}],
        "ClientRequestToken": "token-1",
    }
    with repeated_transactions(clock):
        dynamodb.transact_write_items(**request)
        clock.wait_until(clock.now() + timedelta(minutes=minutes))
        dynamodb.transact_write_items(**request)
    assert stored(dynamodb) == {"a": counted}
