"""The boto3 clients of the back ends: one of a service and a patience, for all in a process that ask.

A client takes some 20 ms to make, and threads may share it; those who make one at once may not (boto3's guide to its
clients). It is of boto3's default session, and as the environment said when it was made: where one of them changes, as
they do from test to test on moto, new ones are made. A forked process makes its own.
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
    """Clients of one process, session and environment; of others, from anew."""

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
    """DynamoDB's.

    Raises:
        botocore.exceptions.NoRegionError: boto3 is told of no region; here and below.
    """
    made: DynamoDBClient = _SHARED.client("dynamodb", config)
    return made


def dynamodb_streams() -> DynamoDBStreamsClient:
    """The one for the tables' streams."""
    made: DynamoDBStreamsClient = _SHARED.client("dynamodbstreams", PATIENT)
    return made


def sqs(config: Config = PATIENT) -> SQSClient:
    """SQS'."""
    made: SQSClient = _SHARED.client("sqs", config)
    return made


def scheduler(config: Config = PATIENT) -> EventBridgeSchedulerClient:
    """EventBridge Scheduler's."""
    made: EventBridgeSchedulerClient = _SHARED.client("scheduler", config)
    return made


def events() -> EventBridgeClient:
    """EventBridge's."""
    made: EventBridgeClient = _SHARED.client("events", PATIENT)
    return made


def ses() -> SESClient:
    """SES', which asks once: whoever mails decides what is tried again."""
    made: SESClient = _SHARED.client("ses", ONCE)
    return made


def sns() -> SNSClient:
    """SNS', which asks once, as SES'."""
    made: SNSClient = _SHARED.client("sns", ONCE)
    return made
