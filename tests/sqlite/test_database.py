"""The file: transactions, formats, and the order of changes."""

import sqlite3
import threading
from contextlib import closing

import pytest

from duetime.aws.tables import ACTIONS, create_table_request
from duetime.errors import BackendMisconfigured
from duetime.sqlite.client import SqliteClient
from duetime.sqlite.database import Database


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jobs.db"


@pytest.fixture
def client(path):
    with closing(Database(path)) as database:
        client = SqliteClient(database)
        client.create_table(**create_table_request(ACTIONS, "actions"))
        yield client


@pytest.fixture
def another(path):
    """A client as of another process, through a connection of its own."""
    with closing(Database(path)) as database:
        yield SqliteClient(database)


def item(name, **attributes):
    return {"pk": {"S": "acme"}, "sk": {"S": name}, **attributes}


def put(client, name, **attributes):
    client.put_item(TableName="actions", Item=item(name, **attributes))


def names(client, **request):
    page = client.query(
        TableName="actions",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "acme"}},
        **request,
    )
    return [found["sk"]["S"] for found in page["Items"]]


def test_a_file_of_a_later_format_is_rejected(path):
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(BackendMisconfigured, match="has format 2; this version of duetime reads format 1"):
        Database(path)


def test_the_items_are_there_when_the_file_is_opened_again(client, another):
    put(client, "one", data={"B": b"\x00\xff"}, parts={"M": {"$bytes": {"S": "text"}}})
    found = another.get_item(TableName="actions", Key=item("one"))["Item"]
    assert found == item("one", data={"B": b"\x00\xff"}, parts={"M": {"$bytes": {"S": "text"}}})


def test_calls_at_once_are_one_transaction_and_their_changes_come_after_it(client):
    changes = []
    client.on_change = changes.append
    with pytest.raises(ZeroDivisionError):
        client.at_once(lambda name: put(client, name) if name else 1 / 0, ["one", "two", ""])
    assert (names(client), changes) == ([], [])
    client.at_once(lambda name: put(client, name), ["one", "two"])
    assert [change.new["sk"]["S"] for change in changes] == names(client) == ["one", "two"]


def test_changes_come_in_the_order_of_the_writes(client):
    changes, threads = [], []
    client.on_change = changes.append

    def count():
        for _ in range(50):
            client.update_item(
                TableName="actions",
                Key=item("one"),
                UpdateExpression="ADD counted :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    for _ in range(4):
        threads.append(threading.Thread(target=count))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert [change.new["counted"]["N"] for change in changes] == [str(number) for number in range(1, 201)]


def test_two_clients_of_one_file_count_together(client, another):
    for one in (client, another) * 5:
        one.update_item(
            TableName="actions",
            Key=item("one"),
            UpdateExpression="ADD counted :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
    assert client.get_item(TableName="actions", Key=item("one"))["Item"]["counted"] == {"N": "10"}


def test_an_index_has_the_items_of_its_keys_and_follows_them(client):
    put(client, "one", due_shard={"S": "0"}, due_at={"S": "2026"})
    put(client, "two", due_shard={"S": "0"}, due_at={"S": "2025"})
    put(client, "three", due_shard={"S": "0"})
    request = {
        "TableName": "actions",
        "IndexName": "due",
        "KeyConditionExpression": "due_shard = :shard",
        "ExpressionAttributeValues": {":shard": {"S": "0"}},
    }
    page = client.query(**request, Limit=1)
    assert page["Items"] == [item("two", due_shard={"S": "0"}, due_at={"S": "2025"})]
    rest = client.query(**request, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert ([found["sk"]["S"] for found in rest["Items"]], "LastEvaluatedKey" in rest) == (["one"], False)
    client.delete_item(TableName="actions", Key=item("one"))
    assert len(client.query(**request)["Items"]) == 1


def test_an_item_is_removed_once_its_time_to_live_has_ended(client):
    put(client, "one", ttl={"N": "100"})
    put(client, "two", ttl={"N": "101"})
    put(client, "three")
    client.remove_expired("actions", 100)
    assert names(client) == ["three", "two"]
