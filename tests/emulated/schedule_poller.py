"""Simulates EventBridge Scheduler: fires the schedules that moto stores.

It reads a schedule when the call that created it passes the lock, so it need not list thousands each
second. Options make it fire late by up to a minute, or twice, as AWS may.
"""

from __future__ import annotations

import heapq
import itertools
import json
import logging
import queue
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

from duetime import instant
from duetime.cadence.errors import InvalidExpression
from duetime.cadence.eventbridge import WakeExpression, parse_expression
from duetime.clock import Clock
from tests.emulated.call_lock import AwsCall
from tests.emulated.invocation_poller import InvocationPoller
from tests.emulated.poller import Poller

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient


_SECOND = timedelta(seconds=1)


class ScheduleKey(NamedTuple):
    """The name of a schedule in its group."""

    group: str
    name: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """A valid schedule with its next firing."""

    key: ScheduleKey
    arn: str
    expression: WakeExpression
    starts_at: datetime
    ends_at: datetime | None
    target: Mapping[str, Any]
    is_deleted_after: bool
    next_at: datetime

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> Self | None:
        """Return the schedule of an answer of ``GetSchedule``; None if it will never fire.

        Raises:
            InvalidExpression: AWS would reject its expression.
        """
        expression = parse_expression(
            description["ScheduleExpression"], description.get("ScheduleExpressionTimezone") or "UTC"
        )
        changed_at = max(description["CreationDate"], description["LastModificationDate"])
        starts_at = max(description.get("StartDate") or changed_at, changed_at)
        next_at = expression.next_after(starts_at - _SECOND, start=starts_at)
        ends_at = description.get("EndDate")
        if description.get("State") == "DISABLED" or next_at is None or (ends_at and next_at > ends_at):
            return None
        return cls(
            ScheduleKey(description["GroupName"], description["Name"]),
            description["Arn"],
            expression,
            starts_at,
            ends_at,
            description["Target"],
            description.get("ActionAfterCompletion") == "DELETE",
            next_at,
        )

    def after(self, instant: datetime) -> Self | None:
        """Return this schedule with its first firing after `instant`; None if it is completed."""
        next_at = self.expression.next_after(instant, start=self.starts_at)
        if next_at is None or (self.ends_at and next_at > self.ends_at):
            return None
        return replace(self, next_at=next_at)


class Timetable:
    """Schedules in the order of their firing."""

    def __init__(self) -> None:
        self._known: dict[ScheduleKey, tuple[int, Schedule]] = {}
        self._by_time: list[tuple[datetime, int, ScheduleKey]] = []
        self._numbers = itertools.count()

    def add(self, description: Mapping[str, Any], late: timedelta) -> datetime | None:
        """Add a schedule by an answer of ``GetSchedule``; return when it fires, `late` after its time."""
        key = ScheduleKey(description["GroupName"], description["Name"])
        self.forget(key)
        try:
            schedule = Schedule.from_json(description)
        except InvalidExpression as error:
            log.error(  # noqa: TRY400 - needs no stack
                "schedule %s never fires, EventBridge would reject it: %s; %s",
                key.name,
                error.problem,
                error.remedy,
            )
            return None
        return None if schedule is None else self.put(schedule, late)

    def put(self, schedule: Schedule, late: timedelta) -> datetime:
        """Add a schedule that fires `late` after its next time; return when."""
        number, fire_at = next(self._numbers), schedule.next_at + late
        self._known[schedule.key] = (number, schedule)
        heapq.heappush(self._by_time, (fire_at, number, schedule.key))
        return fire_at

    def forget(self, key: ScheduleKey) -> None:
        """Remove a schedule."""
        self._known.pop(key, None)

    def forget_group(self, group: str) -> None:
        """Remove a group's schedules."""
        for key in [key for key in self._known if key.group == group]:
            self.forget(key)

    def take_due(self, now: datetime) -> list[Schedule]:
        """Remove and return the schedules that fire by `now`."""
        due = []
        while self._by_time and self._by_time[0][0] <= now:
            _, number, key = heapq.heappop(self._by_time)
            entry = self._known.get(key)
            if entry and entry[0] == number:
                due.append(self._known.pop(key)[1])
        return due


log = logging.getLogger(__name__)

_LOOK_ANYWAY = timedelta(minutes=1)
_DEFAULT_GROUP = "default"


@dataclass(frozen=True, slots=True)
class SchedulerQuirks:
    """Rare behaviour of EventBridge Scheduler.

    Attributes:
        lateness: the longest delay of a firing; on AWS, a minute.
        doubles: the probability of a second firing.
    """

    lateness: timedelta = timedelta(0)
    doubles: float = 0.0


class SchedulePoller(Poller):
    """Fires schedules: invokes their target asynchronously with their input."""

    def __init__(
        self,
        client: EventBridgeSchedulerClient,
        invocations: InvocationPoller,
        clock: Clock,
        quirks: SchedulerQuirks,
    ) -> None:
        super().__init__("schedules", clock)
        self._client, self._invocations, self._quirks = client, invocations, quirks
        self._timetable = Timetable()
        self._changed: queue.SimpleQueue[AwsCall] = queue.SimpleQueue()
        for page in client.get_paginator("list_schedules").paginate():
            for schedule in page["Schedules"]:
                self._read(ScheduleKey(schedule["GroupName"], schedule["Name"]))

    def listen(self, call: AwsCall) -> None:
        """Note calls that create, change or delete schedules and groups."""
        if call.method in {"POST", "PUT", "DELETE"} and call.path.startswith(
            ("/schedules/", "/schedule-groups/")
        ):
            self._changed.put(call)
            self.alarm.ring()

    def turn(self) -> timedelta:
        """Read changed schedules, then fire those that are due."""
        while not self._changed.empty():
            self._note(self._changed.get())
        for schedule in self._timetable.take_due(self.clock.now()):
            self._fire(schedule)
        return _LOOK_ANYWAY

    def _note(self, call: AwsCall) -> None:
        url = urlsplit(call.path)
        kind, _, name = unquote(url.path).strip("/").partition("/")
        if kind == "schedule-groups":
            if call.method == "DELETE":
                self._timetable.forget_group(name)
        elif call.method == "DELETE":
            group = parse_qs(url.query).get("groupName", [_DEFAULT_GROUP])[0]
            self._timetable.forget(ScheduleKey(group, name))
        else:
            self._read(ScheduleKey(_group_in(call.body), name))

    def _read(self, key: ScheduleKey) -> None:
        try:
            description = self._client.get_schedule(Name=key.name, GroupName=key.group)
        except self._client.exceptions.ResourceNotFoundException:  # rejected, or deleted meanwhile
            self._timetable.forget(key)
            return
        if fire_at := self._timetable.add(description, self._lateness()):
            self.alarm.set_for(fire_at)

    def _fire(self, schedule: Schedule) -> None:
        for _ in range(2 if random.random() < self._quirks.doubles else 1):  # noqa: S311 - simulated fault
            self._invoke(schedule)
        following = schedule.after(schedule.next_at)
        if following is not None:
            self.alarm.set_for(self._timetable.put(following, self._lateness()))
        elif schedule.is_deleted_after:
            self._delete(schedule.key)

    def _invoke(self, schedule: Schedule) -> None:
        log.debug("schedule %s fires", schedule.key.name)
        try:
            event = json.loads(_with_context(schedule))
        except ValueError as error:
            log.error("schedule %s: its input is not JSON: %s", schedule.key.name, error)  # noqa: TRY400 - needs no stack
        else:
            self._invocations.invoke(schedule.target["Arn"], event)

    def _delete(self, key: ScheduleKey) -> None:
        try:
            self._client.delete_schedule(Name=key.name, GroupName=key.group)
        except self._client.exceptions.ResourceNotFoundException:
            log.debug("schedule %s is already deleted", key.name)

    def _lateness(self) -> timedelta:
        return self._quirks.lateness * random.random()  # noqa: S311 - as above


def _group_in(body: bytes) -> str:
    try:
        return json.loads(body).get("GroupName") or _DEFAULT_GROUP
    except (ValueError, AttributeError):  # a call of another service with the same path
        return _DEFAULT_GROUP


def _with_context(schedule: Schedule) -> str:
    facts: Mapping[str, Any] = {
        "<aws.scheduler.scheduled-time>": instant.text(schedule.next_at)[:19] + "Z",
        "<aws.scheduler.execution-id>": uuid4(),
        "<aws.scheduler.attempt-number>": 1,
        "<aws.scheduler.schedule-arn>": schedule.arn,
    }
    text = str(schedule.target.get("Input", "{}"))
    for word, fact in facts.items():
        text = text.replace(word, str(fact))
    return text
