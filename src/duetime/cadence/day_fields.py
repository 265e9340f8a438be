"""The days of a month that a cadence's day fields and filters admit, as bit masks.

They depend only on the month's length and its first weekday: 28 kinds of month. So "can this ever fire?" is a
finite question. In any 28 years without a skipped leap year, every month begins with every weekday.
"""

from __future__ import annotations

from typing import NamedTuple

ALL_DAYS = (1 << 31) - 1
ALL_WEEKDAYS = 0b111_1111
ALL_MONTHS = 0b1_1111_1111_1110
ALL_WEEKS = 0b11_1111
LAST_WEEK = 5
LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EVERY_WEEK = int("0000001" * 6, 2)
_SUNDAY, _SATURDAY = 0, 6
_FEBRUARY = 2


class DayFields(NamedTuple):
    """Cron's two day fields and a cadence's day filters.

    Bit n-1 of ``days`` is the n-th of the month; bit n of ``weekdays`` and ``only_weekdays`` is a weekday,
    Sunday 0; bit n of ``months`` is a month; bit n of ``weeks`` is the n-th seven days of the month from 0,
    bit 5 its last seven.

    Attributes:
        lasts: ``n`` for the n-th day before the month's last (``L-n``).
        nearest: ``n`` for the weekday nearest to the n-th (``nW``).
        nearest_lasts: ``n`` for the weekday nearest to the n-th day before the last (``LW``, ``L-nW``).
        capped: ``n`` for the n-th, or the last day of a month that has no n-th.
        nth: (weekday, n) for the n-th such weekday of the month; n of 0 is the last.
        either: whether one of the day fields must match, instead of both.
    """

    days: int = ALL_DAYS
    lasts: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    nearest_lasts: tuple[int, ...] = ()
    capped: tuple[int, ...] = ()
    weekdays: int = ALL_WEEKDAYS
    nth: tuple[tuple[int, int], ...] = ()
    either: bool = False
    months: int = ALL_MONTHS
    only_weekdays: int = ALL_WEEKDAYS
    weeks: int = ALL_WEEKS

    def admitted(self, weekday: int, length: int) -> int:
        """Return the days of a month by its first weekday and length, the 1st as bit 0."""
        all_days = (1 << length) - 1
        by_date = self.days & all_days
        if self.lasts or self.nearest or self.nearest_lasts or self.capped:
            by_date |= self._by_date(weekday, length)
        by_week = _on(self.weekdays, weekday) if self.weekdays != ALL_WEEKDAYS else all_days
        for day, nth in self.nth:
            by_week |= _nth_weekday(weekday, length, day, nth)
        both = by_date | by_week if self.either else by_date & by_week
        if self.only_weekdays != ALL_WEEKDAYS:
            both &= _on(self.only_weekdays, weekday)
        if self.weeks != ALL_WEEKS:
            both &= _in_weeks(self.weeks, length)
        return both & all_days

    def _by_date(self, weekday: int, length: int) -> int:
        found = sum({1 << min(day, length) - 1 for day in self.capped})
        for back in self.lasts:
            if back < length:
                found |= 1 << length - 1 - back
        for day in self.nearest:
            if day <= length:
                found |= 1 << _nearest_workday(weekday, length, day) - 1
        for back in self.nearest_lasts:
            if back < length:
                found |= 1 << _nearest_workday(weekday, length, length - back) - 1
        return found

    def ever(self) -> bool:
        """Return whether any month has such a day."""
        return any(
            self.admitted(weekday, length)
            for month in range(1, 13)
            if self.months >> month & 1
            for length in ((28, 29) if month == _FEBRUARY else (LENGTHS[month],))
            for weekday in range(7)
        )


def _on(weekdays: int, weekday: int) -> int:
    """Return these weekdays in a month that begins with ``weekday``, the 1st as bit 0."""
    return (weekdays >> weekday | weekdays << 7 - weekday & ALL_WEEKDAYS) * _EVERY_WEEK


def _nth_weekday(weekday: int, length: int, day: int, nth: int) -> int:
    first = (day - weekday) % 7
    at = first + 7 * (nth - 1) if nth else first + (length - 1 - first) // 7 * 7
    return 1 << at if at < length else 0


def _in_weeks(weeks: int, length: int) -> int:
    found = 0
    for week in range(LAST_WEEK):
        if weeks >> week & 1:
            found |= 0b111_1111 << 7 * week
    if weeks >> LAST_WEEK & 1:
        found |= 0b111_1111 << length - 7
    return found


def _nearest_workday(weekday: int, length: int, day: int) -> int:
    """Return the Monday-to-Friday day of the same month nearest to ``day`` (Quartz's rule for ``W``)."""
    falls_on = (weekday + day - 1) % 7
    if falls_on == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if falls_on == _SUNDAY:
        return day + 1 if day < length else day - 2
    return day
