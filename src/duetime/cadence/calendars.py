"""Calendars: dates that a cadence excludes, or the only dates that it includes.

A calendar applies after every filter. Occurrences on an excluded date are skipped, or moved to the same time
on a business day: Monday to Friday, unless the weekend is another, and not excluded; or a working day of its
own, as the Saturday that makes up for a bridge day. The moves are the business-day conventions of finance:
following, preceding, and modified following. They move the occurrences of weekends too.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, get_args

from duetime.cadence.days import (
    ALL_MONTHS,
    UNIX_DAY,
    Month,
    Select,
    days_between,
    month_of,
    weekday_of,
)
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.words import DATE_LENGTH, WEEKDAYS, bits

Instead = Literal["skip", "next_business_day", "previous_business_day", "business_day_of_month"]
Weekends = Literal["move", "keep"]

# An occurrence moves less far than this many days; further moves are skipped.
_LONGEST_MOVE = 367
INSTEAD, WEEKENDS = get_args(Instead), get_args(Weekends)
WEEKEND = ("sun", "sat")
UNRESOLVED = "calendar: its holidays are not known here, since no Lambda function reads them"


@dataclass(frozen=True, slots=True, init=False)
class Calendar:
    """Dates to exclude, or the only dates to include. Immutable, comparable, and part of the cadence's text.

    An entry is a ``date``, its text (``"2026-12-25"``), a day of every year (``"12-25"``) or a weekday
    (``"sat"``).

    Args:
        exclude: entries without runs.
        include: if there are any, other days have no runs.
        instead: ``"skip"``, or where to move occurrences of an excluded day, at the same time:
            ``"next_business_day"``, ``"previous_business_day"``, or ``"business_day_of_month"``, which is the
            next one in the same month, else the previous one. Two occurrences at one time become one.
        name: its part of the cadence's name, as in ``"fr-holidays"``.
        through: the last date for which its dates are complete; later ones need a new deploy. It may then
            have no dates.
        weekend: the weekdays without business.
        working: dates that are business days, and not excluded, whatever their weekday, as in a country that
            makes up for a bridge day on a Saturday.
        weekends: with `instead`, ``"move"`` moves the occurrences of weekends too, ``"keep"`` does not.
        unresolved: the holidays that it lacks, as in ``"DE-BE"``, because its library is not used where it
            was made. Such a calendar, and its cadence, answer no question about days.

    Raises:
        InvalidCadence: an entry is no day, a working day is excluded, or the calendar has no entries.
    """

    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    instead: Instead = "skip"
    name: str | None = None
    through: str | None = None
    weekend: tuple[str, ...] = WEEKEND
    working: tuple[str, ...] = ()
    weekends: Weekends = "move"
    unresolved: str | None = None
    _excluded: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    _included: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    dated: range = field(default=range(0), compare=False, repr=False)
    _months: dict[tuple[int, int, int], tuple[int, int]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __init__(
        self,
        exclude: Iterable[date | str] = (),
        include: Iterable[date | str] = (),
        *,
        instead: Instead = "skip",
        name: str | None = None,
        through: date | str | None = None,
        weekend: Iterable[str] = WEEKEND,
        working: Iterable[date | str] = (),
        weekends: Weekends = "move",
        unresolved: str | None = None,
    ) -> None:
        for option, given, allowed in (("instead", instead, INSTEAD), ("weekends", weekends, WEEKENDS)):
            if given not in allowed:
                raise InvalidCadence(
                    str(given), f"calendar: unknown value of {option}", f"use {', '.join(allowed)}"
                )
        name = None if name is None else str(name)
        for option, word in (("name", name), ("unresolved", str(unresolved or "") or None)):
            if word is not None and not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", word, re.ASCII):
                raise InvalidCadence(
                    word, f"calendar: its {option} has invalid characters", "use a-z, 0-9 and -"
                )
        excluded, included = _entries(exclude), _entries(include)
        last = None if through is None else _entry(through)
        if last is not None and len(last) != DATE_LENGTH:
            raise InvalidCadence(str(through), "calendar: through is no date", "write it as in 2028-12-31")
        at_work = _entries(working)
        if wrong := [entry for entry in at_work if len(entry) != DATE_LENGTH or entry in excluded]:
            problem = f"calendar: the working day {wrong[0]} is no date, or is excluded too"
            raise InvalidCadence(wrong[0], problem, "write it as in 2026-02-28, and do not exclude it")
        free = {*_entries(weekend)}
        if not free < {*WEEKDAYS}:
            raise InvalidCadence(
                str(weekend), "calendar: no such weekend", 'name weekdays, as in ["fri", "sat"]'
            )
        years = [int(entry[:4]) for entry in (*excluded, *included, *at_work) if len(entry) == DATE_LENGTH]
        for slot, value in (
            ("exclude", excluded),
            ("include", included),
            ("instead", instead),
            ("name", name),
            ("through", last),
            ("weekend", tuple(day for day in WEEKDAYS if day in free)),
            ("working", at_work),
            ("weekends", weekends),
            ("unresolved", str(unresolved or "") or None),
            ("_excluded", frozenset(excluded)),
            ("_included", frozenset(included)),
            ("dated", range(min(years), max(years) + 1) if years else range(0)),
            ("_months", {}),
        ):
            object.__setattr__(self, slot, value)
        if not excluded and not included and through is None:
            raise InvalidCadence(
                "Calendar()", "calendar: it has no dates", "give exclude=[...] or include=[...]"
            )

    def leaves(self, day: int) -> bool:
        """Return whether the calendar allows runs on a day (days since 1970), before it moves any."""
        return bool(self._admitted(month := month_of(day))[0] >> day - month.first & 1)

    def keeps(self, day: int) -> bool:
        """Return whether occurrences stay on a day, instead of being skipped or moved to a business day."""
        return self.is_business_day(day) if self.moves and self.weekends == "move" else self.leaves(day)

    @property
    def months(self) -> int:
        """The months that may have days which it leaves, January as bit 1."""
        entries = {*self.include, *self.working}
        is_of_dates = self.include and entries.isdisjoint(WEEKDAYS)
        return sum({1 << int(entry[-5:-3]) for entry in entries}) if is_of_dates else ALL_MONTHS

    @property
    def moves(self) -> bool:
        """Whether occurrences of an excluded day move to a business day."""
        return self.instead != "skip"

    def moved_to(self, day: int) -> int | None:
        """Return the business day to which an excluded day's occurrences move; None without one in a year."""
        return self._chosen(day, self.business_day_from(day, -1), self.business_day_from(day, 1))

    def _chosen(self, day: int, preceding: int | None, following: int | None) -> int | None:
        """Return the one of two business days to which an excluded day between them moves."""
        if self.instead == "previous_business_day":
            return preceding
        is_same_month = following is not None and month_of(following).first == month_of(day).first
        return following if is_same_month or self.instead == "next_business_day" else preceding

    def applied(self, month: Month, admitted: int, regular: Select) -> int:
        """Return the days of a month after this calendar, the 1st as bit 0.

        Args:
            month: the month.
            admitted: its days before the calendar.
            regular: returns the days of other months, from which occurrences may move into this one.
        """
        if not self.moves:
            return admitted & self._admitted(month)[0]
        first, last = month.first, month.first + month.length - 1
        business = [first + n for n in bits(self.business_days(month))]
        if not business:
            return admitted & self._admitted(month)[0] if self.weekends == "keep" else 0
        before, after = self.business_day_from(first, -1), self.business_day_from(last, 1)
        begin = first - _LONGEST_MOVE if before is None else before
        end = last + _LONGEST_MOVE if after is None else after
        around, days = [before, *business, after], 0
        for day in days_between(regular, begin, end):
            at = bisect(business, day)
            target = day if self.keeps(day) else self._chosen(day, around[at], around[at + 1])
            if target is not None and first <= target <= last:
                days |= 1 << target - first
        return days

    def days_with(self, count: int) -> int:
        """Return a number of days in a row of which so many, at least, are business days."""
        at_work = len({*WEEKDAYS} - {*self.weekend, *self.exclude})
        days = 7 * -(-(count + len(self.exclude)) // at_work) if at_work else _LONGEST_MOVE
        # In less than a year each date comes once.
        return days if days < _LONGEST_MOVE - 2 and not self.include else _LONGEST_MOVE * count

    def business_day_from(self, day: int, step: int) -> int | None:
        """Return the next business day after a day, or before it with a step of -1; None within a year."""
        if step > 0:
            return next(days_between(self.business_days, day + 1, day + _LONGEST_MOVE - 1), None)
        near, far = day - month_of(day).length, day - _LONGEST_MOVE + 1
        found = (max(days_between(self.business_days, begin, day - 1), default=None) for begin in (near, far))
        return next((at for at in found if at is not None), None)

    def is_business_day(self, day: int) -> bool:
        """Return whether a day is outside the weekend and not excluded, or a working day by its date."""
        return bool(self.business_days(month := month_of(day)) >> day - month.first & 1)

    def business_days(self, month: Month) -> int:
        """Return the business days of a month, the 1st as bit 0."""
        return self._admitted(month)[1]

    def _admitted(self, month: Month) -> tuple[int, int]:
        """Return the days of a month that the calendar leaves, and its business days.

        Months without single dates are computed once for each kind.
        """
        kind = (month.first if month.year in self.dated else month.month, month.weekday, month.length)
        if kind not in self._months:
            names = [_names(month.first + n) for n in range(month.length)]
            left = sum(1 << n for n, day in enumerate(names) if self._leaves(day))
            free = (n for n, day in enumerate(names) if day[2] in self.weekend and day[0] not in self.working)
            self._months[kind] = left, left & ~sum(1 << n for n in free)
        return self._months[kind]

    def _leaves(self, names: tuple[str, str, str]) -> bool:
        if self.unresolved:
            raise InvalidCadence(self.unresolved, UNRESOLVED, "ask the stored job, which has the dates")
        is_included = not self._included or not self._included.isdisjoint(names)
        return names[0] in self.working or (is_included and self._excluded.isdisjoint(names))


def _entries(given: Iterable[date | str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidCadence(str(given), "calendar: its dates come as a list", f"write [{given!r}]")
    return tuple(sorted({_entry(entry) for entry in given}))


def _entry(given: date | str) -> str:
    if isinstance(given, date):
        return given.isoformat()[:DATE_LENGTH]
    text = str(given).strip().lower()
    if text in WEEKDAYS:
        return text
    dated = text if len(text) == DATE_LENGTH else f"2000-{text}"
    try:
        date.fromisoformat(dated)
    except ValueError:
        raise InvalidCadence(str(given), "calendar: no such day", "use 2026-12-25, 12-25 or sat") from None
    return text


def _names(day: int) -> tuple[str, str, str]:
    text = date.fromordinal(day + UNIX_DAY).isoformat()
    return text, text[5:], WEEKDAYS[weekday_of(day)]
