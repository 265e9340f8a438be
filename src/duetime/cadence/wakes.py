"""The heartbeat: which EventBridge expressions wake a job's planner.

A wake plans every occurrence that is due before the next wake, and always at least the next one, each with its own exact
timer. So wakes need not be exact, and what EventBridge loses at a change of the clocks was planned by the wake before. They
must only come often enough that no wake plans far ahead, and no oftener than twice an occurrence plus 24 times a day.

A cron that EventBridge can say is said as an AWS engineer would; what it cannot say (every seven minutes, the third day
before the last, every other week) is covered with something that comes a little oftener, or every hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence.aws_fields import FIRST_YEAR, LAST_YEAR
from duetime.cadence.aws_text import day_terms, months_field, values_text
from duetime.cadence.days import OneDay
from duetime.cadence.eventbridge import (
    LONGEST,
    Expression,
    at_expression,
    parse_expression,
)
from duetime.cadence.times import DAY, HOUR, MINUTE
from duetime.cadence.zones import instant_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from duetime.cadence.cadence import WallCadence
    from duetime.cadence.times import Times

LATENESS = timedelta(seconds=60)
"""How late EventBridge Scheduler may wake: its precision."""
SPARE_WAKES = 24
"""Wakes a day that may find nothing to plan."""
_MOST_GROUPS = 2
_UNITS = (("days", 1_440), ("hours", 60), ("minutes", 1))


@dataclass(frozen=True, slots=True)
class WakeExpression:
    """An expression for EventBridge Scheduler, and the zone to give beside it."""

    expression: str
    tz: str

    def parsed(self) -> Expression:
        """The same, ready to be evaluated."""
        return parse_expression(self.expression, self.tz)


class _Hours(NamedTuple):
    """Minutes (a mask) of some hours (a mask)."""

    minutes: int
    hours: int

    @property
    def firings(self) -> int:
        return self.minutes.bit_count() * self.hours.bit_count()


def planned_until(wakes: Iterable[WakeExpression], now: datetime, *, wakes_ahead: int = 1) -> datetime | None:
    """Up to which instant a wake at ``now`` should plan, so that the next one, if it comes late, finds nothing overdue.

    That is the next wake, in whichever pass of an overlap EventBridge takes it, plus its lateness. With ``wakes_ahead=3``
    any two wakes in a row may be lost as well. None if no wake comes any more: then plan all that is left, or the next.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    expressions = [wake.parsed() for wake in wakes]
    until: datetime | None = now
    for _ in range(wakes_ahead):
        until = None if until is None else _next_wake(expressions, until)
    return None if until is None else until + LATENESS


def _next_wake(expressions: list[Expression], now: datetime) -> datetime | None:
    """The first instant after ``now`` by which one of them has certainly fired once more."""
    sure: list[datetime] = []
    for expression in expressions:
        passes = [expression.next_after(now, last_pass=last) for last in (False, True)]
        found = [instant for instant in passes if instant is not None]
        if found:
            sure.append(max(found))
    return min(sure, default=None)


def wall_wakes(cadence: WallCadence) -> tuple[WakeExpression, ...]:
    """The wakes of a cadence of times on a wall clock."""
    if isinstance(cadence.wall.days, OneDay):
        return once_wakes(instant_at(cadence.first()))
    days = cadence.wall.days.fields
    terms = day_terms(days)
    exact = terms.exact and cadence.wall.days.recurs_alike
    month = months_field(days.months)
    for hours in _choices(cadence.wall.times):
        count = sum(part.firings for part in hours) * len(terms.pairs)
        allowed = SPARE_WAKES + (2 * _minutes(cadence.wall.times) if exact else 0)
        texts = [
            f"cron({values_text(part.minutes, 0, 59)} {values_text(part.hours, 0, 23)} {day} {month} {weekday} *)"
            for day, weekday in terms.pairs
            for part in hours
        ]
        if count <= allowed and max(map(len, texts)) <= LONGEST:
            return tuple(WakeExpression(text, cadence.tz) for text in texts)
    return (WakeExpression(f"cron(0 * * {month} ? *)", cadence.tz),)


def interval_wakes(step: int, *, filtered: bool) -> tuple[WakeExpression, ...]:
    """The wakes of an elapsed interval: a rate of whole minutes, at least as often; hourly if filters thin it out."""
    minutes = max(1, step // MINUTE)
    if filtered:
        minutes = max(minutes, HOUR // MINUTE)
    unit, size = next((unit, size) for unit, size in _UNITS if minutes % size == 0)
    return (WakeExpression(f"rate({minutes // size} {unit})", "UTC"),)


def once_wakes(at: datetime | None) -> tuple[WakeExpression, ...]:
    """The wake of a single instant, in UTC so that no change of the clocks touches it; none beyond EventBridge's years."""
    if at is None or not FIRST_YEAR <= at.year <= LAST_YEAR:
        return ()
    return (WakeExpression(at_expression(at), "UTC"),)


def _choices(times: Times) -> list[list[_Hours]]:
    """Ways to cover those times, the best first: exactly, with minutes to spare, each hour."""
    minutes_of: dict[int, int] = {}
    for hour, minutes in _grid(times):
        minutes_of[minutes] = minutes_of.get(minutes, 0) | 1 << hour
    exact = [_Hours(minutes, hours) for minutes, hours in minutes_of.items()]
    union = _Hours(0, 0)
    for part in exact:
        union = _Hours(union.minutes | part.minutes, union.hours | part.hours)
    hourly = _Hours(1, union.hours)
    return [exact, [union], [hourly]] if len(exact) <= _MOST_GROUPS else [[union], [hourly]]


def _grid(times: Times) -> list[tuple[int, int]]:
    """Each hour that has occurrences, and a mask of its minutes that have some."""
    found: dict[int, int] = {}
    at = times.first_from(0)
    while at >= 0:
        hour, rest = divmod(at, HOUR)
        found[hour] = found.get(hour, 0) | 1 << rest // MINUTE
        following = at - at % MINUTE + MINUTE
        at = times.first_from(following) if following < DAY else -1
    return sorted(found.items())


def _minutes(times: Times) -> int:
    """In how many minutes of a day something is due."""
    return sum(minutes.bit_count() for _, minutes in _grid(times))
