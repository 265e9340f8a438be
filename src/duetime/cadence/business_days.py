"""``business_day(...)``: the n-th and the last business days of the month.

A business day is Monday to Friday, and not excluded by the cadence's calendar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time
from functools import partial
from typing import NamedTuple, Unpack

from duetime._english import counted, ordinal
from duetime.cadence._weekly import check_cycle
from duetime.cadence.cadence import declared
from duetime.cadence.calendars import Calendar
from duetime.cadence.day_fields import DayFields
from duetime.cadence.day_shifts import WORKWEEK
from duetime.cadence.days import Month, Select
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import CadenceOptions, Words, read_modifiers
from duetime.cadence.months import MOST_MONTHS, OfMonths
from duetime.cadence.times import at_times
from duetime.cadence.walk import WallSchedule
from duetime.cadence.wall_schedule import build_wall_schedule
from duetime.cadence.words import WEEKDAYS, bits, listed, seconds_of_day

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
        days = [n for n in range(month.length) if calendar.is_business_day(month.first + n)]
        found = 0
        for index, day in enumerate(days):
            if self.firsts >> index & 1 or self.lasts >> len(days) - 1 - index & 1:
                found |= 1 << day
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BusinessDay(OfMonths):
    """The n-th and the last business days of the month, at a time.

    Attributes:
        on: which ones.
    """

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

    def _spelled(self) -> str:
        lasts = [f"last-{back}" if back else "last" for back in bits(self.on.lasts)]
        return ",".join([*(str(n + 1) for n in bits(self.on.firsts)), *lasts])

    def _head(self) -> str:
        return f"business_day {self._spelled()} {self._spelled_time()}{self._spelled_cycle()}"

    def _label(self) -> str:
        return f"BusinessDay_{self._spelled()}_{self._named_time()}{self._named_cycle()}"

    def _words(self) -> str:
        days = [f"{ordinal(n + 1)} business day" for n in bits(self.on.firsts)]
        for back in bits(self.on.lasts):
            before = f"{counted(back, 'business day')} before the " if back else ""
            days.append(f"{before}last business day")
        shown = [day if day[0].isdigit() and "before" in day else f"the {day}" for day in days]
        return f"{self._month_words()} on {listed(shown)} at {self._time_words()}"


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
    every, anchored_on = check_cycle(every, anchor, "months", MOST_MONTHS)
    return BusinessDay(
        modifiers=modifiers, at=first, later=later, on=_nth_days(on), every=every, anchor=anchored_on
    )


def _nth_days(given: Words | int) -> NthDays:
    if isinstance(given, int):
        items = [str(given)]
    elif isinstance(given, str):
        items = given.split(",")
    else:
        items = [str(item) for item in given] if hasattr(given, "__iter__") else [str(given)]
    firsts = lasts = 0
    for item in items:
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
