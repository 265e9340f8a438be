"""Writes rows with one version of duetime, or reads those of another: ``version_rows.py write|read FILE``.

The file is JSON: both tables' low-level items, the messages of the due queue, and what the writer's API
returned. PYTHONPATH selects the version.
"""

from __future__ import annotations

import base64
import json
import sys
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
from moto import mock_aws

from duetime import App, Payload, RetryPolicy, Scheduler
from duetime.aws import AwsBackends, action_store
from duetime.aws.tables import JOBS, actions_shape, create_table_request
from duetime.clock import SystemClock
from duetime.lambdas.deploy import Rollout
from duetime.lambdas.passes import make_sweep_handler
from duetime.lambdas.work import make_handler
from duetime.settings import Made, Settings
from duetime.testing import WorkerDied

app = App()
runs: list[str] = []
CLOCK = SystemClock()
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 900_000, aws_request_id="request-1")
is_reader = sys.argv[1] == "read"


class Note(Payload):
    text: str


class Failing(Payload):
    text: str


class Crashing(Payload):
    text: str


@app.action
def note(payload: Note) -> None:
    runs.append(payload.text[:20])


@app.action(retry=RetryPolicy(attempts=1))
def failing(payload: Failing) -> None:
    runs.append(payload.text)
    if not is_reader:
        raise ValueError(payload.text)


@app.action
def crashing(payload: Crashing) -> None:
    runs.append(payload.text)
    if not is_reader:
        raise WorkerDied


@app.job("0 3 1 1 ?", name="shop-nightly")
def nightly() -> None:
    runs.append("nightly")


def encode(value: object) -> object:
    if isinstance(value, bytes):
        return {"bytes in base64": base64.b64encode(value).decode()}
    raise TypeError(type(value).__name__)


def decode(value: dict[str, Any]) -> Any:
    encoded = value.get("bytes in base64")
    return value if encoded is None else base64.b64decode(encoded)


class Deployment:
    """Both tables and the due queue in moto, and the Lambdas of one worker."""

    def __init__(self) -> None:
        self.dynamodb, self.sqs = boto3.client("dynamodb"), boto3.client("sqs")
        self.url = self.sqs.create_queue(QueueName="due")["QueueUrl"]
        seconds = timedelta(seconds=1)
        self.settings = Settings(
            made=Made(
                actions_table="actions",
                jobs_table="jobs",
                queues={"default": self.url},
                dispatch_arn="arn:aws:lambda:eu-west-1:123456789012:function:dispatch",
                timer_role_arn="arn:aws:iam::123456789012:role/timer",
            ),
            lease=2 * seconds,
            heartbeat=seconds / 2,
            cancel_poll=seconds / 5,
            clock_skew=timedelta(0),
            grace=seconds,
        )
        boto3.client("scheduler").create_schedule_group(Name=self.settings.made.schedule_group)
        boto3.client("scheduler").create_schedule_group(Name=self.settings.made.job_group)
        for shape, name in ((actions_shape(due_order=False), "actions"), (JOBS, "jobs")):
            self.dynamodb.create_table(**create_table_request(shape, name))
        self.scheduler = Scheduler(
            action_store(self.settings),
            tenant_id="acme",
            actor="test",
            clock=CLOCK,
            settings=self.settings,
            jobs=AwsBackends(self.settings, CLOCK).job_ports,
        )
        self.work = make_handler(self.settings, app.handler_set, instance="test", metrics=lambda *_: None)

    def publish(self) -> list[str]:
        return list(Rollout(self.settings, CLOCK).publish(app.manifest).changes)

    def run(self, bodies: list[str]) -> None:
        """Deliver message bodies to the worker; a handler that exits is a crash."""
        for number, body in enumerate(bodies):
            record = {
                "messageId": str(number),
                "receiptHandle": str(number),
                "body": body,
                "attributes": {"SentTimestamp": str(int(CLOCK.now().timestamp() * 1000))},
            }
            try:
                self.work({"Records": [record]}, None)
            except WorkerDied:
                continue

    def sweep(self) -> list[str]:
        """Let the sweep send the messages of what is late; return their bodies."""
        CLOCK.wait_until(CLOCK.now() + timedelta(seconds=2.5))
        make_sweep_handler(self.settings, instance="test", metrics=lambda *_: None)({}, CONTEXT)
        bodies = []
        while messages := self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages"):
            bodies += [message["Body"] for message in messages]
        return bodies

    def listed(self) -> dict[str, str]:
        return {action.id: str(action.status) for action in self.scheduler.list()}


def write(deployment: Deployment) -> dict[str, Any]:
    scheduler = deployment.scheduler
    deployment.publish()
    keyed = scheduler.schedule(Note(text="keyed"), at=timedelta(0), idempotency_key="order-1")
    scheduler.schedule(Note(text="plain"), at=timedelta(0))
    scheduler.schedule(Note(text="offloaded" + "x" * 300_000), at=timedelta(0))
    failed = scheduler.schedule(Failing(text="failing"), at=timedelta(0))
    scheduler.schedule(Crashing(text="crashing"), at=timedelta(0))
    later = scheduler.schedule(Note(text="later"), at=timedelta(days=30))
    run = scheduler.jobs.trigger("shop-nightly")
    bodies = deployment.sweep()
    deployment.run([body for body in bodies if json.loads(body)["type"] in {"failing", "crashing"}])
    first = scheduler.list(limit=3)
    return {
        "tables": {
            name: deployment.dynamodb.scan(TableName=name)["Items"]  # moto returns up to 1 MB in a page
            for name in ("actions", "jobs")
        },
        "bodies": [body for body in bodies if json.loads(body)["type"] != "failing"],
        "listed": deployment.listed(),
        "cursor": first.cursor,
        "first_page": [action.id for action in first],
        "keyed": keyed.id,
        "failed": failed.id,
        "later": later.id,
        "job_run": run.id,
        "definition": scheduler.jobs.get("shop-nightly").definition.to_json(),
    }


def read(deployment: Deployment, written: dict[str, Any]) -> dict[str, Any]:
    scheduler = deployment.scheduler
    for name, items in written["tables"].items():
        for item in items:
            deployment.dynamodb.put_item(TableName=name, Item=item)
    seen: dict[str, Any] = {
        "listed": deployment.listed(),
        "after_cursor": [action.id for action in scheduler.list(cursor=written["cursor"])],
        "definition": scheduler.jobs.get("shop-nightly").definition.to_json(),
        "job_runs": [action.id for action in scheduler.jobs.history("shop-nightly")],
        "changes": deployment.publish(),
        "keyed": scheduler.schedule(Note(text="keyed"), at=timedelta(0), idempotency_key="order-1").id,
        "cancelled": str(scheduler.cancel(written["later"]).status),
        "redriven": str(scheduler.redrive(written["failed"]).status),
    }
    CLOCK.wait_until(CLOCK.now() + timedelta(seconds=2))  # until the lease of the crashed run has expired
    deployment.run(written["bodies"])
    seen["runs_of_messages"] = sorted(runs)
    deployment.run(deployment.sweep())
    return seen | {"runs": sorted(runs), "end": deployment.listed()}


def main() -> None:
    file = Path(sys.argv[2])
    with mock_aws():
        deployment = Deployment()
        if is_reader:
            result = read(deployment, json.loads(file.read_text(), object_hook=decode))
            sys.stdout.write(json.dumps(result))
        else:
            file.write_text(json.dumps(write(deployment), default=encode))


if __name__ == "__main__":
    main()
