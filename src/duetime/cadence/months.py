"""``monthly(...)`` and ``nth_weekday(...)``: days of the month, by number or by weekday."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time
from typing import Unpack

from duetime.cadence._daily import AtATime
from duetime.cadence._weekly import check_cycle
from duetime.cadence.cadence import declared
from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import MonthCycle
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.fields import FieldError, MonthDays, month_days
from duetime.cadence.modifiers import CadenceOptions, Words, read_modifiers
from duetime.cadence.words import (
    before_last,
    listed,
    seconds_of_day,
    weekdays_mask,
    weekdays_text,
    weekdays_words,
    weeks_mask,
    weeks_text,
)

_LAST = 5
MOST_MONTHS = 1_200
"""Months of a cycle at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfMonths(AtATime):
    """A cadence of days of every month, or of every n-th.

    Attributes:
        every: 1 for every month.
        anchor: a date in a month of the cycle.
    """

    every: int = 1
    anchor: date | None = None

    def _cycle(self) -> MonthCycle | None:
        if self.anchor is None:
            return None
        return MonthCycle(self.every, self.anchor.year * 12 + self.anchor.month - 1)

    def _spelled_cycle(self) -> str:
        return f" every={self.every} anchor={self.anchor}" if self.anchor else ""

    def _named_cycle(self) -> str:
        return f"_every{self.every}_{self.anchor}" if self.anchor else ""

    def _month_words(self) -> str:
        return f"every {self.every} months, counted from {self.anchor}," if self.anchor else "every month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Monthly(OfMonths):
    """Some days of the month at a time; a month without such a day is skipped.

    Attributes:
        on: the days.
    """

    on: MonthDays

    def _days(self) -> DayFields:
        return DayFields(*self.on)

    def _spelled(self) -> str:
        words = [str(n + 1) for n in range(31) if self.on.days >> n & 1]
        words += [f"last-{back}" if back else "last" for back in self.on.lasts]
        words += [f"{day}w" for day in self.on.nearest]
        words += [f"last-{back}w" if back else "lastw" for back in self.on.nearest_lasts]
        words += [f"{day}-or-last" for day in self.on.capped]
        return ",".join(words)

    def _head(self) -> str:
        return f"monthly {self._spelled()} {self._spelled_time()}{self._spelled_cycle()}"

    def _label(self) -> str:
        return f"Monthly_{self._spelled()}_{self._named_time()}{self._named_cycle()}"

    def _words(self) -> str:
        days = [f"day {n + 1}" for n in range(31) if self.on.days >> n & 1]
        days += [f"the {before_last(back)}" for back in self.on.lasts]
        days += [f"the weekday nearest to day {day}" for day in self.on.nearest]
        days += [
            f"the weekday nearest to the {before_last(back)}" if back else "the last weekday"
            for back in self.on.nearest_lasts
        ]
        days += [f"day {day} or the last day" for day in self.on.capped]
        return f"{self._month_words()} on {listed(days)} at {self._time_words()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NthWeekday(AtATime):
    """The first, second … or last such weekdays of the month, at a time.

    Attributes:
        nth: weeks of the month, the first as bit 0 and the last as bit 5.
        on: weekdays, Sunday as bit 0.
    """

    nth: int
    on: int

    def _days(self) -> DayFields:
        weeks = [0 if n == _LAST else n + 1 for n in range(_LAST + 1) if self.nth >> n & 1]
        return DayFields(
            weekdays=0, nth=tuple((day, n) for day in range(7) if self.on >> day & 1 for n in weeks)
        )

    def _head(self) -> str:
        return f"nth_weekday {weeks_text(self.nth)} {weekdays_text(self.on)} {self._spelled_time()}"

    def _label(self) -> str:
        return f"NthWeekday_{weeks_text(self.nth)}_{weekdays_text(self.on)}_{self._named_time()}"

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
    every, anchored_on = check_cycle(every, anchor, "months", MOST_MONTHS)
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
    if isinstance(given, int):
        text = str(given)
    elif isinstance(given, Iterable):
        text = given if isinstance(given, str) else ",".join(str(item) for item in given)
    else:
        raise InvalidCadence(str(given), "monthly: not days of the month", "use 1-31, last, last-2 or 15w")
    spelled = text.upper().replace("LAST", "L").replace(" ", "")
    if not spelled.isascii() or set(spelled) & set("*?/"):
        raise InvalidCadence(text, "monthly: not days of the month", "use 1-31, last, last-2 or 15w")
    items = {item: re.fullmatch(r"(29|30|31)-OR-L", item) for item in spelled.split(",")}
    capped = {int(found[1]) for found in items.values() if found}
    plain = ",".join(item for item, found in items.items() if not found)
    try:
        dates = month_days(plain) if plain or not capped else MonthDays(0)
    except FieldError as error:
        raise InvalidCadence(text, error.problem.replace(error.field, "monthly"), error.remedy) from None
    return MonthDays(dates.days, *(tuple(sorted(set(days))) for days in (*dates[1:-1], capped)))
