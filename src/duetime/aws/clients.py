"""The boto3 clients of the back ends. A process shares one client for each service and configuration.

The creation of a client takes some 20 ms. Threads may share a client, but must not create clients
concurrently. A client
belongs to boto3's default session and to the environment at its creation. If one of them changes, as between
tests with
moto, new clients are created. A forked process creates its own.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from duetime.environment import aws_variables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_ses import SESClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

PATIENT = Config(
    retries={"mode": "standard", "total_max_attempts": 5},
    connect_timeout=2,
    read_timeout=5,
    max_pool_connections=32,
)
BRIEF = PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 2}))
ONCE = PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))


class _Shared:
    """The clients of the current process, session and environment."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: object = None
        self._made: dict[tuple[str, Config], Any] = {}

    def client(self, service: Any, config: Config) -> Any:
        with self._lock:
            session = boto3.DEFAULT_SESSION
            if session is None:
                session = boto3.DEFAULT_SESSION = boto3.Session()
            of = (os.getpid(), session, aws_variables())
            if self._of != of:
                self._of, self._made = of, {}
            key = (service, config)
            if key not in self._made:
                self._made[key] = session.client(service, config=config)
            return self._made[key]


_SHARED = _Shared()


def dynamodb(config: Config = PATIENT) -> DynamoDBClient:
    """Return the client of DynamoDB.

    Raises:
        botocore.exceptions.NoRegionError: no AWS region is configured; also for the functions below.
    """
    made: DynamoDBClient = _SHARED.client("dynamodb", config)
    return made


def dynamodb_streams() -> DynamoDBStreamsClient:
    """Return the client of the tables' streams."""
    made: DynamoDBStreamsClient = _SHARED.client("dynamodbstreams", PATIENT)
    return made


def sqs(config: Config = PATIENT) -> SQSClient:
    """Return the client of SQS."""
    made: SQSClient = _SHARED.client("sqs", config)
    return made


def scheduler(config: Config = PATIENT) -> EventBridgeSchedulerClient:
    """Return the client of EventBridge Scheduler."""
    made: EventBridgeSchedulerClient = _SHARED.client("scheduler", config)
    return made


def events() -> EventBridgeClient:
    """Return the client of EventBridge."""
    made: EventBridgeClient = _SHARED.client("events", PATIENT)
    return made


def ses() -> SESClient:
    """Return the client of SES. It repeats no call; the notification queue does."""
    made: SESClient = _SHARED.client("ses", ONCE)
    return made


def sns() -> SNSClient:
    """Return the client of SNS. It repeats no call; the notification queue does."""
    made: SNSClient = _SHARED.client("sns", ONCE)
    return made
