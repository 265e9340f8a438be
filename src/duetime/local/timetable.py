"""The timetable: when each schedule of EventBridge Scheduler fires next, by its expression and zone.

moto accepts any text as an expression. A schedule that AWS would reject never fires here; it is logged once.
"""

from __future__ import annotations

import heapq
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from duetime.cadence.errors import InvalidExpression
from duetime.cadence.eventbridge import WakeExpression, parse_expression

log = logging.getLogger(__name__)

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
