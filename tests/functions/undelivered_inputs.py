"""Undelivered inputs as their function receives them, and an operator who redrives them."""

import copy
import json

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import clients
from tests.functions.aws_faults import failing
from tests.functions.conftest import Context, sample

NO_FAILURES = {"batchItemFailures": []}


@pytest.fixture
def scheduler(deployed):
    return Scheduler.from_env(tenant_id="acme", actor="ann")


@pytest.fixture
def handle_undelivered(function):
    """Return a function that handles an undelivered message and returns the answer."""
    handler = function("undelivered")
    return lambda event: handler(event, Context())


class Operator:
    """Lists and redrives undelivered inputs."""

    def __init__(self, scheduler, handle_undelivered, failures):
        self.undelivered, self._handle, self._failures = scheduler.undelivered, handle_undelivered, failures
        self.list, self.get = self.undelivered.list, self.undelivered.get

    def redrive(self, entry):
        """Request a redrive, handle the request, and return the answer."""
        sqs, url = boto3.client("sqs"), self._failures
        self.undelivered.redrive(entry.id)
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return self._handle(with_body(sample("undelivered-redrive"), message["Body"]))


@pytest.fixture
def operator(scheduler, handle_undelivered, deployed):
    return Operator(scheduler, handle_undelivered, deployed.made.failure_queue)


def with_body(event, body, **changes):
    changed = copy.deepcopy(event)
    changed["Records"][0] |= {"body": body if isinstance(body, str) else json.dumps(body), **changes}
    return changed


def body_of(event):
    return json.loads(event["Records"][0]["body"])


def dead_letter(action, **changes):
    """Return the dead letter of an action's message."""
    message = {
        "id": action.id,
        "type": action.type,
        "due_at": action.due_at.isoformat(),
        "generation": action.generation,
    }
    return with_body(sample("undelivered"), body_of(sample("undelivered")) | message | changes)


def without_sqs():
    """SQS rejects all messages."""
    return failing(clients.sqs(), "SendMessageBatch")


def records_in(deployed):
    """Return the number of records in the table's stream."""
    streams = boto3.client("dynamodbstreams")
    (stream,) = streams.list_streams(TableName=deployed.made.actions_table)["Streams"]
    shard = {"ShardId": body_of(sample("undelivered-stream"))["DDBStreamBatchInfo"]["shardId"]}
    begun = streams.get_shard_iterator(
        StreamArn=stream["StreamArn"], ShardIteratorType="TRIM_HORIZON", **shard
    )
    return len(streams.get_records(ShardIterator=begun["ShardIterator"])["Records"])


def stream_event(deployed, count):
    """Return a batch of the first `count` records of the table's stream."""
    table = boto3.client("dynamodb").describe_table(TableName=deployed.made.actions_table)["Table"]
    event = sample("undelivered-stream")
    body = body_of(event)
    first = int(body["DDBStreamBatchInfo"]["startSequenceNumber"])
    body["DDBStreamBatchInfo"] |= {
        "streamArn": table["LatestStreamArn"], "endSequenceNumber": str(first + count - 1),
    }  # fmt: skip
    return with_body(event, body)
