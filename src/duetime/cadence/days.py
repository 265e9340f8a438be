"""The days that a cadence's day fields and filters admit, as bit masks, and the search for its next day.

The fields depend only on the month's length and its first weekday: 28 kinds of month. So "can this ever
fire?" is a finite question. In any 28 years without a skipped leap year, every month begins with every
weekday. The search takes a month at a time, and computes each kind of month once. A day is a number: days
since 1970-01-01.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, reduce
from math import gcd
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence.words import WEEKDAYS, bits

if TYPE_CHECKING:
    from duetime.cadence.calendars import Calendar

ALL_DAYS = (1 << 31) - 1
ALL_WEEKDAYS = 0b111_1111
ALL_HOURS, ALL_SIXTY = (1 << 24) - 1, (1 << 60) - 1
ALL_MONTHS = 0b1_1111_1111_1110
ALL_WEEKS = 0b11_1111
LAST_WEEK = 5
LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EVERY_WEEK = int("0000001" * 6, 2)
_SUNDAY, _SATURDAY = 0, 6
_FEBRUARY, _LONGEST_MONTH = 2, 31


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
        ends = [length - back for back in self.nearest_lasts if back < length]
        near = [day for day in (*self.nearest, *ends) if day <= length]
        dates = {min(day, length) for day in self.capped} | {
            _nearest_workday(weekday, length, n) for n in near
        }
        dates |= {length - back for back in self.lasts if back < length}
        return sum(1 << day - 1 for day in dates)

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
    starts = [7 * week if week < LAST_WEEK else length - 7 for week in bits(weeks)]
    return sum({1 << start + n for start in starts for n in range(7)})


def _nearest_workday(weekday: int, length: int, day: int) -> int:
    """Return the Monday-to-Friday day of the same month nearest to ``day`` (Quartz's rule for ``W``)."""
    falls_on = (weekday + day - 1) % 7
    if falls_on == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if falls_on == _SUNDAY:
        return day + 1 if day < length else day - 2
    return day


NEVER = -1 << 40
"""No day at all."""

UNIX_DAY = 719_163
"""The proleptic Gregorian ordinal of 1970-01-01."""
FIRST_DAY = 1 - UNIX_DAY
ALL_YEARS = range(1, 10_000)
LAST_DAY = date.max.toordinal() - UNIX_DAY

# Added to a month's first day, so that the key differs from those of kinds of months.
_OF_MONTHS = 1 << 40


class Month(NamedTuple):
    """A month of a year: the day number of its 1st, its length, and the 1st's weekday with Sunday as 0."""

    year: int
    month: int
    first: int
    length: int
    weekday: int


class DayCycle(NamedTuple):
    """Every ``every``-th period of ``length`` days (7 for weeks), counted from the period of ``anchor``."""

    every: int
    anchor: int
    length: int = 7

    def among(self, month: Month, days: int) -> int:
        """Return the days of a month that are in such a period, the 1st as bit 0."""
        period, mask = self.every * self.length, (1 << self.length) - 1
        starts = range((self.anchor - month.first) % period - period, month.length, period)
        return days & reduce(or_, (mask << n if n >= 0 else mask >> -n for n in starts))


class MonthCycle(NamedTuple):
    """Every ``every``-th month, counted from the month ``anchor``: months since the year 0."""

    every: int
    anchor: int

    def among(self, month: Month, days: int) -> int:
        """Return the days of such a month, and none of another."""
        return days if (month.year * 12 + month.month - 1 - self.anchor) % self.every == 0 else 0


class YearCycle(NamedTuple):
    """Some dates of every ``every``-th year, counted from the year ``anchor``."""

    every: int
    anchor: int
    dates: frozenset[tuple[int, int]]

    def among(self, month: Month, days: int) -> int:
        """Return the days of a month that are such dates in such a year."""
        if (month.year - self.anchor) % self.every:
            return 0
        return sum(1 << n for n in bits(days) if (month.month, n + 1) in self.dates)


Cycle = DayCycle | MonthCycle | YearCycle


def widened(fields: DayFields, cycle: Cycle) -> DayFields:
    """Return day fields with all days of these in a cycle, which may have one weekday or some months."""
    if isinstance(cycle, DayCycle) and cycle.length == 1 and not cycle.every % len(WEEKDAYS):
        return fields._replace(only_weekdays=fields.only_weekdays & (1 << weekday_of(cycle.anchor)))
    if isinstance(cycle, MonthCycle):
        step = gcd(cycle.every, 12)
        return fields._replace(
            months=fields.months & sum(2 << n for n in range(cycle.anchor % step, 12, step))
        )
    return fields


Select = Callable[["Month"], int]
"""Returns some days of a month, the 1st as bit 0."""
Shift = Callable[["Month", Select], int]
"""Returns the days of a month to which those of the months around it are shifted."""


class Days:
    """The days of a cadence. Caches the last month; safe to share between threads."""

    __slots__ = (
        "_calendar",
        "_current",
        "_dated",
        "_kinds",
        "_months",
        "_numbers",
        "_reach",
        "_select",
        "_shift",
        "cycle",
        "fields",
        "years",
    )

    def __init__(
        self,
        fields: DayFields,
        cycle: Cycle | None = None,
        calendar: Calendar | None = None,
        years: Sequence[int] = ALL_YEARS,
        *,
        select: Select | None = None,
        shift: Shift | None = None,
        reach: int = 0,
    ) -> None:
        """Store the parts; `reach` is the number of months over which days are shifted or moved at most."""
        self.fields = fields
        self.cycle = cycle
        self._calendar = calendar
        self._dated = calendar.dated if calendar else range(0)
        self.years = years
        self._select = select
        self._shift = shift
        self._reach = reach
        self._kinds: dict[int, int] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._months: tuple[int, ...] = ()
        self._current = (0, 0, 0)

    @property
    def recurs_alike(self) -> bool:
        """Whether only the day fields apply: nothing else removes or moves days."""
        return (self.cycle, self._calendar, self._select, self._shift) == (None,) * 4

    def first_from(self, day: int, until: int = LAST_DAY) -> int:
        """Return the first day at or after ``day``, or ``NEVER`` if the months up to ``until`` have none."""
        first, after, admitted = self._current
        if not first <= day < after:
            if day > LAST_DAY:
                return NEVER
            first, after, admitted = self._load(month_of(day))
        left = admitted >> day - first
        if left:
            return day + (left & -left).bit_length() - 1
        return self._in_later_month(after, until)

    def _in_later_month(self, day: int, until: int) -> int:
        margin = _LONGEST_MONTH * self._reach
        for source in self._months_from(max(day - margin, FIRST_DAY)):
            if source.first - margin > until:
                break
            if margin and not self._named(source):
                continue
            day = max(day, source.first - margin)
            while day < min(source.first + source.length + margin, LAST_DAY + 1):
                first, day, admitted = self._load(month_of(day))
                if admitted:
                    return NEVER if first > until else first + (admitted & -admitted).bit_length() - 1
        return NEVER

    def _months_from(self, day: int) -> Iterator[Month]:
        """Yield the months that may have days before shifts and moves, in order."""
        years, cycle = self.years, self.cycle
        if day > LAST_DAY:
            return
        if isinstance(cycle, DayCycle) and (period := cycle.every * cycle.length) > 2 * _LONGEST_MONTH:
            day = max(day, month_in(years[0], 1).first)
            while (end := day + (cycle.anchor + cycle.length - 1 - day) % period) <= LAST_DAY:
                month = month_of(max(day, end - cycle.length + 1))
                if month.year > years[-1]:
                    return
                yield month
                day = month.first + month.length if end >= month.first + month.length else end + 1
            return
        for at in range(bisect_left(years, month_of(day).year), len(years)):
            for month in self._months_in(years[at], 0):
                if month.first + month.length > day:
                    yield month

    def _months_in(self, year: int, reach: int) -> Iterator[Month]:
        """Yield the months of a year that may have days, with those around them up to a number of months."""
        cycle = self.cycle
        if not self._months:
            around = range(-self._reach, self._reach + 1)
            months = self.fields.months
            if self._calendar is not None and not self._reach:
                months &= self._calendar.months
            self._months = tuple(
                n for n in range(12) if any(months >> (n + step) % 12 & 2 for step in around)
            )
        period, anchor, length = 1, 0, 1
        if isinstance(cycle, MonthCycle):
            period, anchor = cycle.every, cycle.anchor
        elif isinstance(cycle, YearCycle):
            period, anchor, length = 12 * cycle.every, 12 * cycle.anchor, 12
        since = 12 * year - anchor + reach
        for n in self._months:
            if (since + n) % period < length + 2 * reach:
                yield month_in(year, n + 1)

    def number_in(self, year: int) -> int:
        """Return how many days it has in a year, computed once for each kind of year."""
        kind: tuple[int, ...]
        kind, reach = (year,), self._reach // 12 + 1
        is_alone = not self._dated.start - reach <= year < self._dated.stop + reach
        if self.cycle is None and is_alone:
            kind = (month_in(year, 1).weekday, *map(_is_leap, range(year - reach, year + reach + 1)))
        if kind not in self._numbers:
            months = self._months_in(year, self._reach)
            self._numbers[kind] = sum(self.admitted(month).bit_count() for month in months)
        return self._numbers[kind]

    def _load(self, month: Month) -> tuple[int, int, int]:
        """Return a month's first day, the day after it, and its admitted days, the 1st as bit 0."""
        self._current = found = (month.first, month.first + month.length, self.admitted(month))
        return found

    def admitted(self, month: Month) -> int:
        """Return the days of a month after all filters, the 1st as bit 0."""
        admitted = self.regular(month)
        if self._calendar is not None and month.year in self.years:
            admitted = self._calendar.applied(month, admitted, self.regular)
        return admitted

    def regular(self, month: Month) -> int:
        """Return the days of a month before the calendar."""
        if self._shift is None:
            return self._named(month)
        key = month.first + _OF_MONTHS
        if key not in self._kinds:
            self._kinds[key] = self._shift(month, self._named)
        return self._kinds[key]

    def _named(self, month: Month) -> int:
        """Return the days of a month before their shift."""
        if not self.fields.months >> month.month & 1 or month.year not in self.years:
            return 0
        kind = month.weekday << 5 | month.length
        if self._select is not None and self._calendar is not None:  # then it depends on the dates too
            kind += (month.year * (month.year in self._dated) * 12 + month.month) << 9
        admitted = self._kinds.get(kind)
        if admitted is None:
            admitted = self.fields.admitted(month.weekday, month.length)
            if self._select is not None and admitted:
                admitted &= self._select(month)
            self._kinds[kind] = admitted
        return self.cycle.among(month, admitted) if self.cycle and admitted else admitted


def days_between(select: Select, first: int, last: int) -> Iterator[int]:
    """Yield the days that a function selects from the first to the last, both included."""
    day, last = max(first, FIRST_DAY), min(last, LAST_DAY)
    while day <= last:
        month = month_of(day)
        selected = select(month) >> day - month.first << day - month.first
        yield from (month.first + n for n in bits(selected) if month.first + n <= last)
        day = month.first + month.length


class EveryDay(Days):
    """All days, as most cadences have."""

    def first_from(self, day: int, until: int = LAST_DAY) -> int:
        """See :meth:`Days.first_from`."""
        return day if day <= min(until, LAST_DAY) else NEVER


EVERY_DAY = EveryDay(DayFields())


@dataclass(slots=True)
class OneDay:
    """A single day."""

    day: int

    def first_from(self, day: int, until: int = LAST_DAY) -> int:
        """See :meth:`Days.first_from`."""
        return self.day if day <= self.day <= until else NEVER


def month_of(day: int) -> Month:
    """Return the month of a day."""
    when = date.fromordinal(day + UNIX_DAY)
    return month_in(when.year, when.month)


@lru_cache(maxsize=1_200)
def month_in(year: int, month: int) -> Month:
    """Return a month of a year, cached, since all cadences of a process need the same few."""
    first = date(year, month, 1).toordinal()
    length = LENGTHS[month] + (month == _FEBRUARY and _is_leap(year))
    return Month(year, month, first - UNIX_DAY, length, first % 7)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def weekday_of(day: int) -> int:
    """Return the weekday of a day, Sunday as 0."""
    return (day + 4) % 7
