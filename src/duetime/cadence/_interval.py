"""``interval(...)``: elapsed time, whatever any wall clock shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from duetime.cadence.cadence import Cadence, Precision
from duetime.cadence.day_fields import DayFields
from duetime.cadence.durations import duration_of, duration_text, duration_words
from duetime.cadence.modifiers import Window, Words, read_modifiers
from duetime.cadence.times import TimeSteps
from duetime.cadence.walk import BY_THE_CLOCK, NOTHING, WallSchedule, next_after
from duetime.cadence.wall_schedule import build_wall_schedule
from duetime.cadence.zones import instant_at, seconds_of, zone

if TYPE_CHECKING:
    from datetime import datetime

    from duetime.cadence.calendars import Calendar
    from duetime.cadence.eventbridge import WakeExpression

_MOST_OPENINGS = 10_000
"""How often a filter may open without an occurrence in it before the search gives up: 27 years of daily windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Cadence):
    """Every so many elapsed seconds after a start.

    Attributes:
        step: seconds from one occurrence to the next.
        start: seconds since 1970 that it counts from; the first occurrence is one step later. Without a start it counts
            from whatever instant it is asked about.
    """

    step: int
    start: int | None = None
    _open: WallSchedule | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        filtered = self.scope.narrows
        opened = (
            build_wall_schedule(self._head(), DayFields(), TimeSteps(1), self.scope) if filtered else None
        )
        object.__setattr__(self, "_open", opened)

    def starting(self, at: datetime) -> Self:
        """This interval, counted from that instant: when its job was first reconciled.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        return replace(self, start=seconds_of(at))

    @property
    def filtered(self) -> bool:
        """Whether occurrences are let through only on some days or in a window."""
        return self._open is not None

    @property
    def precision(self) -> Precision:
        """See :attr:`Cadence.precision`."""
        whole = self.step % 60 == 0 and (self.start or 0) % 60 == 0
        return "minute" if whole else "second"

    def wakes(self) -> tuple[WakeExpression, ...]:
        """See :meth:`Cadence.wakes`."""
        from duetime.cadence.wakes import interval_wakes  # noqa: PLC0415 - most processes never compile a heartbeat

        return interval_wakes(self.step, filtered=self.filtered)

    def _next(self, at: int) -> int:
        start = at if self.start is None else self.start
        found = self._on_grid(start, at + 1)
        if self._open is None:
            return found
        where = zone(self.scope.zone_name)
        for _ in range(_MOST_OPENINGS):
            opens = next_after(self._open, where, BY_THE_CLOCK, found - 1)
            if opens in (found, NOTHING):
                return opens
            found = self._on_grid(start, opens)
        return NOTHING

    def _on_grid(self, start: int, at: int) -> int:
        """The first occurrence at or after ``at``."""
        return start + max(1, -((start - at) // self.step)) * self.step

    def _head(self) -> str:
        start = None if self.start is None else instant_at(self.start)
        since = "" if start is None else f" start={start.replace(tzinfo=None).isoformat()}Z"
        return f"interval {duration_text(self.step)}{since}"

    def _label(self) -> str:
        return f"Interval_{duration_text(self.step)}"

    def describe(self) -> str:
        """See :meth:`Cadence.describe`; without filters no zone matters to it."""
        return Cadence.describe(self) if self.filtered else self._words()

    def _words(self) -> str:
        return f"every {duration_words(self.step)} of elapsed time"


def interval(
    *,
    weeks: float | Words | None = None,
    days: float | Words | None = None,
    hours: float | None = None,
    minutes: float | None = None,
    seconds: float | None = None,
    tz: str | None = None,
    months: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
) -> Interval:
    """Elapsed time, as in ``interval(minutes=7)``: from its own start, across midnights and changes of the clocks alike.

    The start is given later, by :meth:`Interval.starting`, when its job is first reconciled.

    Args:
        weeks: a number is a length of time; words, as in ``"first"``, are a filter.
        days: a number is a length of time; weekdays, as in ``"mon-fri"``, are a filter.
        hours: added up with the rest.
        minutes: added up with the rest.
        seconds: added up with the rest.
        tz: the zone in which filters read the clock.
        months: only in these months.
        window: only from the first time of day to the second, both included. Occurrences outside are left out; the count
            goes on.
        calendar: dates to stay silent on, or to keep to.

    Raises:
        InvalidCadence: no time, or an option is mistyped.
    """
    lengths = {"weeks": _length(weeks), "days": _length(days)}
    step = duration_of("interval", **lengths, hours=hours, minutes=minutes, seconds=seconds)
    scope = read_modifiers(
        tz=tz, days=_filter(days), weeks=_filter(weeks), months=months, window=window, calendar=calendar
    )
    return Interval(scope=scope, step=step)


def _length(given: float | Words | None) -> float | None:
    return given if isinstance(given, int | float) else None


def _filter(given: float | Words | None) -> Words | None:
    return None if isinstance(given, int | float) else given
