"""Setups of a local cloud: one that makes a table, and some that fail."""

import boto3


def make_orders() -> None:
    boto3.client("dynamodb").create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )


def make_them_twice() -> None:
    make_orders()
    make_orders()


def make_named(name: str) -> None:
    raise NotImplementedError(name)


async def make_later() -> None:
    raise NotImplementedError


TABLES = ["orders"]
