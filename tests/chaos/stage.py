"""What a run stands on: settings with short times, tables, queues, and the environment of its processes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import boto3

from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.settings import Made, Settings
from tests import dynamodb_local
from tests.chaos.cluster import cluster
from tests.chaos.shop import LEDGER

LEASE, SKEW = timedelta(seconds=4), timedelta(seconds=0.5)
SETTINGS = {
    "lease": LEASE,
    "heartbeat": timedelta(seconds=1),
    "cancel_poll": timedelta(seconds=0.5),
    "clock_skew": SKEW,
    "grace": timedelta(seconds=2),
    "near_limit": timedelta(seconds=4),
    "wake_early": timedelta(seconds=2),
    "catch_up_rate": timedelta(minutes=30),
    "max_recoveries": 50,
    "events": "off",
    "tenants": "acme",
}
HIDDEN = LEASE + timedelta(seconds=4)
"""The visibility time-out of the queues."""
STARTS_WITHIN = 60
"""Seconds."""
NOWHERE = "http://127.0.0.1:9"


def make(upstream: str, services: str) -> Settings:
    """Create the tables, the queues and the groups; return the settings that name them."""
    settings = Settings(**SETTINGS, made=_make_queues(services))
    client = dynamodb_local.client(upstream)
    client.create_table(**create_table_request(ACTIONS, settings.made.actions_table))
    client.create_table(**create_table_request(JOBS, settings.made.jobs_table))
    client.create_table(
        TableName=LEDGER,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    scheduler = boto3.client("scheduler", endpoint_url=services, **dynamodb_local.CREDENTIALS)
    for group in (settings.made.schedule_group, settings.made.job_group):
        scheduler.create_schedule_group(Name=group)
    return settings


def _make_queues(services: str) -> Made:
    sqs = boto3.client("sqs", endpoint_url=services, **dynamodb_local.CREDENTIALS)
    hidden = {"VisibilityTimeout": str(int(HIDDEN.total_seconds()))}
    due, system, failures = (
        sqs.create_queue(QueueName=name, Attributes=hidden)["QueueUrl"]
        for name in ("due", "system", "failures")
    )
    return Made(
        queues={"default": due, "system": system},
        queue_visibility=HIDDEN,
        failure_queue=failures,
        dispatch_arn="arn:aws:lambda:eu-west-1:123456789012:function:dispatch",
        timer_role_arn="arn:aws:iam::123456789012:role/timers",
    )


def environment(table: str, services: str, settings: Settings | None = None) -> dict[str, str]:
    """Return the environment of a process: the endpoint of each service, and the settings."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
        "AWS_ENDPOINT_URL_DYNAMODB": table,
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": table,
        "AWS_ENDPOINT_URL_SQS": services,
        "AWS_ENDPOINT_URL_SCHEDULER": services,
        "AWS_ENDPOINT_URL_EVENTBRIDGE": services,
        **(settings.to_env() if settings else {}),
    }


@contextmanager
def services(directory: Path) -> Iterator[str]:
    """SQS and EventBridge Scheduler, at their endpoint; no fault touches them."""
    with cluster(environment(NOWHERE, NOWHERE), directory, "services", "") as processes:
        processes.start("services")
        port, pause = directory / "services.port", threading.Event()
        for _ in range(STARTS_WITHIN * 10):
            if port.exists():
                break
            processes.check()
            pause.wait(0.1)
        yield f"http://127.0.0.1:{port.read_text()}"
