"""Warnings about valid cadences that may not do what their author meant.

The console translates these sentences by their wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from duetime.cadence.cadence import Cadence, WallCadence
from duetime.cadence.crontab import Cron
from duetime.cadence.day_fields import LENGTHS
from duetime.cadence.explain import LocalOccurrence, local_occurrences
from duetime.cadence.words import bits
from duetime.cadence.zones import instant_at, seconds_of, zone

AHEAD = 400 * 86_400
"""Seconds searched for clock changes: a year and a month, since next year's changes may come later."""
# Changed occurrences returned at most.
_MOST = 4
_SIX = 6
_UNITS = (("minute", 60, "hour"), ("hour", 24, "day"))
_EVEN = {"minute": "interval(minutes={})", "hour": "interval(hours={})"}


def cadence_warnings(cadence: Cadence) -> list[str]:
    """Return the warnings about a cadence, a sentence each; empty for most."""
    return [*_cron_warnings(cadence)] if isinstance(cadence, Cron) else []


def upcoming_clock_changes(
    cadence: Cadence, start: datetime, until: datetime | None = None
) -> Iterator[LocalOccurrence]:
    """Return the first occurrence that each clock change in (start, until] affects.

    Without ``until``, return the next four within a year.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    if not isinstance(cadence, WallCadence):
        return iter(())
    at = seconds_of(start)
    if until is None:
        return islice(_changed(cadence, at, at + AHEAD), _MOST)
    return _changed(cadence, at, seconds_of(until))


def _changed(cadence: WallCadence, at: int, last: int) -> Iterator[LocalOccurrence]:
    where = zone(cadence.tz)
    span = where.span(at)
    while span.end <= last and span.end > at:
        jump = abs(span.after - span.offset)
        opens, shuts = instant_at(max(at, span.end - jump - 1)), instant_at(span.end + jump)
        if jump and opens is not None and shuts is not None:
            yield from islice((row for row in local_occurrences(cadence, opens, shuts) if row.mark), 1)
        span = where.span(span.end)


def _cron_warnings(cadence: Cron) -> Iterator[str]:
    fields = cadence.expression.split()
    if len(fields) == _SIX and "?" in (fields[2], fields[4]):
        yield (
            "six fields begin with the second; if this is EventBridge's, which begin with the minute"
            f' and end with the year, write "{" ".join(fields[:-1])}"'
        )
    if len(fields) > 1:
        if fields[-3] == "?" and re.match(r"[1-7]", fields[-1]):
            yield (
                f"in day-of-week {fields[-1]} Sunday is 0 or 7 and Monday 1; Quartz and EventBridge count"
                " from Sunday 1: names are the same everywhere"
            )
        yield from _uneven_step_warnings(fields[-5:])
    yield from _missing_date_warnings(cadence)


def _uneven_step_warnings(fields: list[str]) -> Iterator[str]:
    """Warn about steps that do not divide their field: the last step is shorter."""
    for text, (unit, size, larger_unit) in zip(fields, _UNITS, strict=False):
        step = re.fullmatch(r"(?:\*|0)/(\d+)", text)
        if step and size % int(step[1]):
            number, short = int(step[1]), size % int(step[1])
            last = (size - 1) // number * number
            yield (
                f"{text} begins anew each {larger_unit}: from {unit} {last} to the next 0"
                f" it is {short} {unit}{'s' * (short > 1)}; {_EVEN[unit].format(number)} is even"
            )


def _missing_date_warnings(cadence: Cron) -> Iterator[str]:
    days = cadence.parts.days
    dates = [n + 1 for n in bits(days.days)]
    shortest = min(LENGTHS[month] for month in bits(days.months))
    if dates and dates[0] > shortest and not (days.lasts or days.nearest or days.nearest_lasts):
        yield f"a month without a day {dates[0]} is passed over; L is the last day of each"
