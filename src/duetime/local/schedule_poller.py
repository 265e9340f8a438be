"""Plays EventBridge Scheduler: fires the schedules that stand in moto, which itself fires none.

It learns of a schedule when the call that made it passes the gate, so it need not list thousands each second. As AWS
may, it fires late by up to a minute, or twice, if it was told to.
"""

from __future__ import annotations

import json
import logging
import queue
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

from duetime import instant
from duetime.clock import Clock
from duetime.local.gate import AwsCall
from duetime.local.invocation_poller import InvocationPoller
from duetime.local.poller import Poller
from duetime.local.timetable import Schedule, ScheduleKey, Timetable

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient

log = logging.getLogger(__name__)

_LOOK_ANYWAY = timedelta(minutes=1)
_DEFAULT_GROUP = "default"


@dataclass(frozen=True, slots=True)
class SchedulerQuirks:
    """What EventBridge Scheduler may do and seldom does.

    Attributes:
        lateness: it fires up to this long after the time; AWS allows itself a minute.
        doubles: the chance that it fires twice.
    """

    lateness: timedelta = timedelta(0)
    doubles: float = 0.0


class SchedulePoller(Poller):
    """Fires schedules by handing their input to an asynchronous invocation of their target."""

    def __init__(
        self,
        client: EventBridgeSchedulerClient,
        invocations: InvocationPoller,
        clock: Clock,
        whims: SchedulerQuirks,
    ) -> None:
        super().__init__("schedules", clock)
        self._client, self._invocations, self._whims = client, invocations, whims
        self._timetable = Timetable()
        self._changed: queue.SimpleQueue[AwsCall] = queue.SimpleQueue()
        for page in client.get_paginator("list_schedules").paginate():
            for each in page["Schedules"]:
                self._learn(ScheduleKey(each["GroupName"], each["Name"]))

    def listen(self, call: AwsCall) -> None:
        """Learn which schedules and groups are made, changed and deleted."""
        if call.method in {"POST", "PUT", "DELETE"} and call.path.startswith(
            ("/schedules/", "/schedule-groups/")
        ):
            self._changed.put(call)
            self.alarm.ring()

    def turn(self) -> timedelta:
        """Take note of what changed, then fire what is due."""
        while not self._changed.empty():
            self._note(self._changed.get())
        for schedule in self._timetable.take_due(self.clock.now()):
            self._fire(schedule)
        return _LOOK_ANYWAY

    def _note(self, call: AwsCall) -> None:
        where = urlsplit(call.path)
        kind, _, name = unquote(where.path).strip("/").partition("/")
        if kind == "schedule-groups":
            if call.method == "DELETE":
                self._timetable.forget_group(name)
        elif call.method == "DELETE":
            group = parse_qs(where.query).get("groupName", [_DEFAULT_GROUP])[0]
            self._timetable.forget(ScheduleKey(group, name))
        else:
            self._learn(ScheduleKey(_group_in(call.body), name))

    def _learn(self, key: ScheduleKey) -> None:
        try:
            told = self._client.get_schedule(Name=key.name, GroupName=key.group)
        except self._client.exceptions.ResourceNotFoundException:  # refused, or gone again meanwhile
            self._timetable.forget(key)
            return
        if fire_at := self._timetable.learn(told, self._lateness()):
            self.alarm.set_for(fire_at)

    def _fire(self, schedule: Schedule) -> None:
        for _ in range(2 if random.random() < self._whims.doubles else 1):  # noqa: S311 - plays chance
            self._hand_over(schedule)
        following = schedule.after(schedule.next_at)
        if following is not None:
            self.alarm.set_for(self._timetable.put(following, self._lateness()))
        elif schedule.is_deleted_after:
            self._delete(schedule.key)

    def _hand_over(self, schedule: Schedule) -> None:
        log.debug("schedule %s fires", schedule.key.name)
        try:
            event = json.loads(_with_context(schedule))
        except ValueError as error:
            log.error("schedule %s: its input is no JSON: %s", schedule.key.name, error)  # noqa: TRY400 - told whole
        else:
            self._invocations.invoke(schedule.target["Arn"], event)

    def _delete(self, key: ScheduleKey) -> None:
        try:
            self._client.delete_schedule(Name=key.name, GroupName=key.group)
        except self._client.exceptions.ResourceNotFoundException:
            log.debug("schedule %s is gone already", key.name)

    def _lateness(self) -> timedelta:
        return self._whims.lateness * random.random()  # noqa: S311 - as above


def _group_in(body: bytes) -> str:
    try:
        return json.loads(body).get("GroupName") or _DEFAULT_GROUP
    except (
        ValueError,
        AttributeError,
    ):  # another service's path looks the same; then there is no such schedule
        return _DEFAULT_GROUP


def _with_context(schedule: Schedule) -> str:
    """The target's input, with the words that EventBridge Scheduler puts its own facts in place of."""
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
