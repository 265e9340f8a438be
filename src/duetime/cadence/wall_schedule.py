"""Wall schedules built from days, times and modifiers; rejected if they have no occurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from duetime.cadence.calendars import Calendar
from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import ALL_YEARS, EVERY_DAY, NEVER, Cycle, Days, OneDay, Select, month_in
from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.times import NEVER as NO_TIME
from duetime.cadence.times import AnyOf, Times, Windowed
from duetime.cadence.walk import WallSchedule
from duetime.cadence.words import windows_text

# Years in which every month has begun with every weekday, and February 29 has been every weekday.
_ALL_KINDS_OF_MONTH = 41
_SOME_YEAR = 2000
_SHORTEST_MONTH = 28


def build_wall_schedule(
    shown: str,
    fields: DayFields,
    times: Times,
    modifiers: Modifiers,
    cycle: Cycle | None = None,
    *,
    select: Select | None = None,
) -> WallSchedule:
    """Return the wall schedule of these days and times, narrowed by the modifiers.

    Args:
        shown: the text of error messages.
        fields: the days, before the filters.
        times: the times of each day, before the window.
        modifiers: the filters.
        cycle: which weeks, days, months or years count.
        select: the days of each month that count.

    Raises:
        NeverFires: the filters leave no day.
        InvalidCadence: the window leaves no time.
    """
    if cycle is None and select is None and not modifiers.narrows:
        return WallSchedule(EVERY_DAY if fields == EVERY_DAY.fields else Days(fields), times)
    fields = fields._replace(
        only_weekdays=modifiers.days, weeks=modifiers.weeks, months=fields.months & modifiers.months
    )
    if not fields.ever():
        raise NeverFires(shown, "it never fires: its filters leave no day", "widen days=, weeks= or months=")
    if modifiers.windows:
        parts = tuple(Windowed(times, *window) for window in modifiers.windows)
        times = parts[0] if len(parts) == 1 else AnyOf(parts)
    if times.first_from(0) == NO_TIME:
        window = windows_text(modifiers.windows)
        raise InvalidCadence(window, f"window: nothing of {shown} lies in it, so it never opens", "widen it")
    shift, farthest, calendar = None, 0, modifiers.calendar
    if modifiers.offset is not None:
        from duetime.cadence.day_shifts import shift_days  # noqa: PLC0415 - few cadences have an offset

        shift, farthest = shift_days(modifiers.offset, calendar)
    if calendar is not None and calendar.moves:
        farthest += calendar.days_with(1)
    reach = farthest // _SHORTEST_MONTH + bool(farthest)
    build = partial(Days, fields, cycle, calendar, select=select, shift=shift, reach=reach)
    return WallSchedule(build(years=_years(shown, build, cycle, modifiers.calendar)), times)


def _years(
    shown: str, build: Callable[..., Days], cycle: Cycle | None, calendar: Calendar | None
) -> Sequence[int]:
    """Return the years that can have days, so that a search after the last of them ends at once."""
    if build().recurs_alike or (calendar is not None and calendar.unresolved):
        return ALL_YEARS
    dated = None if calendar is None else calendar.years
    recurring = _recurring_years(calendar, 1 if cycle is None else cycle.every)
    if _any_day(build(years=recurring), recurring.start):
        return ALL_YEARS
    if dated is not None:
        # A move over New Year, or an offset, may reach the year before and the year after.
        first = max(dated[0] - 1, ALL_YEARS.start)
        listed = range(first, min(dated[1] + 2, ALL_YEARS.stop))
        if _any_day(build(years=listed), first):
            return listed
    raise NeverFires(
        shown, "it never fires: its calendar or its cycle leaves no day", "leave a day on which it may run"
    )


def _recurring_years(calendar: Calendar | None, every: int = 1) -> range:
    """Return years after the single dates of a calendar, in which all that recurs has come."""
    dated = None if calendar is None else calendar.years
    clear = min(_SOME_YEAR if dated is None else dated[1] + 2, ALL_YEARS[-1])
    return range(clear, min(clear + _ALL_KINDS_OF_MONTH * every, ALL_YEARS.stop))


def longest_run(days: Days | OneDay, calendar: Calendar | None) -> int:
    """Return the most consecutive days that recur; without any, the most among the single dates."""
    if isinstance(days, OneDay):
        return 1
    for years in (_recurring_years(calendar), days.years):
        months = (month_in(year, month) for year in years for month in range(1, 13))
        shown = "".join(f"{days.admitted(month):0{month.length}b}"[::-1] for month in months)
        if longest := max(map(len, shown.split("0"))):
            break
    return longest if longest < len(shown) else ALL_YEARS.stop * 366


def _any_day(days: Days, year: int) -> bool:
    return days.first_from(month_in(year, 1).first) != NEVER
