"""Calendars: dates that a cadence excludes, or the only dates that it includes.

A calendar applies after every filter. Occurrences on an excluded date are skipped, or moved to the same time
on the next business day: Monday to Friday, and not excluded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from duetime.cadence.days import FIRST_DAY, UNIX_DAY, Month, month_of, weekday_of
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.words import WEEKDAYS

Instead = Literal["skip", "next_business_day"]

# Days that an occurrence moves at most; further moves are skipped.
_LONGEST_MOVE = 366
INSTEAD = ("skip", "next_business_day")
_SUNDAY, _SATURDAY = 0, 6
_DATE_LENGTH = 10


@dataclass(frozen=True, slots=True, init=False)
class Calendar:
    """Dates to exclude, or the only dates to include. Immutable, comparable, and part of the cadence's text.

    An entry is a ``date``, its text (``"2026-12-25"``), a day of every year (``"12-25"``) or a weekday
    (``"sat"``).

    Args:
        exclude: entries without runs.
        include: if there are any, other days have no runs.
        instead: ``"skip"``, or ``"next_business_day"`` to move occurrences of an excluded day to the next
            business day, at the same time. Two occurrences at one time become one.
        name: its part of the cadence's name, as in ``"fr-holidays"``.

    Raises:
        InvalidCadence: an entry is no day, or the calendar has no entries.
    """

    exclude: tuple[str, ...]
    include: tuple[str, ...]
    instead: Instead
    name: str | None
    _excluded: frozenset[str] = field(compare=False, repr=False)
    _included: frozenset[str] = field(compare=False, repr=False)

    def __init__(
        self,
        exclude: Iterable[date | str] = (),
        include: Iterable[date | str] = (),
        *,
        instead: Instead = "skip",
        name: str | None = None,
    ) -> None:
        if instead not in INSTEAD:
            raise InvalidCadence(
                str(instead), "calendar: unknown value of instead", f"use {' or '.join(INSTEAD)}"
            )
        if name is not None and not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", name, re.ASCII):
            raise InvalidCadence(name, "calendar: its name has invalid characters", "use a-z, 0-9 and -")
        excluded, included = _entries(exclude), _entries(include)
        for slot, value in (
            ("exclude", excluded),
            ("include", included),
            ("instead", instead),
            ("name", name),
            ("_excluded", frozenset(excluded)),
            ("_included", frozenset(included)),
        ):
            object.__setattr__(self, slot, value)
        if not excluded and not included:
            raise InvalidCadence(
                "Calendar()", "calendar: it has no dates", "give exclude=[...] or include=[...]"
            )

    def leaves(self, day: int) -> bool:
        """Return whether the calendar allows runs on a day (days since 1970)."""
        names = _names(day)
        return self._excluded.isdisjoint(names) and not (self._included and self._included.isdisjoint(names))

    @property
    def moves(self) -> bool:
        """Whether occurrences of an excluded day move to a later one."""
        return self.instead == "next_business_day"

    @property
    def years(self) -> tuple[int, int] | None:
        """The first and the last year of the single dates; None if all entries recur."""
        years = [int(entry[:4]) for entry in (*self.exclude, *self.include) if len(entry) == _DATE_LENGTH]
        return (min(years), max(years)) if years else None

    def applied(self, month: Month, admitted: int, regular: Callable[[Month], int]) -> int:
        """Return the days of a month after this calendar, the 1st as bit 0.

        Args:
            month: the month.
            admitted: its days before the calendar.
            regular: returns the days of other months, from which occurrences may move into this one.
        """
        days = 0
        for n in range(month.length):
            if (admitted >> n & 1 and self.leaves(month.first + n)) or (
                self.moves and self._receives(month.first + n, regular)
            ):
                days |= 1 << n
        return days

    def _receives(self, day: int, regular: Callable[[Month], int]) -> bool:
        if not self._is_business_day(day):
            return False
        month = None
        for earlier in range(day - 1, max(day - _LONGEST_MOVE, FIRST_DAY) - 1, -1):
            if self._is_business_day(earlier):
                return False
            if month is None or earlier < month.first:
                month = month_of(earlier)
            if regular(month) >> earlier - month.first & 1 and not self.leaves(earlier):
                return True
        return False

    def _is_business_day(self, day: int) -> bool:
        return weekday_of(day) not in (_SUNDAY, _SATURDAY) and self.leaves(day)


def _entries(given: Iterable[date | str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidCadence(given, "calendar: its dates come as a list", f"write [{given!r}]")
    return tuple(sorted({_entry(entry) for entry in given}))


def _entry(given: date | str) -> str:
    if isinstance(given, date):
        return given.isoformat()[:_DATE_LENGTH]
    text = given.strip().lower()
    if text in WEEKDAYS:
        return text
    dated = text if len(text) == _DATE_LENGTH else f"2000-{text}"
    try:
        date.fromisoformat(dated)
    except ValueError:
        raise InvalidCadence(given, "calendar: no such day", "use 2026-12-25, 12-25 or sat") from None
    return text


def _names(day: int) -> tuple[str, str, str]:
    text = date.fromordinal(day + UNIX_DAY).isoformat()
    return text, text[5:], WEEKDAYS[weekday_of(day)]
