"""Days that lie so many days, or business days, before or after others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial

from duetime.cadence.calendars import Calendar
from duetime.cadence.days import FIRST_DAY, LAST_DAY, Month, Select, Shift, days_between
from duetime.cadence.modifiers import DayOffset

WORKWEEK = Calendar(exclude=["sat", "sun"])
"""The business days of a cadence without a calendar."""
_LONGEST_BREAK = 366


def shift_days(offset: DayOffset, calendar: Calendar | None) -> tuple[Shift, int]:
    """Return a function of the days of a month that lie `offset` after the days of a function of months.

    The number is that of the days over which it shifts at most.
    """
    if not offset.is_business:
        return partial(_by_days, count=offset.days), abs(offset.days)
    business = calendar or WORKWEEK
    shift = partial(_by_business_days, count=offset.days, business=business)
    return shift, business.days_with(abs(offset.days))


def _by_days(month: Month, named: Select, *, count: int) -> int:
    first, last = month.first - count, month.first + month.length - 1 - count
    return sum(1 << day - first for day in days_between(named, first, last))


def _by_business_days(month: Month, named: Select, *, count: int, business: Calendar) -> int:
    first, last, step = month.first, month.first + month.length - 1, 1 if count > 0 else -1
    if not any(map(business.is_business_day, range(first, last + 1))):
        return 0
    edge = first if count > 0 else last
    for _ in range(abs(count)):
        further = business.business_day_from(edge, -step)
        edge = edge - step * _LONGEST_BREAK if further is None else further
    begin, end = (max(edge, FIRST_DAY), last) if count > 0 else (first, min(edge, LAST_DAY))
    sources = [*days_between(named, begin, end)]
    days = [day for day in range(begin, end + 1) if business.is_business_day(day)] if sources else []
    found = 0
    for day in sources:
        at = bisect_right(days, day) + count - 1 if count > 0 else bisect_left(days, day) + count
        if 0 <= at < len(days) and first <= days[at] <= last:
            found |= 1 << days[at] - first
    return found
