"""Damages to every attribute of every kind of item, and a deployment whose tables hold damaged items.

The attributes are those that the code writes: a test writes an item by the code, reads it from the table, and
damages what it finds there. A new attribute is therefore covered when it is written.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import boto3

from duetime import App, Payload, Run
from duetime.aws.backends import AwsBackends
from duetime.aws.tables import JOBS, actions_shape, create_table_request
from duetime.clock import SystemClock
from duetime.lambdas import api, arm, passes, publish, undelivered, work
from duetime.lambdas.deploy import Rollout
from duetime.settings import Made, Settings
from tests import dynamodb_local
from tests.api.conftest import OPERATOR, Client, sample_event

KEYS = ("pk", "sk")
NEWER = {"format": {"N": "99"}, "invented": {"M": {"by": {"S": "a later version"}}}}
OTHER_TYPE = {"S": {"N": "7"}, "N": {"S": "seven"}, "BOOL": {"S": "yes"}}
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 900_000, aws_request_id="request-1")

LATE = timedelta(hours=1)

Item = dict[str, Any]
app = App()
ran: list[str] = []


class Note(Payload):
    text: str


@app.action
def note(payload: Note) -> None:
    ran.append(payload.text)


@app.job("0 3 1 1 ?", name="healthy-nightly")
def nightly(run: Run) -> None:
    ran.append("healthy-nightly")


@dataclass(frozen=True)
class Damage:
    """One change of an item."""

    name: str
    item: Item


def damages(item: Item) -> Iterator[Damage]:
    """Yield the item once with each damage: an attribute removed, of another type, of a later version."""
    for name, value in item.items():
        if name in KEYS:
            continue
        ((kind, content),) = value.items()
        yield Damage(f"{name} removed", {key: value for key, value in item.items() if key != name})
        yield Damage(f"{name} of another type", {**item, name: OTHER_TYPE.get(kind, {"S": "x"})})
        if kind == "S":
            yield Damage(f"{name} of a later version", {**item, name: {"S": f"v99:{content[:20]}"}})
    yield Damage("later version", {**item, **NEWER})


def put(client: Any, table: str, damage: Damage) -> bool:
    """Write a damaged item; return False for one that DynamoDB rejects: a key of an index is a text."""
    described = client.describe_table(TableName=table)["Table"]["AttributeDefinitions"]
    if any("S" not in damage.item.get(key["AttributeName"], {"S": ""}) for key in described):
        return False  # moto would accept it
    client.put_item(TableName=table, Item=damage.item)
    return True


class Deployment:
    """Both tables, the queues, and the Lambdas of one worker."""

    def __init__(self, *, is_fast: bool) -> None:
        self.is_fast = is_fast
        """Whether a transaction takes milliseconds; moto copies all tables in each."""
        self.dynamodb, self.sqs = boto3.client("dynamodb"), boto3.client("sqs")
        self.due, self.failures = (
            self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("due", "failures")
        )
        self.settings = Settings(
            made=Made(
                actions_table="damaged-actions",
                jobs_table="damaged-jobs",
                queues={"default": self.due},
                failure_queue=self.failures,
                dispatch_arn="arn:aws:lambda:eu-west-1:123456789012:function:dispatch",
                timer_role_arn="arn:aws:iam::123456789012:role/timer",
            ),
            timers="wheel",
        )
        boto3.client("scheduler").create_schedule_group(Name=self.settings.made.job_group)
        if is_fast:
            dynamodb_local.leave_out_streams(self.dynamodb)
        for shape, name in (
            (actions_shape(due_order=False), self.settings.made.actions_table),
            (JOBS, self.settings.made.jobs_table),
        ):
            self.dynamodb.create_table(**create_table_request(shape, name))
        metrics: Any = {"metrics": lambda *_: None}
        self.clock = SystemClock()
        self.backends = AwsBackends(self.settings, self.clock)
        self.work = work.make_handler(self.settings, app.handler_set, instance="test", **metrics)
        self.catch_up = passes.make_catch_up_handler(self.settings, instance="test", **metrics)
        self.keep_undelivered = undelivered.make_handler(self.settings, **metrics)
        self.arm, self.publish = (
            arm.make_handler(self.settings, **metrics),
            publish.make_handler(self.settings),
        )
        self.api = Client(api.make_handler(self.settings, app))

    def most(self, count: int) -> int:
        """Return the number of jobs among `count` that the engine has time for."""
        return count if self.is_fast else count // 5

    def remove(self) -> None:
        """Remove the tables, which the engine has for several tests."""
        for name in (self.settings.made.actions_table, self.settings.made.jobs_table):
            self.dynamodb.delete_table(TableName=name)

    def deploy(self, manifest: Any = app.manifest) -> list[str]:
        """Reconcile the jobs; return the lines that CloudFormation shows."""
        return list(Rollout(self.settings, self.clock).publish(manifest).changes)

    def items(self, table: str) -> dict[tuple[str, str], Item]:
        """Return all items of a table by their keys."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table)
        return {(item["pk"]["S"], item["sk"]["S"]): item for page in pages for item in page["Items"]}

    def pass_and_work(self) -> list[str]:
        """Run a catch-up and deliver what it sent, once; return the bodies that failed."""
        self.catch_up({}, CONTEXT)
        return self.deliver(self.bodies(self.due))

    def deliver(self, bodies: list[str]) -> list[str]:
        """Deliver bodies to the worker; return those that failed."""
        records = [self._record(number, body) for number, body in enumerate(bodies)]
        failed = self.work({"Records": records}, CONTEXT)["batchItemFailures"]
        return [bodies[int(failure["itemIdentifier"])] for failure in failed]

    def bodies(self, url: str) -> list[str]:
        """Take all messages of a queue."""
        found = []
        while messages := self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            found += [message["Body"] for message in messages]
        return found

    def undelivered(self) -> str:
        """Let the undelivered handler store what was reported, and return all that the API's list shows."""
        for number, body in enumerate(self.bodies(self.failures)):
            record = self._record(number, body) | {"eventSourceARN": "arn:aws:sqs:eu-west-1:1:failures"}
            assert self.keep_undelivered({"Records": [record]}, CONTEXT) == {"batchItemFailures": []}
        shown, cursor = [], None
        while True:
            query = {"limit": "100"} | ({"cursor": cursor} if cursor else {})
            page = self.get("/undelivered", **query).json
            shown += page["items"]
            if (cursor := page["next_cursor"]) is None:
                return json.dumps(shown) + json.dumps(
                    [item["body"]["S"] for key, item in self._stored_undelivered()]
                )

    def _stored_undelivered(self) -> list[tuple[Any, Item]]:
        found = self.items(self.settings.made.jobs_table).items()
        return [
            (key, item)
            for key, item in found
            if key[0] == "system#undelivered" and "S" in item.get("body", {})
        ]

    def get(self, path: str, tenant: str = "acme", **query: str) -> Any:
        """Call the API as an operator."""
        event = sample_event(
            "get-summary",
            httpMethod="GET",
            path=f"/api/v1{path}",
            query=query,
            claims={**OPERATOR, "custom:tenant_id": tenant},
        )
        event["requestContext"]["path"] = f"/prod{event['path']}"
        return self.api.send(event)

    def _record(self, number: int, body: str) -> dict[str, Any]:
        return {
            "messageId": str(number),
            "receiptHandle": str(number),
            "body": body,
            "attributes": {"SentTimestamp": str(int(self.clock.now().timestamp() * 1000))},
        }
