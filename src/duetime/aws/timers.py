"""Timers as one-shot schedules of EventBridge Scheduler, which deletes them after they fired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, ignoring, translate_errors
from duetime.aws.messages import from_json, to_json
from duetime.errors import BackendMisconfigured, BackendUnavailable, TimerQuotaReached, UnreadableMessage
from duetime.ports.wakeups import DueMessage, timer_name
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

SERVICE = "EventBridge Scheduler"
_RAISE = (
    "Raise the quota of schedules of EventBridge Scheduler in Service Quotas; meanwhile the wheel wakes them"
)
_GONE = "ResourceNotFoundException"


class EventBridgeTimers:
    """One schedule for each generation of an action, in one group.

    See `duetime.ports.wakeups.Timers`.
    """

    def __init__(self, client: EventBridgeSchedulerClient, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        try:
            with translate_errors(SERVICE), _of_quota():
                self._create(message, wake_at)
        except BackendMisconfigured as error:  # the caller has another way to wake the action
            raise BackendUnavailable(SERVICE, str(error)) from error

    def clear(self, message: DueMessage) -> None:
        with translate_errors(SERVICE):
            self._delete(timer_name(message))

    def known(self) -> Iterator[str]:
        """Yield the names of all timers."""
        with translate_errors(SERVICE):
            for page in self._client.get_paginator("list_schedules").paginate(
                GroupName=self._settings.made.schedule_group
            ):
                yield from (schedule["Name"] for schedule in page["Schedules"])

    def message(self, name: str) -> DueMessage | None:
        """Return the message of a timer; None if it is gone, or duetime did not set it."""
        with translate_errors(SERVICE), ignoring(_GONE):
            timer = self._client.get_schedule(Name=name, GroupName=self._settings.made.schedule_group)
            with suppress(UnreadableMessage):
                return from_json(timer["Target"]["Input"])[0]
        return None

    def remove(self, name: str) -> None:
        """Remove a timer by its name. A missing one is ignored."""
        with translate_errors(SERVICE):
            self._delete(name)

    def _create(self, message: DueMessage, wake_at: datetime) -> None:
        with ignoring("ConflictException"):  # this generation has a timer
            self._client.create_schedule(
                Name=timer_name(message),
                GroupName=self._settings.made.schedule_group,
                Description=f"duetime: wakes {message.type} of {message.ref.tenant_id}",
                ScheduleExpression=at_expression(wake_at),
                ScheduleExpressionTimezone="UTC",
                FlexibleTimeWindow={"Mode": "OFF"},
                ActionAfterCompletion="DELETE",
                Target=target(self._settings, to_json(message)),
            )

    def _delete(self, name: str) -> None:
        with ignoring(_GONE):
            self._client.delete_schedule(Name=name, GroupName=self._settings.made.schedule_group)


@contextmanager
def _of_quota() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if code_of(error) != "ServiceQuotaExceededException":
            raise
        raise TimerQuotaReached(SERVICE, f"{error}. {_RAISE}") from error


def target(settings: Settings, content: str) -> Any:
    """Return the target of a schedule: dispatch with the JSON `content`, retried for up to an hour."""
    invoked = {
        "Arn": settings.made.dispatch_arn,
        "RoleArn": settings.made.timer_role_arn,
        "Input": content,
        "RetryPolicy": {"MaximumRetryAttempts": 10, "MaximumEventAgeInSeconds": 3_600},
    }
    if settings.made.timer_dlq_arn:
        invoked["DeadLetterConfig"] = {"Arn": settings.made.timer_dlq_arn}
    return invoked


def at_expression(wake_at: datetime) -> str:
    """Return ``at(2027-06-01T07:00:00)``: whole seconds, rounded down, in UTC."""
    return f"at({wake_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})"
