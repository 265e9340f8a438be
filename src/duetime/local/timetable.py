"""The timetable: when each schedule in EventBridge Scheduler fires next, strictly by its expression and zone.

moto takes any text for an expression. What AWS would refuse never fires here: it is told of once, and the rest go on.
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
    """What names a schedule."""

    group: str
    name: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """A valid schedule, and the next instant that it fires at."""

    key: ScheduleKey
    arn: str
    expression: WakeExpression
    starts_at: datetime
    ends_at: datetime | None
    target: Mapping[str, Any]
    is_deleted_after: bool
    next_at: datetime

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self | None:
        """The schedule that ``GetSchedule`` tells of; None when it will never fire.

        Raises:
            InvalidExpression: AWS would have refused it.
        """
        expression = parse_expression(
            told["ScheduleExpression"], told.get("ScheduleExpressionTimezone") or "UTC"
        )
        changed_at = max(told["CreationDate"], told["LastModificationDate"])
        starts_at = max(told.get("StartDate") or changed_at, changed_at)
        next_at = expression.next_after(starts_at - _SECOND, start=starts_at)
        ends_at = told.get("EndDate")
        if told.get("State") == "DISABLED" or next_at is None or (ends_at and next_at > ends_at):
            return None
        return cls(
            ScheduleKey(told["GroupName"], told["Name"]),
            told["Arn"],
            expression,
            starts_at,
            ends_at,
            told["Target"],
            told.get("ActionAfterCompletion") == "DELETE",
            next_at,
        )

    def after(self, instant: datetime) -> Self | None:
        """This schedule with its first firing after `instant`; None when there is none: it is completed."""
        next_at = self.expression.next_after(instant, start=self.starts_at)
        if next_at is None or (self.ends_at and next_at > self.ends_at):
            return None
        return replace(self, next_at=next_at)


class Timetable:
    """Known schedules by when they are to be fired."""

    def __init__(self) -> None:
        self._known: dict[ScheduleKey, tuple[int, Schedule]] = {}
        self._by_time: list[tuple[datetime, int, ScheduleKey]] = []
        self._numbers = itertools.count()

    def learn(self, told: Mapping[str, Any], late: timedelta) -> datetime | None:
        """Take in what ``GetSchedule`` tells; returns when it is to be fired, which is `late` after its time."""
        key = ScheduleKey(told["GroupName"], told["Name"])
        self.forget(key)
        try:
            schedule = Schedule.of(told)
        except InvalidExpression as error:
            log.error(  # noqa: TRY400 - told whole, and no fault of ours
                "schedule %s never fires, EventBridge would have refused it: %s; %s",
                key.name,
                error.problem,
                error.remedy,
            )
            return None
        return None if schedule is None else self.put(schedule, late)

    def put(self, schedule: Schedule, late: timedelta) -> datetime:
        """Have a schedule fired `late` after its next time; returns when."""
        number, fire_at = next(self._numbers), schedule.next_at + late
        self._known[schedule.key] = (number, schedule)
        heapq.heappush(self._by_time, (fire_at, number, schedule.key))
        return fire_at

    def forget(self, key: ScheduleKey) -> None:
        """Fire it no more."""
        self._known.pop(key, None)

    def forget_group(self, group: str) -> None:
        """Fire none of the group any more."""
        for key in [each for each in self._known if each.group == group]:
            self.forget(key)

    def take_due(self, now: datetime) -> list[Schedule]:
        """Take out the schedules that are to be fired by `now`."""
        due = []
        while self._by_time and self._by_time[0][0] <= now:
            _, number, key = heapq.heappop(self._by_time)
            standing = self._known.get(key)
            if standing and standing[0] == number:
                due.append(self._known.pop(key)[1])
        return due
