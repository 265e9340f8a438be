"""The functions of one region in one process: ``python -m tests.e2e.region_process``.

It calls the Lambda handlers as AWS would: with new rows, with messages of the due queue, and each few seconds
the sweep. The environment has the region and the settings.
"""

import logging
import sys
import time
from datetime import timedelta

import boto3

from duetime import App, Payload, Run
from duetime.aws import clients
from duetime.aws.keys import is_row
from duetime.clock import SystemClock
from duetime.lambdas import arm, passes, work
from duetime.settings import Settings

EFFECTS, SHARED_REGION = "drill-effects", "eu-west-3"
SWEEP_EVERY, PAUSE = 5, 0.3
"""Seconds."""

app = App()


def wait(seconds):
    clock = SystemClock()
    clock.wait_until(clock.now() + timedelta(seconds=seconds))


class Errand(Payload):
    name: str
    lasts: float = 0


@app.action
def run_errand(payload: Errand, run: Run) -> None:
    ends = time.monotonic() + payload.lasts
    while time.monotonic() < ends:
        run.raise_if_cancelled()
        wait(0.2)
    clients.dynamodb(region=SHARED_REGION).put_item(
        TableName=EFFECTS, Item={"pk": {"S": payload.name}, "sk": {"S": str(run.fence)}}
    )


class Context:
    """The part of Lambda's context that the functions use."""

    def get_remaining_time_in_millis(self):
        return 50_000


class Region:
    def __init__(self, settings):
        self.settings, self.armed, self.swept_at = settings, set(), 0.0
        self.dynamodb, self.sqs = boto3.client("dynamodb"), boto3.client("sqs")
        self.arm = arm.make_handler(settings)
        self.work = work.make_handler(settings, app.handler_set, instance="drill")
        self.sweep = passes.make_sweep_handler(settings, instance="drill")

    def turn(self):
        self.arm_new_rows()
        if time.monotonic() - self.swept_at > SWEEP_EVERY:
            self.swept_at = time.monotonic()
            self.sweep({}, Context())
        self.work_messages()

    def arm_new_rows(self):
        items = self.dynamodb.scan(TableName=self.settings.made.actions_table)["Items"]
        new = [item for item in items if is_row(item) and item["sk"]["S"] not in self.armed]
        self.armed |= {item["sk"]["S"] for item in new}
        if new:
            self.arm({"Records": [record(item) for item in new]}, Context())

    def work_messages(self):
        url = self.settings.made.queues["default"]
        received = self.sqs.receive_message(QueueUrl=url, AttributeNames=["All"], MaxNumberOfMessages=1)
        for message in received.get("Messages", ()):
            event = {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }
            if not self.work({"Records": [event]}, Context())["batchItemFailures"]:
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def record(item):
    keys = {name: item[name] for name in ("pk", "sk")}
    return {"eventName": "INSERT", "dynamodb": {"Keys": keys, "NewImage": item, "SequenceNumber": "1"}}


def main():
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    region = Region(Settings.from_env())
    while True:
        region.turn()
        wait(PAUSE)


if __name__ == "__main__":
    main()
