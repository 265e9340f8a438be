"""EventBridge Scheduler's expressions: values, a strict parser, and the instants at which they fire.

From AWS's *Schedule types in EventBridge Scheduler*: ``at(yyyy-mm-ddThh:mm:ss)``, ``rate(value unit)`` and
``cron(minutes hours day-of-month month day-of-week year)``, each evaluated in a separate time zone. The
parser rejects everything that this page does not document, because the emulators accept any text.

Clock changes, from the same page: a time that does not exist is skipped, and a time that comes twice runs
once. The page does not name the pass, so :meth:`WakeExpression.next_after` computes either.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from duetime.cadence.aws_fields import FIRST_YEAR, LAST_YEAR, CronFields, parse_cron_fields
from duetime.cadence.aws_text import day_text, months_text, values_text
from duetime.cadence.days import Days, OneDay
from duetime.cadence.errors import InvalidExpression, UnknownZone
from duetime.cadence.times import DAY, HOUR, MINUTE, Fields, at_time
from duetime.cadence.walk import SKIPPED_AND_LAST, SKIPPED_AND_ONCE, WallSchedule, next_after
from duetime.cadence.zones import instant_at, seconds_of, zone

LONGEST = 256
"""Characters that an expression may have (CreateSchedule, ScheduleExpression)."""
LONGEST_ZONE = 50
"""Characters that a zone's name may have (CreateSchedule, ScheduleExpressionTimezone)."""

_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", re.ASCII)
_RATE = re.compile(r"rate\(([1-9]\d{0,8}) (minute|hour|day)(s?)\)", re.ASCII)
_CRON = re.compile(r"cron\((.*)\)", re.ASCII)
_UNITS = {"minute": MINUTE, "hour": HOUR, "day": DAY}


@dataclass(frozen=True, slots=True)
class WakeExpression(ABC):
    """A valid expression, and the zone in which it is evaluated.

    Attributes:
        expression: the text for EventBridge.
        tz: an IANA zone.
    """

    expression: str
    tz: str

    def next_after(
        self, instant: datetime, *, last_pass: bool = False, start: datetime | None = None
    ) -> datetime | None:
        """Return the first firing strictly after ``instant``, in UTC; None if there is none.

        Args:
            instant: an aware datetime.
            last_pass: fire local times that come twice in their second pass instead of their first.
            start: the first firing of a rate: the schedule's start date or its creation. By default a rate
                counts from ``instant``.

        Raises:
            NaiveInstant: an instant without a zone.
        """
        after = seconds_of(instant)
        found = self._next(after, after if start is None else seconds_of(start), last_pass=last_pass)
        return instant_at(found)

    @abstractmethod
    def _next(self, after: int, start: int, *, last_pass: bool) -> int: ...


@dataclass(frozen=True, slots=True)
class RateExpression(WakeExpression):
    """``rate(...)``: elapsed time, independent of clock changes.

    Attributes:
        period: seconds from one firing to the next.
    """

    period: int

    def _next(self, after: int, start: int, *, last_pass: bool) -> int:
        del last_pass
        return start if after < start else start + ((after - start) // self.period + 1) * self.period


@dataclass(frozen=True, slots=True)
class WallExpression(WakeExpression):
    """``at(...)`` or ``cron(...)``: times on the zone's wall clock."""

    _wall: WallSchedule = field(compare=False, repr=False)

    def _next(self, after: int, start: int, *, last_pass: bool) -> int:
        del start
        return next_after(
            self._wall, zone(self.tz), SKIPPED_AND_LAST if last_pass else SKIPPED_AND_ONCE, after
        )


@lru_cache(maxsize=256)
def parse_expression(text: str, tz: str = "UTC") -> WakeExpression:
    """Return the expression of a text, read as strictly as AWS documents it.

    Raises:
        InvalidExpression: EventBridge Scheduler would reject the expression or the zone.
    """
    _check_zone(tz)
    if len(text) > LONGEST:
        raise InvalidExpression(text, f"{len(text)} characters are too many", f"use at most {LONGEST}")
    if match := _AT.fullmatch(text):
        return _at(text, tz, match[1])
    if match := _RATE.fullmatch(text):
        return _rate(text, tz, match)
    if text.isascii() and (match := _CRON.fullmatch(text)):
        return _wall_expression(text, tz, parse_cron_fields(text, match[1], match.start(1)))
    remedy = "write at(yyyy-mm-ddThh:mm:ss), rate(5 minutes) or cron(0 9 * * ? *)"
    raise InvalidExpression(text, "not an expression of EventBridge Scheduler", remedy)


def at_expression(instant: datetime) -> WakeExpression:
    """Return the ``at(...)`` of an instant, in UTC, without the fraction of a second.

    Raises:
        NaiveInstant: an instant without a zone.
    """
    day, second = divmod(seconds_of(instant), DAY)
    text = f"at({instant.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat()})"
    return WallExpression(text, "UTC", WallSchedule(OneDay(day), at_time(second)))


def rate_expression(minutes: int) -> WakeExpression:
    """Return the ``rate(...)`` of a number of minutes, in the largest unit that fits."""
    seconds = minutes * MINUTE
    unit, size = next((unit, size) for unit, size in reversed(_UNITS.items()) if seconds % size == 0)
    return RateExpression(f"rate({seconds // size} {unit}s)", "UTC", seconds)


def cron_expression(fields: CronFields, tz: str) -> WakeExpression:
    """Return the ``cron(...)`` of fields with at most one rule for days, in every year."""
    day, weekday = day_text(fields.days)
    minutes, hours = values_text(fields.minutes, 0, 59), values_text(fields.hours, 0, 23)
    text = f"cron({minutes} {hours} {day} {months_text(fields.days.months)} {weekday} *)"
    return _wall_expression(text, tz, fields)


def _wall_expression(text: str, tz: str, fields: CronFields) -> WakeExpression:
    wall = WallSchedule(Days(fields.days, years=fields.years), Fields(fields.hours, fields.minutes))
    return WallExpression(text, tz, wall)


def _at(text: str, tz: str, local: str) -> WakeExpression:
    try:
        when = datetime.fromisoformat(local).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidExpression(
            text, "at: no such date or time", "use yyyy-mm-ddThh:mm:ss", start=3, width=19
        ) from None
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        problem = f"at: the year {when.year} is out of range"
        raise InvalidExpression(text, problem, f"use {FIRST_YEAR}-{LAST_YEAR}", start=3, width=4)
    day, second = divmod(seconds_of(when), DAY)
    return WallExpression(text, tz, WallSchedule(OneDay(day), at_time(second)))


def _rate(text: str, tz: str, match: re.Match[str]) -> WakeExpression:
    if not match[3] and match[1] != "1":
        problem = f"rate: {match[2]} is for one"
        raise InvalidExpression(
            text, problem, f"write {match[2]}s", start=match.start(2), width=len(match[2])
        )
    return RateExpression(text, tz, int(match[1]) * _UNITS[match[2]])


def _check_zone(tz: str) -> None:
    if len(tz) > LONGEST_ZONE:
        raise InvalidExpression(
            tz, f"a zone's name of {len(tz)} characters is too long", f"use at most {LONGEST_ZONE}"
        )
    try:
        zone(tz)
    except UnknownZone as unknown:
        raise InvalidExpression(tz, unknown.problem, unknown.remedy) from None
