"""The longest time that a cadence's filters admit at a stretch.

An interval whose step is longer may never run, depending on the second of its start.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    if not modifiers.windows:
        return by_day
    return _longest_window(modifiers.windows, crosses_midnight=by_day > DAY)


def _longest_window(windows: Sequence[tuple[int, int]], *, crosses_midnight: bool) -> int:
    """Return the longest stretch of windows, those that meet joined."""
    parts = [(opens, shuts) for opens, shuts in windows if opens <= shuts]
    for opens, shuts in windows:
        parts += [(opens, DAY - 1), (0, shuts)] if opens > shuts else []
    joined: list[tuple[int, int]] = []
    for opens, shuts in sorted(parts):
        if joined and opens <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], shuts)
        else:
            joined.append((opens, shuts))
    longest = max(shuts - opens for opens, shuts in joined)
    if crosses_midnight and len(joined) > 1 and joined[0][0] == 0 and joined[-1][1] == DAY - 1:
        return max(longest, DAY - joined[-1][0] + joined[0][1])
    return longest


def _longest_run(mask: int, count: int) -> int:
    """Return the most consecutive bits of a mask that wraps after `count` bits."""
    runs = f"{mask:0{count}b}" * 2
    return min(max(map(len, runs.split("0"))), count)


def _longest_weeks(mask: int) -> int:
    seven_days = max(map(len, f"{mask & 0b1111:04b}".split("0"))) * _WEEK
    fifth = _FIFTH if mask >> _FIFTH_WEEK & 1 else 0
    last = _WEEK if mask >> _LAST_WEEK & 1 else 0
    return max(seven_days, fifth, last)
