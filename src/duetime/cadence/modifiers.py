"""The modifiers of any cadence: its zone, its rule for clock changes, and its filters.

The filters are independent of each other. Each checks the occurrence's own local date or time, before a clock
change moves it. So a window across midnight belongs to no single day: ``days="fri"`` with a window from 22:00
to 02:00 means Friday until 02:00 and Friday from 22:00.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypedDict, get_args
from zoneinfo import ZoneInfo

from duetime.cadence.calendars import Calendar
from duetime.cadence.days import ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.walk import (
    BY_THE_CLOCK,
    MOVED_AND_ONCE,
    MOVED_AND_REPEATED,
    SKIPPED_AND_ONCE,
    WITHIN_THREE_HOURS,
    DstPolicy,
)
from duetime.cadence.words import months_mask, second_of_day, weekdays_mask, weeks_mask
from duetime.cadence.zones import zone

if TYPE_CHECKING:
    from duetime.cadence.bounds import Bounds, Moment

MOST_OFFSET = 31
Dst = Literal["cronos", "vixie", "eventbridge"]
Window = str | tuple[str | time, str | time] | Iterable[str | tuple[str | time, str | time]]
"""``("09:00", "17:00")`` or ``"09:00-17:00"``; or a list of windows."""
Words = str | Iterable[str | int]
"""Words and ranges separated by commas, as in ``"mon-fri,sun"``; or a list of words."""


class DayOffset(NamedTuple):
    """How many days later a cadence runs; earlier, if negative."""

    days: int
    is_business: bool

    def __str__(self) -> str:
        return f"{self.days}{'b' if self.is_business else 'd'}"


class CadenceOptions(TypedDict, total=False):
    """The options of any cadence; see :func:`~duetime.cadence.cron` for each."""

    tz: str | ZoneInfo | None
    dst: Dst
    days: Words | None
    months: Words | None
    weeks: Words | None
    window: Window | None
    calendar: Calendar | None
    offset: str | None
    start: Moment | None
    end: Moment | None
    count: int | None
    except_at: Moment | Iterable[Moment] | None
    spread: str | timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Modifiers:
    """Zone, clock rule and filters, as masks and seconds; the defaults filter nothing.

    Attributes:
        tz: the cadence's own zone, or None.
        default_tz: the zone of a cadence without its own.
        dst: the rule for clock changes.
        days: weekdays, Sunday as bit 0.
        months: January as bit 1.
        weeks: weeks of the month; see :class:`~duetime.cadence.days.DayFields`.
        windows: the first and the last second of each part of the day to include; empty for all of it.
        calendar: dates to exclude or to include.
        offset: days by which its days are shifted, before the calendar.
        bounds: start, end, count, excluded instants and spread; None without any.
    """

    tz: str | None = None
    default_tz: str | None = None
    dst: Dst = "cronos"
    days: int = ALL_WEEKDAYS
    months: int = ALL_MONTHS
    weeks: int = ALL_WEEKS
    windows: tuple[tuple[int, int], ...] = ()
    calendar: Calendar | None = None
    offset: DayOffset | None = None
    bounds: Bounds | None = None

    @property
    def zone_name(self) -> str:
        """The effective zone: the own one, else the default, else UTC."""
        return self.tz or self.default_tz or "UTC"

    @property
    def narrows(self) -> bool:
        """Whether any filter is set."""
        filters = (self.days, self.weeks, self.months, self.windows, self.calendar, self.offset)
        return filters != (ALL_WEEKDAYS, ALL_WEEKS, ALL_MONTHS, (), None, None)

    def dst_policy(self, *, interval: bool, starred: bool) -> DstPolicy:
        """Return the rule for clock changes; ``interval`` matters to Cronos, ``starred`` to vixie cron."""
        if self.dst == "cronos":
            return MOVED_AND_REPEATED if interval else MOVED_AND_ONCE
        if self.dst == "vixie":
            return BY_THE_CLOCK if starred else WITHIN_THREE_HOURS
        return SKIPPED_AND_ONCE

    def with_default_tz(self, name: str) -> Self:
        """Return these modifiers, with the given zone if they have none."""
        zone(name)
        return self if self.tz is not None else replace(self, default_tz=name)


PLAIN = Modifiers()
"""The modifiers of a cadence without options."""


def read_modifiers(
    *,
    tz: str | ZoneInfo | None = None,
    dst: Dst = "cronos",
    days: Words | None = None,
    months: Words | None = None,
    weeks: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
    offset: str | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    count: int | None = None,
    except_at: Moment | Iterable[Moment] | None = None,
    spread: str | timedelta | None = None,
) -> Modifiers:
    """Return the modifiers of a cadence's options.

    Raises:
        InvalidCadence: an option is invalid; :class:`UnknownZone` if it is the zone.
    """
    is_unbounded = start is None and end is None and count is None and except_at is None and spread is None
    is_unfiltered = days is None and months is None and weeks is None and window is None and calendar is None
    is_plain = is_unbounded and is_unfiltered and offset is None
    if is_plain and type(dst) is str and (tz is None or type(tz) is str):
        return _unfiltered(tz, dst)
    tz = tz.key if isinstance(tz, ZoneInfo) else tz
    if tz is not None:
        zone(tz if isinstance(tz, str) else repr(tz))  # type: ignore[redundant-expr]  # any value
    _check_dst(dst)
    if calendar is not None and not isinstance(calendar, Calendar):
        raise InvalidCadence(str(calendar), "calendar: not a calendar", "give Calendar(exclude=[...])")
    bounds = None
    if not is_unbounded:
        from duetime.cadence.bounds import read_bounds  # noqa: PLC0415 - few cadences have bounds

        bounds = read_bounds(start=start, end=end, count=count, except_at=except_at, spread=spread)
    return Modifiers(
        tz=tz,
        dst=dst,
        days=ALL_WEEKDAYS if days is None else weekdays_mask(days),
        months=ALL_MONTHS if months is None else months_mask(months),
        weeks=ALL_WEEKS if weeks is None else weeks_mask(weeks),
        windows=() if window is None else _windows(window),
        calendar=calendar,
        offset=None if offset is None else _offset(offset),
        bounds=bounds,
    )


@lru_cache(maxsize=1_024)
def _unfiltered(tz: str | None, dst: Dst) -> Modifiers:
    """Return the modifiers of a cadence without filters and bounds; most cadences share a few."""
    if tz is not None:
        zone(tz)
    _check_dst(dst)
    return Modifiers(tz=tz, dst=dst)


def _check_dst(dst: Dst) -> None:
    if dst not in get_args(Dst):
        raise InvalidCadence(str(dst), "dst: not a rule for clock changes", f"use {', '.join(get_args(Dst))}")


def _offset(given: str) -> DayOffset:
    found = re.fullmatch(r"\+?(-?\d{1,3})([db])", str(given).strip(), re.ASCII)
    if not found or not 1 <= abs(int(found[1])) <= MOST_OFFSET:
        raise InvalidCadence(
            str(given),
            f"offset: {str(given)[:20]!r} is no number of days",
            f"use -{MOST_OFFSET}d to {MOST_OFFSET}d, or business days, as in -2b",
        )
    return DayOffset(int(found[1]), found[2] == "b")


def _windows(given: Window) -> tuple[tuple[int, int], ...]:
    """Return one window or several, in order."""
    if isinstance(given, str):
        parts: list[object] = [*given.split(",")]
    else:
        parts = [*given] if isinstance(given, Iterable) else [given]  # type: ignore[redundant-expr]  # any value
        if not any(isinstance(part, tuple | list) or "-" in str(part) for part in parts):
            parts = [parts]
    return tuple(sorted({_window(part, given) for part in parts or [given]}))


def _window(part: object, given: Window) -> tuple[int, int]:
    ends = part.split("-") if isinstance(part, str) else [*part] if isinstance(part, Iterable) else []
    if len(ends) != len(("opens", "shuts")):
        raise InvalidCadence(
            str(given), "window: it must have a start and an end", 'give two times, as in ("09:00", "17:00")'
        )
    return second_of_day(ends[0], "window"), second_of_day(ends[1], "window")


def check_cycle(every: int, anchor: date | str | None, unit: str, most: int) -> tuple[int, date | None]:
    """Return a valid ``every`` and its anchor, which is None for an ``every`` of 1.

    Raises:
        InvalidCadence: one is invalid, or the anchor is missing.
    """
    if type(every) is not int or not 1 <= every <= most:
        raise InvalidCadence(f"every={every}", f"every: {every} is no number of {unit}", f"use 1-{most}")
    if isinstance(anchor, str):
        with suppress(ValueError):
            anchor = date.fromisoformat(anchor)
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
