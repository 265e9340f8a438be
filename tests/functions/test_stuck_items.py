"""One item that is stuck, or one service that hangs, does not hold up the others of a function's call."""

import copy

import boto3

from duetime.aws import clients
from tests.functions.aws_faults import hanging
from tests.functions.conftest import Context, sample


def far_records(count, due_at="2099-06-01T07:00:00.000000Z"):
    """Return the records of rows that are due in the far future."""
    event = sample("arm")
    [record] = event["Records"]
    event["Records"] = []
    for number in range(count):
        event["Records"].append(copy.deepcopy(record))
        row = event["Records"][-1]["dynamodb"]["NewImage"]
        row["due_at"]["S"] = due_at
        row["sk"]["S"] = row["sk"]["S"][:-4] + f"{number:03x}" + row["sk"]["S"][-1]
    return event


def waiting(queue_url):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    found = boto3.client("sqs").get_queue_attributes(QueueUrl=queue_url, AttributeNames=names)["Attributes"]
    return sum(map(int, found.values()))


def test_arm_gives_up_on_a_hanging_eventbridge_after_three_calls(function, deployed):
    arm = function("arm")
    with hanging(clients.scheduler(clients.PROMPT), "CreateSchedule") as tried:
        assert arm(far_records(100), Context()) == {"batchItemFailures": []}
        assert arm(sample("arm"), Context()) == {"batchItemFailures": []}
    assert len(tried) == 3 * 2  # botocore repeats each once
    assert waiting(deployed.queues["default"]) == 101
