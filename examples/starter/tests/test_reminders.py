"""One test covers transaction, wait and effect."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import boto3
import pytest
from duetime.testing import SimulatedCloud, create_tables
from moto import mock_aws

from shop import orders
from shop.handlers import app

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> "Iterator[DynamoDBClient]":
    """Return a client of moto, which has duetime's tables and the orders."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        client.create_table(
            TableName=orders.TABLE,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        yield client


def state(client: "DynamoDBClient", order: str) -> str:
    """Return the state of an order."""
    return client.get_item(TableName=orders.TABLE, Key={"id": {"S": order}})["Item"]["state"]["S"]


def test_an_unpaid_order_is_reminded_after_three_days(client: "DynamoDBClient") -> None:
    """The reminder is scheduled in the order's transaction, and takes effect when it is due."""
    cloud = SimulatedCloud(app, dynamodb=client)
    reminder = orders.place(client, cloud.scheduler, "o-17")
    cloud.advance(days=2)
    assert state(client, "o-17") == "unpaid"
    cloud.advance(days=1)
    assert state(client, "o-17") == "reminded"
    assert cloud.scheduler.get(reminder.id).status == "executed"


def test_a_paid_order_is_not_reminded(client: "DynamoDBClient") -> None:
    """The payment cancels the reminder."""
    cloud = SimulatedCloud(app, dynamodb=client)
    reminder = orders.place(client, cloud.scheduler, "o-18")
    orders.pay(client, cloud.scheduler, "o-18")
    cloud.advance(timedelta(days=4))
    assert state(client, "o-18") == "paid"
    assert cloud.scheduler.get(reminder.id).status == "cancelled"
