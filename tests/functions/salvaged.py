"""What was given up, as salvage is handed it, and the desk of an operator who has it redriven."""

import copy
import json

import boto3
import pytest

from duetime import Scheduler
from duetime.errors import BackendUnavailable
from tests.functions.conftest import Context, sample

TAKEN = {"batchItemFailures": []}


@pytest.fixture
def scheduler(deployed):
    return Scheduler.from_env(tenant_id="acme", actor="ann")


@pytest.fixture
def salvage(function):
    """Hand salvage a message; returns its answer."""
    handler = function("undelivered")
    return lambda event: handler(event, Context())


class Desk:
    """What an operator does, and what salvage makes of it."""

    def __init__(self, scheduler, salvage, failures):
        self.undelivered, self._salvage, self._failures = scheduler.undelivered, salvage, failures
        self.list, self.get = self.undelivered.list, self.undelivered.get

    def redriven(self, thing):
        """Have one redriven, and salvage get the request; its answer."""
        sqs, url = boto3.client("sqs"), self._failures
        self.undelivered.redrive(thing.id)
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return self._salvage(with_body(sample("undelivered-redrive"), message["Body"]))


@pytest.fixture
def desk(scheduler, salvage, deployed):
    return Desk(scheduler, salvage, deployed.failure_queue)


def with_body(event, body, **changes):
    changed = copy.deepcopy(event)
    changed["Records"][0] |= {"body": body if isinstance(body, str) else json.dumps(body), **changes}
    return changed


def body_of(event):
    return json.loads(event["Records"][0]["body"])


def dead_message(action, **changes):
    """The dead letter of an action's message."""
    told = {
        "id": action.id,
        "type": action.type,
        "due_at": action.due_at.isoformat(),
        "gen": action.generation,
    }
    return with_body(sample("undelivered"), body_of(sample("undelivered")) | told | changes)


def unplugged(monkeypatch):
    """SQS is gone, and comes back when this is called."""

    def refuse(_self, _sends):
        raise BackendUnavailable("SQS", "throttled")

    monkeypatch.setattr("duetime.aws.queues.SqsQueues.send", refuse)


def records_in(deployed):
    """How many records the table's stream has."""
    streams = boto3.client("dynamodbstreams")
    (stream,) = streams.list_streams(TableName=deployed.actions_table)["Streams"]
    shard = {"ShardId": body_of(sample("undelivered-stream"))["DDBStreamBatchInfo"]["shardId"]}
    begun = streams.get_shard_iterator(
        StreamArn=stream["StreamArn"], ShardIteratorType="TRIM_HORIZON", **shard
    )
    return len(streams.get_records(ShardIterator=begun["ShardIterator"])["Records"])


def stream_event(deployed, count):
    """A batch of the first so many records of the table's stream."""
    table = boto3.client("dynamodb").describe_table(TableName=deployed.actions_table)["Table"]
    event = sample("undelivered-stream")
    body = body_of(event)
    first = int(body["DDBStreamBatchInfo"]["startSequenceNumber"])
    body["DDBStreamBatchInfo"] |= {
        "streamArn": table["LatestStreamArn"], "endSequenceNumber": str(first + count - 1),
    }  # fmt: skip
    return with_body(event, body)
