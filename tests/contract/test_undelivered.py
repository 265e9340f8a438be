"""The contract of what is undelivered, over each back end that duetime has."""

import boto3
import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.aws.streams import DynamoStream
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import Status
from duetime.ports.undelivered import StreamBatch, UndeliveredStore
from duetime_contract.specimens import EXPIRY, end, running, scheduled
from tests import dynamodb_local
from tests.contract.rules.undelivered import UndeliveredContract, given_up


class TestMemoryUndelivered(UndeliveredContract):
    @pytest.fixture
    def undelivered(self):
        return UndeliveredStore(MemoryItems())


class TestDynamoUndelivered(UndeliveredContract):
    @pytest.fixture
    def undelivered(self, jobs_table):
        return UndeliveredStore(DynamoItems(*jobs_table))

    def test_it_expires_after_its_retention(self, jobs_table):
        client, table = jobs_table
        UndeliveredStore(DynamoItems(client, table)).keep(given_up(), expires_at=EXPIRY)
        (item,) = client.scan(TableName=table)["Items"]
        assert item["ttl"] == {"N": str(int(EXPIRY.timestamp()))}


@pytest.fixture
def local_client(local_endpoint):
    """A client to DynamoDB Local, whose tables have streams."""
    return dynamodb_local.client(local_endpoint)


@pytest.fixture
def stream(table, request, monkeypatch):
    """The stream of an actions table, in each engine: its reader, its ARN and its only shard."""
    monkeypatch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")  # moto knows no account's own endpoints
    endpoint = (
        {"endpoint_url": request.getfixturevalue("local_endpoint")}
        if "dynamodb-local" in request.node.name
        else {}
    )
    client = boto3.client("dynamodbstreams", **endpoint, **dynamodb_local.CREDENTIALS)
    arn = table.client.describe_table(TableName=table.name)["Table"]["LatestStreamArn"]
    (shard,) = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    return client, arn, shard["ShardId"]


def all_records(client, arn, shard):
    start = {"ShardIteratorType": "TRIM_HORIZON"}
    iterator = client.get_shard_iterator(StreamArn=arn, ShardId=shard, **start)["ShardIterator"]
    return [
        record["dynamodb"]["SequenceNumber"]
        for record in client.get_records(ShardIterator=iterator)["Records"]
    ]


def test_a_part_of_the_stream_is_read_from_its_first_record_to_its_last(table, stream):
    client, arn, shard = stream
    store = table.store()
    before, run, after = scheduled(store), running(store), scheduled(store)
    store.settle(run, end(Status.EXECUTED))
    numbers = all_records(*stream)
    assert len(numbers) == 5
    read = DynamoStream(client).read(StreamBatch(arn, shard, numbers[1], numbers[3]))
    assert [record.number for record in read] == numbers[1:4]
    assert [record.ref for record in read] == [run.ref, run.ref, after.ref]
    assert before.ref not in {record.ref for record in read}
    put, claimed, _ = (record.change for record in read)
    assert put.became_pending.id == run.id
    assert (claimed.old.status, claimed.new.status) == (Status.PENDING, Status.PROCESSING)


def test_items_that_are_no_rows_are_ignored_and_unreadable_ones_are_returned(table, stream):
    client, arn, shard = stream
    row = {"pk": {"S": "acme#5"}, "sk": {"S": "019ca932-7c00-735e-a389-6f2fb6b5d775"}}
    table.client.put_item(TableName=table.name, Item={"pk": {"S": "acme#payload#5"}, "sk": {"S": "x"}})
    table.client.put_item(TableName=table.name, Item=row | {"status": {"S": "strange"}})
    numbers = all_records(*stream)
    (read,) = DynamoStream(client).read(StreamBatch(arn, shard, numbers[0], numbers[-1]))
    assert (read.ref.id, read.change) == (row["sk"]["S"], None)


@pytest.mark.dynamodb_local
def test_a_record_that_left_the_stream_is_reported_as_gone(local_table, local_endpoint):
    client = boto3.client("dynamodbstreams", endpoint_url=local_endpoint, **dynamodb_local.CREDENTIALS)
    arn = local_table.client.describe_table(TableName=local_table.name)["Table"]["LatestStreamArn"]
    gone = StreamBatch(arn, "shardId-00000001541626099285-f35f62ef", "0" * 20 + "1", "0" * 20 + "2")
    assert DynamoStream(client).read(gone) is None
