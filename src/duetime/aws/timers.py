"""Timers as one-shot schedules of EventBridge Scheduler, which deletes them after they fired."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime.aws.faults import ignoring, translate_errors
from duetime.aws.messages import to_json
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.ports.wakeups import DueMessage
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SERVICE = "EventBridge Scheduler"
NAME_LIMIT = 64
_NAME = re.compile(r"[0-9a-zA-Z-_.]{1,64}", re.ASCII)


class EventBridgeTimers:
    """One schedule for each generation of an action, in one group.

    See `duetime.ports.wakeups.Timers`.
    """

    def __init__(self, client: EventBridgeSchedulerClient, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        try:
            with translate_errors(SERVICE), ignoring("ConflictException"):  # this generation has a timer
                self._client.create_schedule(
                    Name=schedule_name(message),
                    GroupName=self._settings.schedule_group,
                    Description=f"duetime: wakes {message.type} of {message.ref.tenant_id}",
                    ScheduleExpression=at_expression(wake_at),
                    ScheduleExpressionTimezone="UTC",
                    FlexibleTimeWindow={"Mode": "OFF"},
                    ActionAfterCompletion="DELETE",
                    Target=target(self._settings, to_json(message)),
                )
        except BackendMisconfigured as error:  # the caller has another way to wake the action
            raise BackendUnavailable(SERVICE, str(error)) from error

    def clear(self, message: DueMessage) -> None:
        with translate_errors(SERVICE), ignoring("ResourceNotFoundException"):
            self._client.delete_schedule(Name=schedule_name(message), GroupName=self._settings.schedule_group)


def target(settings: Settings, content: str) -> Any:
    """Return the target of a schedule: dispatch with the JSON `content`, retried for up to an hour."""
    invoked = {
        "Arn": settings.dispatch_arn,
        "RoleArn": settings.timer_role_arn,
        "Input": content,
        "RetryPolicy": {"MaximumRetryAttempts": 10, "MaximumEventAgeInSeconds": 3_600},
    }
    if settings.timer_dlq_arn:
        invoked["DeadLetterConfig"] = {"Arn": settings.timer_dlq_arn}
    return invoked


def schedule_name(message: DueMessage) -> str:
    """Return a valid, unique schedule name: id and generation, or their hash if they do not fit."""
    plain = f"{message.ref.id}.{message.generation}"
    if _NAME.fullmatch(plain):
        return plain
    return sha256(f"{message.ref.tenant_id}#{plain}".encode()).hexdigest()


def at_expression(wake_at: datetime) -> str:
    """Return ``at(2027-06-01T07:00:00)``: whole seconds, rounded down, in UTC."""
    return f"at({wake_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})"
