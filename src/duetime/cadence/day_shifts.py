"""Days that lie so many days, or business days, before or after others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from duetime.cadence.calendars import Calendar
from duetime.cadence.days import FIRST_DAY, LAST_DAY, Month, Select, Shift, month_of
from duetime.cadence.modifiers import DayOffset

WORKWEEK = Calendar(exclude=["sat", "sun"])
"""The business days of a cadence without a calendar."""
_LONGEST_BREAK = 366


def shift_days(offset: DayOffset, calendar: Calendar | None) -> Shift:
    """Return a function of the days of a month that lie `offset` after the days of a function of months."""
    if offset.is_business:
        return partial(_by_business_days, count=offset.days, business=calendar or WORKWEEK)
    return partial(_by_days, count=offset.days)


def _by_days(month: Month, named: Select, *, count: int) -> int:
    return sum(1 << n for n in range(month.length) if _is_named(month.first + n - count, named))


def _by_business_days(month: Month, named: Select, *, count: int, business: Calendar) -> int:
    found = 0
    for n in range(month.length):
        day = month.first + n
        if business.is_business_day(day) and any(
            _is_named(source, named) for source in _sources(day, count, business)
        ):
            found |= 1 << n
    return found


def _sources(day: int, count: int, business: Calendar) -> Iterator[int]:
    """Yield the days of which a business day is the `count`-th business day after, or before if negative.

    They are one business day, and the other days between it and the next one.
    """
    back = -1 if count > 0 else 1
    nearest: int | None = day
    for _ in range(abs(count) - 1):
        nearest = None if nearest is None else business.business_day_from(nearest, back)
    if nearest is None:
        return
    for at in range(nearest + back, nearest + back * _LONGEST_BREAK, back):
        if not FIRST_DAY <= at <= LAST_DAY:
            return
        yield at
        if business.is_business_day(at):
            return


def _is_named(day: int, named: Select) -> bool:
    if not FIRST_DAY <= day <= LAST_DAY:
        return False
    month = month_of(day)
    return bool(named(month) >> day - month.first & 1)
