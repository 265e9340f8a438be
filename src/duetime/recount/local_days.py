"""The local dates on which a cadence runs, each found by looking at it alone. Pure.

The order of the rules is that of the cadences' documentation: the days of the kind, the filters, the cycle,
the offset, the calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from duetime.cadence._daily import Daily, Once
from duetime.cadence._spaced import Every, Interval
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.crontab import Cron
from duetime.cadence.weeks_and_months import BusinessDay, Monthly, NthWeekday, OfMonths, Weekly, Yearly
from duetime.recount.cron_text import CronText, last_of, nearest_workday

DAY = 86_400
_EPOCH, _ONE = date(1970, 1, 1), timedelta(days=1)
_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LAST_WEEK = 5
_YEAR = 366
"""The longest move, and the longest break between two business days, in days."""


class LocalDays:
    """The local dates of one cadence."""

    def __init__(self, cadence: Cadence) -> None:
        self._cadence, self._modifiers = cadence, cadence.modifiers
        self._rule = _RULES.get(type(cadence))
        self._known = dict[date, bool]()

    def has(self, day: date) -> bool:
        """Return whether the cadence runs on a date."""
        if (known := self._known.get(day)) is None:
            known = self._known[day] = self._after_calendar(day)
        return known

    def _after_calendar(self, day: date) -> bool:
        calendar = self._modifiers.calendar
        if calendar is None:
            return self._shifted(day)
        if self._shifted(day) and _keeps(calendar, day):
            return True
        return calendar.instead != "skip" and any(
            self._shifted(other) and not _keeps(calendar, other) and _moved(calendar, other) == day
            for other in _around(calendar, day)
        )

    def _shifted(self, day: date) -> bool:
        offset = self._modifiers.offset
        if offset is None:
            return self._named(day)
        if not offset.is_business:
            return self._named(day - offset.days * _ONE)
        calendar = self._modifiers.calendar
        if not is_business_day(calendar, day):
            return False
        step, count, source = -1 if offset.days > 0 else 1, 0, day
        for _ in range(_YEAR + 40):
            count += is_business_day(calendar, source)
            if count > abs(offset.days):
                return False
            source += step * _ONE
            if count == abs(offset.days) and self._named(source):
                return True
        return False

    def _named(self, day: date) -> bool:
        filters = self._modifiers
        weeks = 1 << (day.day - 1) // 7 | (1 << _LAST_WEEK if day.day + 7 > last_of(day) else 0)
        return bool(
            filters.months >> day.month & 1
            and filters.days >> day.isoweekday() % 7 & 1
            and filters.weeks & weeks
            and self._rule is not None
            and self._rule(self._cadence, day)
        )


def is_admitted(calendar: Calendar, day: date) -> bool:
    """Return whether a calendar admits a date."""
    if day.isoformat() in calendar.working:
        return True
    names = {day.isoformat(), day.isoformat()[5:], _NAMES[day.isoweekday() % 7]}
    return not names & {*calendar.exclude} and (not calendar.include or bool(names & {*calendar.include}))


def is_business_day(calendar: Calendar | None, day: date) -> bool:
    """Return whether a date is outside the weekend, or a working day, and the calendar admits it."""
    name = _NAMES[day.isoweekday() % 7]
    if calendar is None:
        return name not in {"sat", "sun"}
    is_weekend = name in calendar.weekend and day.isoformat() not in calendar.working
    return not is_weekend and is_admitted(calendar, day)


def _keeps(calendar: Calendar, day: date) -> bool:
    """Return whether a run stays on a date."""
    moves_weekends = calendar.instead != "skip" and calendar.weekends == "move"
    return is_admitted(calendar, day) and (not moves_weekends or is_business_day(calendar, day))


def _around(calendar: Calendar, day: date) -> Iterator[date]:
    """Yield the dates next to a business day up to the next ones: runs may move from these to it."""
    if not is_business_day(calendar, day):
        return
    for step in (-_ONE, _ONE):
        other = day + step
        while abs((other - day).days) <= _YEAR and not is_business_day(calendar, other):
            yield other
            other += step


def _moved(calendar: Calendar, day: date) -> date | None:
    if calendar.instead == "previous_business_day":
        return _next_business_day(calendar, day, -_ONE)
    following = _next_business_day(calendar, day, _ONE)
    if calendar.instead == "next_business_day":
        return following
    if following is not None and (following.year, following.month) == (day.year, day.month):
        return following
    return _next_business_day(calendar, day, -_ONE)


def _next_business_day(calendar: Calendar, day: date, step: timedelta) -> date | None:
    days = (day + n * step for n in range(1, _YEAR + 1))
    return next((other for other in days if is_business_day(calendar, other)), None)


def _is_week(cadence: Weekly, day: date) -> bool:
    if not cadence.on >> day.isoweekday() % 7 & 1:
        return False
    if cadence.anchor is None:
        return True
    monday, first = (at - at.weekday() * _ONE for at in (day, cadence.anchor))
    return (monday - first).days // 7 % cadence.every == 0


def _is_month(cadence: OfMonths, day: date) -> bool:
    anchor = cadence.anchor or day
    return ((day.year - anchor.year) * 12 + day.month - anchor.month) % cadence.every == 0


def _is_day_of_month(cadence: Monthly, day: date) -> bool:
    on, last = cadence.on, last_of(day)
    if not _is_month(cadence, day):
        return False
    nearest = [*on.nearest, *(last - back for back in on.nearest_lasts)]
    return (
        bool(on.days >> day.day - 1 & 1)
        or last - day.day in on.lasts
        or day.day in {min(n, last) for n in on.capped}
        or any(1 <= n <= last and nearest_workday(day, n) == day.day for n in nearest)
    )


def _is_date_of_year(cadence: Yearly, day: date) -> bool:
    is_year = cadence.anchor is None or (day.year - cadence.anchor.year) % cadence.every == 0
    return is_year and (day.month, day.day) in cadence.on


def _is_in_cycle(cadence: Every, day: date) -> bool:
    return cadence.anchor is None or (day - cadence.anchor).days % (cadence.step // DAY) == 0


def _is_nth(cadence: NthWeekday, day: date) -> bool:
    is_nth = cadence.nth >> (day.day - 1) // 7 & 1
    is_last = cadence.nth >> _LAST_WEEK & 1 and day.day + 7 > last_of(day)
    return bool(cadence.on >> day.isoweekday() % 7 & 1 and (is_nth or is_last))


def _is_nth_business_day(cadence: BusinessDay, day: date) -> bool:
    calendar = cadence.modifiers.calendar
    month = (day.replace(day=n) for n in range(1, last_of(day) + 1))
    days = [other for other in month if is_business_day(calendar, other)]
    if day not in days or not _is_month(cadence, day):
        return False
    index = days.index(day)
    return bool(cadence.on.firsts >> index & 1 or cadence.on.lasts >> len(days) - 1 - index & 1)


_RULES: Mapping[type[Cadence], Callable[[Any, date], bool]] = {
    Cron: lambda cadence, day: CronText.parse(cadence.expression, cadence.day_rule).has(day),
    Weekly: _is_week,
    Monthly: _is_day_of_month,
    NthWeekday: _is_nth,
    Yearly: _is_date_of_year,
    BusinessDay: _is_nth_business_day,
    Every: _is_in_cycle,
    Once: lambda cadence, day: (day - _EPOCH).days == cadence.local // DAY,
    Daily: lambda _cadence, _day: True,
    Interval: lambda _cadence, _day: True,
}
"""The days of each kind, before its filters; a trigger has none."""
