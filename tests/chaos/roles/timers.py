"""Dispatch, and EventBridge Scheduler, which invokes it for each stored schedule that is due."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from duetime.aws import clients
from duetime.lambdas import dispatch
from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import CLOCK, invocation, no_metrics, repeat
from tests.emulated.schedule_poller import Schedule, ScheduleKey, Timetable

TURN_EACH = 0.5
"""Seconds."""


def serve(settings: Settings, _words: Words) -> None:
    repeat(ScheduleSource(dispatch.make_handler(settings, metrics=no_metrics)).turn, TURN_EACH)


class ScheduleSource:
    """Reads changed schedules, and fires those that are due."""

    def __init__(self, handler: Callable[..., Any]) -> None:
        self._client, self._handler = clients.scheduler(), handler
        self._known: dict[ScheduleKey, datetime] = {}
        self._timetable = Timetable()

    def turn(self) -> bool:
        """Read what changed, then fire what is due."""
        self._read()
        for schedule in self._timetable.take_due(CLOCK.now()):
            self._fire(schedule)
        return False

    def _fire(self, schedule: Schedule) -> None:
        self._handler(json.loads(schedule.target["Input"]), invocation())
        following = schedule.after(schedule.next_at)
        if following is not None:
            self._timetable.put(following, timedelta(0))
        elif schedule.is_deleted_after:
            with suppress(self._client.exceptions.ResourceNotFoundException):
                self._client.delete_schedule(Name=schedule.key.name, GroupName=schedule.key.group)

    def _read(self) -> None:
        listed = {
            ScheduleKey(schedule["GroupName"], schedule["Name"]): schedule["LastModificationDate"]
            for page in self._client.get_paginator("list_schedules").paginate()
            for schedule in page["Schedules"]
        }
        for key in self._known.keys() - listed.keys():
            self._timetable.forget(key)
        for key in [key for key in listed if self._known.get(key) != listed[key]]:
            with suppress(self._client.exceptions.ResourceNotFoundException):
                found = self._client.get_schedule(Name=key.name, GroupName=key.group)
                self._timetable.add(found, timedelta(0))
        self._known = listed
