"""The longest time that a cadence's filters admit at a stretch.

An interval whose step is longer may never run, depending on the second of its start.
"""

from __future__ import annotations

from duetime.cadence.day_fields import ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.times import DAY
from duetime.cadence.words import WEEKDAYS

_ALWAYS = 36_525 * DAY
_FEBRUARY, _WEEK, _FIFTH = 28 * DAY, 7 * DAY, 3 * DAY
_FIFTH_WEEK, _LAST_WEEK = 4, 5


def longest_opening(modifiers: Modifiers) -> int:
    """Return the seconds of the longest time that recurs in which the filters allow runs."""
    weekdays = modifiers.days
    by_calendar = _ALWAYS
    if modifiers.calendar is not None:
        for entry in modifiers.calendar.exclude:
            if entry in WEEKDAYS:
                weekdays &= ~(1 << WEEKDAYS.index(entry))
        by_calendar = DAY if modifiers.calendar.include else by_calendar
    by_day = min(
        _ALWAYS if weekdays == ALL_WEEKDAYS else _longest_run(weekdays, 7) * DAY,
        _ALWAYS if modifiers.weeks == ALL_WEEKS else _longest_weeks(modifiers.weeks),
        _ALWAYS if modifiers.months == ALL_MONTHS else _longest_run(modifiers.months >> 1, 12) * _FEBRUARY,
        by_calendar,
    )
    if modifiers.window is None:
        return by_day
    opens, shuts = modifiers.window
    if opens <= shuts:
        return shuts - opens
    return max(DAY - 1 - opens, shuts) if by_day <= DAY else DAY - opens + shuts


def _longest_run(mask: int, count: int) -> int:
    """Return the most consecutive bits of a mask that wraps after `count` bits."""
    runs = f"{mask:0{count}b}" * 2
    return min(max(map(len, runs.split("0"))), count)


def _longest_weeks(mask: int) -> int:
    seven_days = max(map(len, f"{mask & 0b1111:04b}".split("0"))) * _WEEK
    fifth = _FIFTH if mask >> _FIFTH_WEEK & 1 else 0
    last = _WEEK if mask >> _LAST_WEEK & 1 else 0
    return max(seven_days, fifth, last)
