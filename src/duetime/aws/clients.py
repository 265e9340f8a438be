"""The boto3 clients of the back ends. A process shares one client for each service and configuration.

The creation of a client takes some 20 ms. Threads may share a client, but must not create clients
concurrently. A client belongs to boto3's default session and to the environment at its creation. If one of
them changes, as between tests with moto, new clients are created. A forked process creates its own.

A process that has not imported boto3 has a session of botocore: boto3 takes a tenth of the start of a Lambda
function, and duetime's clients need nothing of it.
"""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config
from botocore.exceptions import DataNotFoundError
from botocore.loaders import Loader
from botocore.session import Session, get_session

from duetime.environment import aws_variables
from duetime.errors import InvalidArgument, truncate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_ses import SESClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient


def default_session() -> Any:
    """Return boto3's default session, made if there is none; without boto3, botocore's."""
    if "boto3" not in sys.modules:
        return _own_session()
    boto3: Any = import_module("boto3")  # another thread's import that has begun is waited for
    if boto3.DEFAULT_SESSION is None:
        boto3.DEFAULT_SESSION = boto3.Session(botocore_session=_new_session())
    return boto3.DEFAULT_SESSION


def create_client(session: Any, service: str, **options: Any) -> Any:
    """Return a new client of a session of boto3 or botocore."""
    create = session.create_client if isinstance(session, Session) else session.client
    return create(service, **options)


def _new_session() -> Session:
    session = get_session()
    standard = session.get_component("data_loader")
    session.register_component(
        "data_loader", ModelLoader(standard.search_paths, include_default_search_paths=False)
    )
    return session


_own_session = lru_cache(maxsize=1)(_new_session)

_LOADED: ContextVar[str | None] = ContextVar("duetime_loaded_model", default=None)


class ModelLoader(Loader):
    """Loads a service's model without looking for those of 400 others, which takes longer than the model."""

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        """Return the model. For a service without one, botocore raises an error that lists the others."""
        try:
            self.list_api_versions(service_name, type_name)
        except DataNotFoundError:
            return super().load_service_model(service_name, type_name, api_version)
        token = _LOADED.set(service_name)
        try:
            return super().load_service_model(service_name, type_name, api_version)
        finally:
            _LOADED.reset(token)

    def list_available_services(self, type_name: str) -> list[str]:
        """Return all services that have a model; while one is loaded, that one."""
        loaded = _LOADED.get()
        return super().list_available_services(type_name) if loaded is None else [loaded]


PATIENT = Config(
    retries={"mode": "standard", "total_max_attempts": 5},
    connect_timeout=2,
    read_timeout=5,
    max_pool_connections=32,
)
PROMPT = PATIENT.merge(
    Config(retries={"mode": "standard", "total_max_attempts": 2}, connect_timeout=1, read_timeout=2)
)
"""For calls that must not hold up others, as in a pass: one that hangs fails after about five seconds."""
BRIEF = PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 2}))
ONCE = PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))


class _Shared:
    def __init__(self) -> None:
        self._lock = Lock()
        self._owner: object = None
        self._clients: dict[tuple[str, Config, str | None], Any] = {}

    def client(self, service: Any, config: Config, region: str | None = None) -> Any:
        with self._lock:
            session = default_session()
            owner = (os.getpid(), session, aws_variables())
            if self._owner != owner:
                self._owner, self._clients = owner, {}
            key = (service, config, region)
            if key not in self._clients:
                self._clients[key] = create_client(session, service, config=config, region_name=region)
            return self._clients[key]


_SHARED = _Shared()


def use_region(region: str) -> None:
    """Make a region the process's own: all later clients are there.

    Raises:
        InvalidArgument: DynamoDB has no such region.
    """
    import boto3  # noqa: PLC0415 - only the operator's commands name a region

    session = boto3.Session(region_name=region)
    known = [
        name
        for partition in session.get_available_partitions()
        for name in session.get_available_regions("dynamodb", partition)
    ]
    if region not in known:
        from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

        near = get_close_matches(region, known, n=3)
        allowed = f"similar ones are {', '.join(near)}" if near else "allowed is one such as eu-west-1"
        raise InvalidArgument(f"{truncate(region, 40)!r} is no region of DynamoDB; {allowed}", field="region")
    boto3.DEFAULT_SESSION = session


def of(service: str) -> Any:
    """Return the client of a service that only the operator's commands call."""
    return _SHARED.client(service, PATIENT)


def dynamodb(config: Config = PATIENT, region: str | None = None) -> DynamoDBClient:
    """Return the client of DynamoDB, by default in the process's own region.

    Raises:
        botocore.exceptions.NoRegionError: no AWS region is configured; also for the functions below.
        botocore.exceptions.NoRegionError: no AWS region is configured; also for the functions below.
    """
    return cast("DynamoDBClient", _SHARED.client("dynamodb", config, region))


def dynamodb_streams() -> DynamoDBStreamsClient:
    """Return the client of the tables' streams."""
    return cast("DynamoDBStreamsClient", _SHARED.client("dynamodbstreams", PATIENT))


def sqs(config: Config = PATIENT) -> SQSClient:
    """Return the client of SQS."""
    return cast("SQSClient", _SHARED.client("sqs", config))


def scheduler(config: Config = PATIENT) -> EventBridgeSchedulerClient:
    """Return the client of EventBridge Scheduler."""
    return cast("EventBridgeSchedulerClient", _SHARED.client("scheduler", config))


def events(config: Config = PATIENT) -> EventBridgeClient:
    """Return the client of EventBridge."""
    return cast("EventBridgeClient", _SHARED.client("events", config))


def ses() -> SESClient:
    """Return the client of SES. It repeats no call; the notification queue does."""
    return cast("SESClient", _SHARED.client("ses", ONCE))


def sns() -> SNSClient:
    """Return the client of SNS. It repeats no call; the notification queue does."""
    return cast("SNSClient", _SHARED.client("sns", ONCE))


def functions(config: Config = PATIENT) -> Any:
    """Return the client of Lambda."""
    return _SHARED.client("lambda", config)


def logs() -> Any:
    """Return the client of CloudWatch Logs."""
    return _SHARED.client("logs", PATIENT)
