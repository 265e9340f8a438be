"""``yearly(...)``: some dates at a time, in every year or every n-th year."""

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
from duetime.cadence.days import Cycle, YearCycle
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import CadenceOptions, Words, read_modifiers
from duetime.cadence.words import listed, months_words, seconds_of_day

_MOST_YEARS = 100
_LEAP_YEAR = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Yearly(AtATime):
    """Some dates at a time, in every year or every n-th year; February 29 in leap years.

    Attributes:
        on: months and days, in order.
        every: 1 for every year.
        anchor: a date in a year of the cycle.
    """

    on: tuple[tuple[int, int], ...]
    every: int = 1
    anchor: date | None = None

    def _days(self) -> DayFields:
        days = months = 0
        for month, day in self.on:
            days |= 1 << day - 1
            months |= 1 << month
        return DayFields(days=days, months=months)

    def _cycle(self) -> Cycle | None:
        fields = self._days()
        if self.anchor is None and fields.days.bit_count() * fields.months.bit_count() == len(self.on):
            return None
        return YearCycle(self.every, self.anchor.year if self.anchor else 0, frozenset(self.on))

    def _spelled(self) -> str:
        return ",".join(f"{month:02}-{day:02}" for month, day in self.on)

    def _head(self) -> str:
        cycle = f" every={self.every} anchor={self.anchor}" if self.anchor else ""
        return f"yearly {self._spelled()} {self._spelled_time()}{cycle}"

    def _label(self) -> str:
        cycle = f"_every{self.every}_{self.anchor}" if self.anchor else ""
        return f"Yearly_{self._spelled()}_{self._named_time()}{cycle}"

    def _words(self) -> str:
        years = f"every {self.every} years, counted from {self.anchor}," if self.anchor else "every year"
        dates = [f"{months_words(1 << month)} {day}" for month, day in self.on]
        return f"{years} on {listed(dates)} at {self._time_words()}"


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
        try:
            day = date(_LEAP_YEAR, int(match[1]), int(match[2])) if match else None
        except ValueError:
            day = None
        if day is None:
            raise InvalidCadence(item, f"yearly: {item[:20]!r} is no date", "write it as in 06-30")
        found.add((day.month, day.day))
    if not found:
        raise InvalidCadence(str(given), "yearly: no date is listed", "write it as in 06-30")
    return tuple(sorted(found))
