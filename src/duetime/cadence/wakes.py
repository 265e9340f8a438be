"""The EventBridge expressions that wake a job's planner.

A wake plans every occurrence that is due before the next wake, and always at least the next one. Each
occurrence has its own exact timer, so wakes need not be exact. If EventBridge skips a wake at a clock change,
the wake before has planned its occurrences. Two limits apply: no wake may plan far ahead, and there are at
most two wakes an occurrence plus 24 a day.

If EventBridge can express a cron, the wake is that cron. If it cannot (every seven minutes, the third day
before the last, every other week), the wake is a cron with additional firings, or one every hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence.days import ALL_HOURS, DayFields, OneDay
from duetime.cadence.eventbridge import (
    FIRST_YEAR,
    LAST_YEAR,
    LONGEST,
    CronFields,
    WakeExpression,
    at_expression,
    cron_expression,
    day_terms,
    rate_expression,
)
from duetime.cadence.walk import DAY, HOUR, MINUTE, Times

if TYPE_CHECKING:
    from duetime.cadence.wall_cadence import WallCadence

LATENESS = timedelta(seconds=60)
"""How late EventBridge Scheduler may wake: its precision."""
SPARE_WAKES = 24
"""Wakes a day that may find nothing to plan."""
_MOST_GROUPS = 2
_FIRST_INSTANT = datetime.min.replace(tzinfo=UTC)


class _Hours(NamedTuple):
    minutes: int
    hours: int

    @property
    def firings(self) -> int:
        return self.minutes.bit_count() * self.hours.bit_count()


def planned_until(wakes: Iterable[WakeExpression], now: datetime, *, wakes_ahead: int = 1) -> datetime | None:
    """Return the instant up to which a wake at ``now`` must plan, so that nothing becomes overdue.

    That is the next wake plus its lateness, in either pass of an overlap. With ``wakes_ahead=3``, any two
    wakes in a row may be lost as well. Without a further wake the result is None: plan all occurrences, or
    the next.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    expressions = list(wakes)
    until: datetime | None = now
    for _ in range(wakes_ahead):
        until = None if until is None else _next_wake(expressions, until)
    return None if until is None else until + LATENESS


def _next_wake(expressions: list[WakeExpression], now: datetime) -> datetime | None:
    """Return the first instant after ``now`` by which an expression has fired in either pass."""
    latest: list[datetime] = []
    for expression in expressions:
        passes = [expression.next_after(now, last_pass=last) for last in (False, True)]
        found = [instant for instant in passes if instant is not None]
        if found:
            latest.append(max(found))
    return min(latest, default=None)


def wall_wakes(cadence: WallCadence) -> tuple[WakeExpression, ...]:
    """Return the wakes of a cadence of times on a wall clock."""
    wall = cadence.wall
    if isinstance(wall.days, OneDay):
        at = cadence.next_after(_FIRST_INSTANT)
        return (at_expression(at),) if at is not None and FIRST_YEAR <= at.year <= LAST_YEAR else ()
    months = wall.days.fields.months
    days = day_terms(wall.days.fields)
    allowed = SPARE_WAKES + (2 * _minutes(wall.times) if (days.exact and wall.days.recurs_alike) else 0)
    for hours in _choices(wall.times):
        if sum(part.firings for part in hours) * len(days.terms) > allowed:
            continue
        wakes = tuple(
            cron_expression(CronFields(part.minutes, part.hours, term._replace(months=months)), cadence.tz)
            for term in days.terms
            for part in hours
        )
        if all(len(wake.expression) <= LONGEST for wake in wakes):
            return wakes
    return (cron_expression(CronFields(1, ALL_HOURS, DayFields(months=months)), cadence.tz),)


def interval_wakes(step: int, *, filtered: bool) -> tuple[WakeExpression, ...]:
    """Return the wakes of an elapsed interval: a rate of whole minutes, at least as frequent.

    A filtered interval has at most hourly wakes.

    Args:
        step: seconds from one occurrence to the next.
        filtered: whether some occurrences are left out.
    """
    minutes = max(1, step // MINUTE)
    return (rate_expression(max(minutes, HOUR // MINUTE) if filtered else minutes),)


def _choices(times: Times) -> list[list[_Hours]]:
    """Return ways to cover these times, the best first: exactly, with additional minutes, every hour."""
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
    """Return each hour that has occurrences, with a mask of the minutes that have some."""
    found: dict[int, int] = {}
    at = times.first_from(0)
    while at >= 0:
        hour, rest = divmod(at, HOUR)
        found[hour] = found.get(hour, 0) | 1 << rest // MINUTE
        following = at - at % MINUTE + MINUTE
        at = times.first_from(following) if following < DAY else -1
    return sorted(found.items())


def _minutes(times: Times) -> int:
    return sum(minutes.bit_count() for _, minutes in _grid(times))
