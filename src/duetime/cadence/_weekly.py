"""``weekly(...)``: some weekdays at a time, in every week or every n-th week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Unpack

from duetime.cadence._daily import AtATime
from duetime.cadence.cadence import declared
from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import UNIX_DAY, DayCycle, weekday_of
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import CadenceOptions, Words, read_modifiers
from duetime.cadence.words import seconds_of_day, weekdays_mask, weekdays_text, weekdays_words

_MOST_WEEKS = 520


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekly(AtATime):
    """Some weekdays at a time, in every week or every n-th week.

    Attributes:
        on: weekdays, Sunday as bit 0.
        every: 1 for every week.
        anchor: a date in a week of the cycle; weeks begin on Monday.
    """

    on: int
    every: int = 1
    anchor: date | None = None

    def _days(self) -> DayFields:
        return DayFields(weekdays=self.on)

    def _cycle(self) -> DayCycle | None:
        if self.anchor is None:
            return None
        day = self.anchor.toordinal() - UNIX_DAY
        return DayCycle(self.every, day - (weekday_of(day) - 1) % 7)

    def _head(self) -> str:
        cycle = f" every={self.every} anchor={self.anchor}" if self.anchor else ""
        return f"weekly {weekdays_text(self.on)} {self._spelled_time()}{cycle}"

    def _label(self) -> str:
        cycle = f"_every{self.every}_{self.anchor}" if self.anchor else ""
        return f"Weekly_{weekdays_text(self.on)}_{self._named_time()}{cycle}"

    def _words(self) -> str:
        weeks = (
            "every week" if self.anchor is None else f"every {self.every} weeks, counted from {self.anchor},"
        )
        return f"{weeks} on {weekdays_words(self.on)} at {self._time_words()}"


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


def check_cycle(every: int, anchor: date | str | None, unit: str, most: int) -> tuple[int, date | None]:
    """Return a valid ``every`` and its anchor, which is None for an ``every`` of 1.

    Raises:
        InvalidCadence: one is invalid, or the anchor is missing.
    """
    if type(every) is not int or not 1 <= every <= most:
        raise InvalidCadence(f"every={every}", f"every: {every} is no number of {unit}", f"use 1-{most}")
    if isinstance(anchor, str):
        try:
            anchor = date.fromisoformat(anchor)
        except ValueError:
            raise InvalidCadence(
                str(anchor), "anchor: no such date", "use a date, as in 2026-01-05"
            ) from None
    if isinstance(anchor, datetime):
        anchor = anchor.date()
    if anchor is not None and not isinstance(anchor, date):
        raise InvalidCadence(str(anchor), "anchor: no such date", "use a date, as in 2026-01-05")
    if every > 1 and anchor is None:
        remedy = "give anchor=, a date of the cycle"
        raise InvalidCadence(
            f"every={every}", f"every: the {every} {unit} have no anchor to count from", remedy
        )
    return every, anchor if every > 1 else None
