"""Cadences of days of the week, the month and the year: ``weekly(...)`` to ``yearly(...)``.

A business day is Monday to Friday, and not excluded by the cadence's calendar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time
from functools import partial
from typing import NamedTuple, Unpack

from duetime._english import counted, ordinal
from duetime.cadence._daily import AtATime
from duetime.cadence.cadence import declared
from duetime.cadence.calendars import Calendar
from duetime.cadence.days import (
    LAST_WEEK,
    UNIX_DAY,
    Cycle,
    DayCycle,
    DayFields,
    Month,
    MonthCycle,
    Select,
    YearCycle,
    month_in,
    weekday_of,
)
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.expression import FieldError, MonthDays, month_days
from duetime.cadence.modifiers import CadenceOptions, Words, check_cycle, read_modifiers
from duetime.cadence.walk import WallSchedule, at_times
from duetime.cadence.wall_cadence import WORKWEEK, build_wall_schedule
from duetime.cadence.words import (
    WEEKDAYS,
    before_last,
    bits,
    listed,
    months_words,
    seconds_of_day,
    weekdays_mask,
    weekdays_text,
    weekdays_words,
    weeks_mask,
    weeks_text,
)

# The most of each in a cycle.
_MOST_WEEKS, _MOST_MONTHS, _MOST_YEARS = 520, 1_200, 100
_LEAP_YEAR = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class InCycle(AtATime):
    """A cadence of some days of every week, month or year, or of every n-th.

    Attributes:
        every: 1 for every one.
        anchor: a date in a week, which begins on Monday, in a month or in a year of the cycle.
    """

    every: int = 1
    anchor: date | None = None

    def _cycle_text(self) -> str:
        return f"every={self.every} anchor={self.anchor}" if self.anchor else ""

    def _cycle_words(self, unit: str) -> str:
        return f"every {self.every} {unit}s, counted from {self.anchor}," if self.anchor else f"every {unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekly(InCycle):
    """Some weekdays at a time, in every week or every n-th week.

    Attributes:
        on: weekdays, Sunday as bit 0.
    """

    kind = "weekly"

    on: int

    def _days(self) -> DayFields:
        return DayFields(weekdays=self.on)

    def _cycle(self) -> DayCycle | None:
        if self.anchor is None:
            return None
        day = self.anchor.toordinal() - UNIX_DAY
        return DayCycle(self.every, day - (weekday_of(day) - 1) % 7)

    def _on(self) -> str:
        return weekdays_text(self.on)

    def _words(self) -> str:
        return f"{self._cycle_words('week')} on {weekdays_words(self.on)} at {self._time_words()}"


@declared
def weekly(
    on: Words,
    at: str | time,
    *,
    every: int = 1,
    anchor: date | str | None = None,
    **options: Unpack[CadenceOptions],
) -> Weekly:
    """Return a cadence of weekdays at a local time.

    Example: ``weekly("mon,fri", "06:00", every=2, anchor=date(2026, 1, 5))``.

    Args:
        on: weekdays.
        at: the time of day, or several, as in ``"09:00,17:00"``.
        every: 2 for every other week.
        anchor: a date in a week of the cycle, required with ``every``, so that the deploy does not change the
            cycle. Weeks begin on Monday.
        **options: zone, clock rule and filters, as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: a day, the time or an option is invalid, the anchor is missing, or the options leave
            no occurrence.
    """
    modifiers = read_modifiers(**options)
    every, anchored_on = check_cycle(every, anchor, "weeks", _MOST_WEEKS)
    first, later = seconds_of_day(at)
    return Weekly(
        modifiers=modifiers,
        at=first,
        later=later,
        on=weekdays_mask(on, "weekly"),
        every=every,
        anchor=anchored_on,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfMonths(InCycle):
    """A cadence of days of every month, or of every n-th."""

    def _cycle(self) -> MonthCycle | None:
        if self.anchor is None:
            return None
        return MonthCycle(self.every, self.anchor.year * 12 + self.anchor.month - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monthly(OfMonths):
    """Some days of the month at a time; a month without such a day is skipped.

    Attributes:
        on: the days.
    """

    kind = "monthly"

    on: MonthDays

    def _days(self) -> DayFields:
        return DayFields(*self.on)

    def _on(self) -> str:
        words = [str(n + 1) for n in range(31) if self.on.days >> n & 1]
        words += [f"last-{back}" if back else "last" for back in self.on.lasts]
        words += [f"{day}w" for day in self.on.nearest]
        words += [f"last-{back}w" if back else "lastw" for back in self.on.nearest_lasts]
        words += [f"{day}-or-last" for day in self.on.capped]
        return ",".join(words)

    def _words(self) -> str:
        days = [f"day {n + 1}" for n in range(31) if self.on.days >> n & 1]
        days += [f"the {before_last(back)}" for back in self.on.lasts]
        days += [f"the weekday nearest to day {day}" for day in self.on.nearest]
        days += [
            f"the weekday nearest to the {before_last(back)}" if back else "the last weekday"
            for back in self.on.nearest_lasts
        ]
        days += [f"day {day} or the last day" for day in self.on.capped]
        return f"{self._cycle_words('month')} on {listed(days)} at {self._time_words()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NthWeekday(AtATime):
    """The first, second … or last such weekdays of the month, at a time.

    Attributes:
        nth: weeks of the month, the first as bit 0 and the last as bit 5.
        on: weekdays, Sunday as bit 0.
    """

    kind = "nth_weekday"

    nth: int
    on: int

    def _days(self) -> DayFields:
        weeks = [0 if n == LAST_WEEK else n + 1 for n in bits(self.nth)]
        return DayFields(
            weekdays=0, nth=tuple((day, n) for day in range(7) if self.on >> day & 1 for n in weeks)
        )

    def _on(self) -> str:
        return f"{weeks_text(self.nth)} {weekdays_text(self.on)}"

    def _words(self) -> str:
        which = listed(weeks_text(self.nth).split(","))
        return f"every month on the {which} {weekdays_words(self.on)} at {self._time_words()}"


@declared
def monthly(
    on: Words | int,
    at: str | time,
    *,
    every: int = 1,
    anchor: date | str | None = None,
    **options: Unpack[CadenceOptions],
) -> Monthly:
    """Return a cadence of some days of the month at a local time, as in ``monthly("1,last", "00:30")``.

    Days are 1 to 31, ``last`` and ``last-2``. A ``w`` after them means the nearest weekday (``15w``,
    ``lastw``). A month without such a day is skipped; ``30-or-last`` is the 30th, or the last day of a month
    without one.

    Args:
        on: the days.
        at: the time of day, or several, as in ``"09:00,17:00"``.
        every: 2 for every other month, 12 for every year, at most 1,200.
        anchor: a date in a month of the cycle, required with ``every``.
        **options: zone, clock rule and filters, as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: a day, the time or an option is invalid, the anchor is missing, or the options leave
            no occurrence.
    """
    modifiers = read_modifiers(**options)
    every, anchored_on = check_cycle(every, anchor, "months", _MOST_MONTHS)
    first, later = seconds_of_day(at)
    return Monthly(
        modifiers=modifiers, at=first, later=later, on=_month_days(on), every=every, anchor=anchored_on
    )


@declared
def nth_weekday(
    nth: Words | int,
    on: Words,
    at: str | time,
    **options: Unpack[CadenceOptions],
) -> NthWeekday:
    """Return a cadence of nth weekdays of a month at a time, as in ``nth_weekday("first", "mon", "06:00")``.

    ``nth`` is first to fifth, 1 to 5, or last; a month without a fifth is skipped.

    Raises:
        InvalidCadence: a word, the time or an option is invalid, or the options leave no occurrence.
    """
    modifiers = read_modifiers(**options)
    which = weeks_mask([nth] if isinstance(nth, int) else nth, "nth_weekday")
    first, later = seconds_of_day(at)
    return NthWeekday(modifiers=modifiers, at=first, later=later, nth=which, on=weekdays_mask(on, "weekday"))


def _month_days(given: Words | int) -> MonthDays:
    items = given if isinstance(given, Iterable) else [given]
    text = items if isinstance(items, str) else ",".join(map(str, items))
    spelled = text.upper().replace("LAST", "L").replace(" ", "")
    is_listed = isinstance(given, Iterable | int)
    if not is_listed or not spelled.isascii() or set(spelled) & set("*?/"):
        raise InvalidCadence(text, "monthly: not days of the month", "use 1-31, last, last-2 or 15w")
    ends = {item: re.fullmatch(r"(29|30|31)-OR-L", item) for item in spelled.split(",")}
    capped = {int(found[1]) for found in ends.values() if found}
    plain = ",".join(item for item, found in ends.items() if not found)
    try:
        dates = month_days(plain) if plain or not capped else MonthDays(0)
    except FieldError as error:
        raise InvalidCadence(text, error.problem.replace(error.field, "monthly"), error.remedy) from None
    return MonthDays(dates.days, *(tuple(sorted(set(days))) for days in (*dates[1:-1], capped)))


MOST = 23
"""Business days of a month at most."""
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"}
_ITEM = re.compile(r"(?P<first>\d{1,2})|last(?:-(?P<back>\d{1,2}))?", re.ASCII)


class NthDays(NamedTuple):
    """Which business days of a month.

    Attributes:
        firsts: bit n-1 for the n-th.
        lasts: bit n for the n-th before the last.
    """

    firsts: int
    lasts: int

    def of(self, calendar: Calendar) -> Select:
        """Return a function of these days of a month, the 1st as bit 0."""
        return partial(self._selected, calendar)

    def _selected(self, calendar: Calendar, month: Month) -> int:
        days = [*bits(calendar.business_days(month))]
        return sum(
            1 << day
            for index, day in enumerate(days)
            if self.firsts >> index & 1 or self.lasts >> len(days) - 1 - index & 1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessDay(OfMonths):
    """The n-th and the last business days of the month, at a time.

    Attributes:
        on: which ones.
    """

    kind = "business_day"

    on: NthDays

    def _built(self) -> WallSchedule:
        calendar = self.modifiers.calendar or WORKWEEK
        free = () if calendar.working else calendar.weekend
        weekdays = DayFields(weekdays=sum(1 << n for n, day in enumerate(WEEKDAYS) if day not in free))
        return build_wall_schedule(
            self._head(),
            weekdays,
            at_times(self.times_of_day),
            self.modifiers,
            self._cycle(),
            select=self.on.of(calendar),
        )

    @property
    def counts_business_days(self) -> bool:
        """See :attr:`Cadence.counts_business_days`."""
        return True

    def _on(self) -> str:
        lasts = [f"last-{back}" if back else "last" for back in bits(self.on.lasts)]
        return ",".join([*(str(n + 1) for n in bits(self.on.firsts)), *lasts])

    def _words(self) -> str:
        days = [f"{ordinal(n + 1)} business day" for n in bits(self.on.firsts)]
        days += [
            (f"{counted(back, 'business day')} before the " if back else "") + "last business day"
            for back in bits(self.on.lasts)
        ]
        shown = [day if day[0].isdigit() and "before" in day else f"the {day}" for day in days]
        return f"{self._cycle_words('month')} on {listed(shown)} at {self._time_words()}"


@declared
def business_day(
    on: Words | int,
    at: str | time,
    *,
    every: int = 1,
    anchor: date | str | None = None,
    **options: Unpack[CadenceOptions],
) -> BusinessDay:
    """Return a cadence of business days of the month, as in ``business_day("3,last", "09:00")``.

    A business day is Monday to Friday, and not excluded by ``calendar``. ``last-2`` is two business days
    before the last one. A month without such a day is skipped.

    Args:
        on: 1 to 23, ``last`` and ``last-2``.
        at: the time of day, or several, as in ``"09:00,17:00"``.
        every: 2 for every other month, at most 1,200.
        anchor: a date in a month of the cycle, required with ``every``.
        **options: zone, clock rule and filters, as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: a day, the time or an option is invalid, the anchor is missing, or the options leave
            no occurrence.
    """
    modifiers = read_modifiers(**options)
    first, later = seconds_of_day(at)
    every, anchored_on = check_cycle(every, anchor, "months", _MOST_MONTHS)
    return BusinessDay(
        modifiers=modifiers, at=first, later=later, on=_nth_days(on), every=every, anchor=anchored_on
    )


def _nth_days(given: Words | int) -> NthDays:
    items = given if isinstance(given, Iterable) else [given]
    firsts = lasts = 0
    for item in given.split(",") if isinstance(given, str) else map(str, items):
        text = item.strip().lower()
        found = _ITEM.fullmatch(_ORDINALS.get(text, text))
        number = int(found["first"] or 1) if found else 0
        back = int(found["back"] or 0) if found else 0
        if not found or not 1 <= number <= MOST or back >= MOST:
            raise InvalidCadence(
                item, f"business_day: {item[:20]!r} is no business day", f"use 1-{MOST}, last or last-2"
            )
        if found["first"]:
            firsts |= 1 << number - 1
        else:
            lasts |= 1 << back
    if not firsts | lasts:
        raise InvalidCadence(str(given), "business_day: nothing is listed", f"use 1-{MOST}, last or last-2")
    return NthDays(firsts, lasts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Yearly(InCycle):
    """Some dates at a time, in every year or every n-th year; February 29 in leap years.

    Attributes:
        on: months and days, in order.
    """

    kind = "yearly"

    on: tuple[tuple[int, int], ...]

    def _days(self) -> DayFields:
        days, months = {1 << day - 1 for _, day in self.on}, {1 << month for month, _ in self.on}
        return DayFields(days=sum(days), months=sum(months))

    def _cycle(self) -> Cycle | None:
        fields = self._days()
        if self.anchor is None and fields.days.bit_count() * fields.months.bit_count() == len(self.on):
            return None
        return YearCycle(self.every, self.anchor.year if self.anchor else 0, frozenset(self.on))

    def _on(self) -> str:
        return ",".join(f"{month:02}-{day:02}" for month, day in self.on)

    def _words(self) -> str:
        dates = [f"{months_words(1 << month)} {day}" for month, day in self.on]
        return f"{self._cycle_words('year')} on {listed(dates)} at {self._time_words()}"


@declared
def yearly(
    on: Words,
    at: str | time,
    *,
    every: int = 1,
    anchor: date | str | None = None,
    **options: Unpack[CadenceOptions],
) -> Yearly:
    """Return a cadence of dates at a local time, as in ``yearly("01-01,06-30", "09:00")``.

    Args:
        on: months and days.
        at: the time of day, or several, as in ``"09:00,17:00"``.
        every: 2 for every other year, at most 100.
        anchor: a date in a year of the cycle, required with ``every``.
        **options: zone, clock rule and filters, as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: a date, the time or an option is invalid, the anchor is missing, or the options leave
            no occurrence.
    """
    modifiers = read_modifiers(**options)
    every, anchored_on = check_cycle(every, anchor, "years", _MOST_YEARS)
    first, later = seconds_of_day(at)
    return Yearly(modifiers=modifiers, at=first, later=later, on=_dates(on), every=every, anchor=anchored_on)


def _dates(given: Words) -> tuple[tuple[int, int], ...]:
    items = given.split(",") if isinstance(given, str) else given
    if not isinstance(items, Iterable):
        raise InvalidCadence(str(given), "yearly: not a list of dates", "write them as in 01-01,06-30")
    found = set[tuple[int, int]]()
    for item in map(str, items):
        match = re.fullmatch(r"(\d\d)-(\d\d)", item.strip(), re.ASCII)
        month, day = map(int, match.groups()) if match else (0, 0)
        if month not in range(1, 13) or day not in range(1, month_in(_LEAP_YEAR, month).length + 1):
            raise InvalidCadence(item, f"yearly: {item[:20]!r} is no date", "write it as in 06-30")
        found.add((month, day))
    if not found:
        raise InvalidCadence(str(given), "yearly: no date is listed", "write it as in 06-30")
    return tuple(sorted(found))
