"""``weekly(...)``: some weekdays at a time, each week or every so many weeks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Unpack

from duetime.cadence._daily import AtATime
from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import UNIX_DAY, DayCycle, weekday_of
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.modifiers import CadenceOptions, Words, read_modifiers
from duetime.cadence.words import clock_text, second_of_day, weekdays_mask, weekdays_text, weekdays_words

if TYPE_CHECKING:
    from datetime import time

_MOST_WEEKS = 520


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekly(AtATime):
    """Some weekdays at a time, each week or every so many weeks.

    Attributes:
        on: weekdays, Sunday as bit 0.
        every: 1 for each week.
        anchor: a date in a week that has its turn; weeks begin on Monday.
    """

    on: int
    every: int = 1
    anchor: date | None = None

    def _days(self) -> DayFields:
        return DayFields(weekdays=self.on)

    def _turn(self) -> DayCycle | None:
        if self.anchor is None:
            return None
        day = self.anchor.toordinal() - UNIX_DAY
        return DayCycle(self.every, day - (weekday_of(day) - 1) % 7)

    def _head(self) -> str:
        turn = f" every={self.every} anchor={self.anchor}" if self.anchor else ""
        return f"weekly {weekdays_text(self.on)} {clock_text(self.at)}{turn}"

    def _label(self) -> str:
        turn = f"_every{self.every}_{self.anchor}" if self.anchor else ""
        return f"Weekly_{weekdays_text(self.on)}_{self._named_time()}{turn}"

    def _words(self) -> str:
        weeks = (
            "every week" if self.anchor is None else f"every {self.every} weeks, counted from {self.anchor},"
        )
        return f"{weeks} on {weekdays_words(self.on)} at {clock_text(self.at)}"


def weekly(
    on: Words,
    at: str | time,
    *,
    every: int = 1,
    anchor: date | str | None = None,
    **options: Unpack[CadenceOptions],
) -> Weekly:
    """Some weekdays at a local time, as in ``weekly("mon,fri", "06:00", every=2, anchor=date(2026, 1, 5))``.

    Args:
        on: weekdays.
        at: the time of day.
        every: 2 for every other week.
        anchor: a date in a week that has its turn, needed with ``every``: so weeks are counted from what the code says,
            never from the deploy. Weeks begin on Monday.
        **options: zone, clock rule and filters, as of :func:`~duetime.cadence.cron`.

    Raises:
        InvalidCadence: a day, the time or an option is mistyped, the anchor is missing, or nothing is left to fire.
    """
    scope = read_modifiers(**options)
    every, since = check_turn(every, anchor, "weeks", _MOST_WEEKS)
    return Weekly(
        scope=scope, at=second_of_day(at), on=weekdays_mask(on, "weekly"), every=every, anchor=since
    )


def check_turn(every: int, anchor: date | str | None, unit: str, most: int) -> tuple[int, date | None]:
    """An ``every`` and its anchor, checked against each other; an ``every`` of 1 needs and keeps no anchor.

    Raises:
        InvalidCadence: one is mistyped or missing.
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
    if every > 1 and anchor is None:
        remedy = "say anchor=, a date that has its turn"
        raise InvalidCadence(
            f"every={every}", f"every: nothing says from when the {every} {unit} count", remedy
        )
    return every, anchor if every > 1 else None
