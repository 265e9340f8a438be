"""A patched query reads one partition only, and returns the same as moto's own."""

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from moto import mock_aws

from tests.emulated.moto_patches import quick_items, quick_strings, single_partition_queries

EVERY_TYPE = {
    "text": "a",
    "number": 7,
    "bytes": b"\x00b",
    "yes": True,
    "nothing": None,
    "texts": {"a", "b"},
    "numbers": {1, 2},
    "chunks": {b"a"},
    "map": {"list": ["a", 1, {"deep": b"c"}], "empty": {}},
}

QUERIES = [
    {"KeyConditionExpression": Key("p").eq("a")},
    {"KeyConditionExpression": Key("p").eq("a") & Key("s").between("2", "6"), "ScanIndexForward": False},
    {"KeyConditionExpression": Key("p").eq("a"), "Limit": 3},
    {"KeyConditionExpression": Key("p").eq("a"), "Limit": 3, "ExclusiveStartKey": {"p": "a", "s": "4"}},
    {"KeyConditionExpression": Key("p").eq("a"), "FilterExpression": Attr("n").gt(5)},
    {"KeyConditionExpression": Key("p").eq("none")},
    {"IndexName": "by-g", "KeyConditionExpression": Key("g").eq("odd")},
    {
        "IndexName": "by-g",
        "KeyConditionExpression": Key("g").eq("odd") & Key("n").lt(9),
        "ScanIndexForward": False,
    },
    {"IndexName": "by-g", "KeyConditionExpression": Key("g").eq("odd"), "Limit": 2},
    {"IndexName": "by-g", "KeyConditionExpression": Key("g").eq("none")},
]


@pytest.fixture
def table(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
    with mock_aws():
        made = boto3.resource("dynamodb").create_table(
            TableName="table",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": kind}
                for name, kind in zip("psgn", "SSSN", strict=True)
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-g",
                    "KeySchema": [
                        {"AttributeName": "g", "KeyType": "HASH"},
                        {"AttributeName": "n", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
        for n in range(20):
            row = {"p": "ab"[n % 2], "s": str(n // 2), "n": n, **EVERY_TYPE}
            made.put_item(Item=row | ({"g": "odd"} if n % 3 else {}))
        yield made


@pytest.mark.parametrize("arguments", QUERIES)
def test_a_query_returns_the_response_of_moto(table, arguments):
    expected = table.query(**arguments)
    with single_partition_queries(), quick_strings(), quick_items():
        patched = table.query(**arguments)
    for response in (expected, patched):
        del response["ResponseMetadata"]
    assert patched == expected


def test_a_scan_returns_all_items(table):
    with single_partition_queries():
        assert table.scan()["Count"] == 20
