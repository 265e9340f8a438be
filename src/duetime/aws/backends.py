"""The AWS back ends for a deployment's settings: made once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from duetime.aws.notes import DynamoBookmarks, DynamoRoutes
from duetime.aws.queues import SqsQueues
from duetime.aws.store import DynamoStore
from duetime.aws.timers import EventBridgeTimers
from duetime.clock import Clock
from duetime.ports import Timers
from duetime.wheel import WheelTimers

if TYPE_CHECKING:
    from duetime.settings import Settings

_PATIENT = Config(
    retries={"mode": "standard", "total_max_attempts": 5},
    connect_timeout=2,
    read_timeout=5,
    max_pool_connections=32,
)
_BRIEF = _PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 2}))
_ONCE = _PATIENT.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))


def action_store(settings: Settings, client: Any = None) -> DynamoStore:
    """The actions table; over `client`, if one is given."""
    return DynamoStore(
        client or boto3.client("dynamodb", config=_PATIENT),
        settings.actions_table,
        due_shards=settings.due_shards,
        single_shot=boto3.client("dynamodb", config=_ONCE) if client is None else None,
    )


def due_queues(settings: Settings) -> SqsQueues:
    """The workers' queues."""
    return SqsQueues(boto3.client("sqs", config=_PATIENT), settings.queues)


def timers(settings: Settings) -> Timers:
    """EventBridge's one-shots, asked briefly, since `arm` has another way when they are throttled; or the wheel's none."""
    if settings.timers == "wheel":
        return WheelTimers()
    return EventBridgeTimers(boto3.client("scheduler", config=_BRIEF), settings)


def routes(settings: Settings, clock: Clock) -> DynamoRoutes:
    """The published manifests."""
    return DynamoRoutes(boto3.client("dynamodb", config=_PATIENT), settings.jobs_table, clock=clock)


def bookmarks(settings: Settings) -> DynamoBookmarks:
    """Where repeated passes left off."""
    return DynamoBookmarks(boto3.client("dynamodb", config=_PATIENT), settings.jobs_table)
