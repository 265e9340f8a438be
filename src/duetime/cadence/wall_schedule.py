"""Days and times put together under a scope, or refused if nothing is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duetime.cadence.day_fields import DayFields
from duetime.cadence.days import ALL_YEARS, EVERY_DAY, NEVER, DayCycle, Days, month_in
from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import Modifiers
from duetime.cadence.times import NEVER as NO_TIME
from duetime.cadence.walk import WallSchedule
from duetime.cadence.words import clock_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duetime.cadence.calendars import Calendar
    from duetime.cadence.times import Times

_ALL_KINDS_OF_MONTH = 41
"""Years in which every month has begun with every weekday, and the leap day has fallen on each."""
_SOME_YEAR = 2000


def build_wall_schedule(
    said: str, fields: DayFields, times: Times, scope: Modifiers, turn: DayCycle | None = None
) -> WallSchedule:
    """The wall clock times of those days and times, narrowed by the scope.

    Args:
        said: what to show if it is refused.
        fields: the days, before the scope's filters.
        times: the times of each day, before the scope's window.
        scope: the filters.
        turn: which weeks or days have their turn.

    Raises:
        NeverFires: no day is left.
        InvalidCadence: the window lets no time through.
    """
    if turn is None and not scope.narrows:
        return WallSchedule(EVERY_DAY if fields == EVERY_DAY.fields else Days(fields), times)
    fields = scope.narrowed(fields)
    if not fields.ever():
        raise NeverFires(said, "it never fires: its filters leave no day", "widen days=, weeks= or months=")
    windowed = scope.windowed(times)
    if windowed.first_from(0) == NO_TIME:
        window = "-".join(clock_text(end) for end in scope.window or ())
        raise InvalidCadence(window, f"window: nothing of {said} lies in it, so it never opens", "widen it")
    return WallSchedule(
        Days(fields, turn, scope.calendar, _years(said, fields, turn, scope.calendar)), windowed
    )


def _years(said: str, fields: DayFields, turn: DayCycle | None, calendar: Calendar | None) -> Sequence[int]:
    """The years in which days can come, so that a search behind the last of them ends at once."""
    if calendar is None and turn is None:
        return ALL_YEARS
    dated = None if calendar is None else calendar.years
    clear = min(_SOME_YEAR if dated is None else dated[1] + 2, ALL_YEARS[-1])
    recurring = range(
        clear, min(clear + _ALL_KINDS_OF_MONTH * (1 if turn is None else turn.every), ALL_YEARS.stop)
    )
    if _any_day(Days(fields, turn, calendar, recurring), clear):
        return ALL_YEARS
    if dated is not None:
        listed = range(dated[0], min(dated[1] + 2, ALL_YEARS.stop))
        if _any_day(Days(fields, turn, calendar, listed), dated[0]):
            return listed
    raise NeverFires(
        said, "it never fires: its calendar or its turn leaves no day", "leave a day on which it may run"
    )


def _any_day(days: Days, year: int) -> bool:
    return days.first_from(month_in(year, 1).first) != NEVER
