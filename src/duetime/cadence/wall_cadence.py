"""The base of the cadences of times on a wall clock: it moves their due times at changes of the clocks.

Their wall schedules are built from days, times and modifiers, and rejected if they have no occurrence.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from duetime.cadence.cadence import Cadence, Precision, limits_of, spreads_seconds
from duetime.cadence.calendars import Calendar
from duetime.cadence.days import (
    ALL_YEARS,
    EVERY_DAY,
    FIRST_DAY,
    LAST_DAY,
    NEVER,
    Cycle,
    DayFields,
    Days,
    Month,
    OneDay,
    Select,
    Shift,
    days_between,
    month_in,
    month_of,
    widened,
)
from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import DayOffset, Modifiers
from duetime.cadence.walk import (
    DAY,
    HOUR,
    MINUTE,
    MOVED_AND_ONCE,
    NO_TIME,
    AnyOf,
    DstPolicy,
    Times,
    WallSchedule,
    Windowed,
    next_after,
    times_of,
)
from duetime.cadence.words import MOST_RUNS, bits, windows_text
from duetime.cadence.zones import DEPLOYED, LAST, OffsetPeriod, Zone, zone

if TYPE_CHECKING:
    from duetime.cadence.eventbridge import WakeExpression

# Years in which every month has begun with every weekday, and February 29 has been every weekday.
ALL_KINDS_OF_MONTH = 41
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
        shift, farthest = shift_days(modifiers.offset, calendar)
    if calendar is not None and calendar.moves:
        farthest += calendar.days_with(1)
    build = partial(
        Days,
        calendar=calendar,
        select=select,
        shift=shift,
        reach=farthest // _SHORTEST_MONTH + bool(farthest),
    )
    return WallSchedule(build(fields, cycle, years=_years(shown, build, fields, cycle, calendar)), times)


def _years(
    shown: str, build: Callable[..., Days], fields: DayFields, cycle: Cycle | None, calendar: Calendar | None
) -> Sequence[int]:
    """Return the years that can have days, so that a search after the last of them ends at once."""
    if build(fields, cycle).recurs_alike or (calendar is not None and calendar.unresolved):
        return ALL_YEARS
    dated = None if calendar is None else calendar.dated
    # What few years lack without the cycle, all years lack with it.
    if (
        cycle is None or _any_day(build(widened(fields, cycle), years=_recurring_years(calendar)))
    ) and _any_day(build(fields, cycle, years=_recurring_years(calendar, cycle.every if cycle else 1))):
        return ALL_YEARS
    if dated:
        # A move over New Year, or an offset, may reach the year before and the year after.
        listed = range(max(dated[0] - 1, ALL_YEARS.start), min(dated[-1] + 2, ALL_YEARS.stop))
        if _any_day(build(fields, cycle, years=listed)):
            return listed
    raise NeverFires(
        shown, "it never fires: its calendar or its cycle leaves no day", "leave a day on which it may run"
    )


def _recurring_years(calendar: Calendar | None, every: int = 1) -> range:
    """Return years after the single dates of a calendar, in which all that recurs has come."""
    dated = None if calendar is None else calendar.dated
    clear = min(dated[-1] + 2 if dated else _SOME_YEAR, ALL_YEARS[-1])
    return range(clear, min(clear + ALL_KINDS_OF_MONTH * every, ALL_YEARS.stop))


def first_recurring(days: Days | OneDay, calendar: Calendar | None) -> int:
    """Return an instant from which its days recur, in seconds; if none do, one before its single dates."""
    if isinstance(days, Days) and days.years != ALL_YEARS:
        return month_in(days.years[0], 1).first * DAY - DAY
    return max(month_in(_recurring_years(calendar).start, 1).first * DAY, DEPLOYED)


def _any_day(days: Days) -> bool:
    return days.first_from(month_in(days.years[0], 1).first) != NEVER


WORKWEEK = Calendar(exclude=["sat", "sun"])
"""The business days of a cadence without a calendar."""
_LONGEST_BREAK = 366


def shift_days(offset: DayOffset, calendar: Calendar | None) -> tuple[Shift, int]:
    """Return a function of the days of a month that lie `offset` after the days of a function of months.

    The number is that of the days over which it shifts at most.
    """
    if not offset.is_business:
        return partial(_by_days, count=offset.days), abs(offset.days)
    business = calendar or WORKWEEK
    return partial(_by_business_days, count=offset.days, business=business), business.days_with(
        abs(offset.days)
    )


def _by_days(month: Month, named: Select, *, count: int) -> int:
    first, last = month.first - count, month.first + month.length - 1 - count
    return sum(1 << day - first for day in days_between(named, first, last))


def _by_business_days(month: Month, named: Select, *, count: int, business: Calendar) -> int:
    first, last, around, passed = month.first, month.first + month.length - 1, month, 0
    if not business.business_days(month):
        return 0
    while passed < abs(count) and abs(around.first - first) <= abs(count) * _LONGEST_BREAK:
        edge = around.first - 1 if count > 0 else around.first + around.length
        if not FIRST_DAY <= edge <= LAST_DAY:
            break
        around = month_of(edge)
        passed += business.business_days(around).bit_count()
    begin, end = min(first, around.first), max(last, around.first + around.length - 1)
    sources = [*days_between(named, begin, end)]
    days = [*days_between(business.business_days, begin, end)] if sources else []
    found = 0
    for day in sources:
        at = bisect_right(days, day) + count - 1 if count > 0 else bisect_left(days, day) + count
        if 0 <= at < len(days) and first <= days[at] <= last:
            found |= 1 << days[at] - first
    return found


# Clock changes and offsets are at most a day.
_MARGIN = 2 * DAY
# Since Samoa skipped a day in December 2011, no gap was longer than three hours.
_AFTER_LONG_GAPS, _GAP = 1_325_376_000, 3 * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class WallCadence(Cadence):
    """A cadence of times on a wall clock: all kinds except intervals and triggers.

    Attributes:
        wall: its days and times on the wall clock, before clock changes.
        clock: the rule for its occurrences at clock changes.
    """

    wall: WallSchedule = field(init=False, compare=False, repr=False)
    clock: DstPolicy = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_zone", zone(self.modifiers.zone_name))
        limits = limits_of(self.modifiers, self._zone, leap=self._leap) if self.modifiers.bounds else None
        object.__setattr__(self, "_limits", limits)
        object.__setattr__(self, "clock", self._rule())
        object.__setattr__(self, "wall", self._built())

    @property
    def precision(self) -> Precision:
        """See :attr:`Cadence.precision`."""
        return "minute" if self.wall.times.whole_minutes and not spreads_seconds(self.modifiers) else "second"

    def is_within(self, at: int) -> bool:
        """Return whether an instant, in seconds since 1970, is within its start, end and count."""
        limits = self._limits
        return limits is None or limits.first <= at <= limits.last(self._next_of_all, at)

    def _rule(self) -> DstPolicy:
        return self.modifiers.dst_policy(interval=False, starred=False)

    @abstractmethod
    def _built(self) -> WallSchedule:
        """Return its days and times.

        Raises:
            NeverFires: it has none.
        """

    def wakes(self) -> tuple[WakeExpression, ...]:
        """See :meth:`Cadence.wakes`."""
        from duetime.cadence.wakes import wall_wakes  # noqa: PLC0415 - most processes never compile wakes

        return wall_wakes(self)

    def _longest_spread(self) -> int:
        times, shortest = self.wall.times, DAY
        if isinstance(self.wall.days, OneDay):
            return DAY
        first = last = times.first_from(0)
        while last + 1 < DAY and (following := times.first_from(last + 1)) >= 0 and shortest > MINUTE:
            shortest, last = min(shortest, following - last), following
        return min(shortest, DAY - last + first)

    def _leap(self, at: int, most: int, until: int) -> tuple[int, int]:
        """Count the occurrences of months and years at once; see :data:`duetime.cadence.bounds.Leap`.

        Within a period of one offset each local time is one occurrence. So it is beyond, if each time runs
        once and no gap of the clocks has two of them.
        """
        days, times = self.wall.days, _some_times(self.wall)
        span = self._zone.span(at)
        day, second = divmod(at + span.offset, DAY)
        if isinstance(days, OneDay) or not _is_calm(span, at) or len(times) > most or day > LAST_DAY:
            return at, 0
        crosses = self.clock is MOVED_AND_ONCE and at > _AFTER_LONG_GAPS and self._longest_spread() > _GAP
        until = until if crosses else min(until, span.end)
        month, ends = month_of(day), list[tuple[int, int]]()
        left = days.admitted(month) >> day - month.first
        number = (left & 1) * sum(time > second for time in times)
        for n in bits(left >> 1):
            ends.append((day + 1 + n, number))
            number += len(times)
        while number <= most and (after := month.first + month.length) * DAY <= until + _MARGIN:
            ends.append((after, number))
            if after > LAST_DAY or month.year > days.years[-1]:
                break
            month = month_of(after)
            of_year = days.number_in(month.year) * len(times) if month.month == 1 else most + 1
            if number + of_year <= most:
                month, number = month_in(month.year, 12), number + of_year
            else:
                number += days.admitted(month).bit_count() * len(times)
        for after, passed in reversed(ends):
            span = self._zone.span(after * DAY - span.offset)
            later = after * DAY - span.offset - 1
            if passed <= most and at < later <= until and _is_calm(span, later):
                return later, passed
        return at, 0

    def _next_of_all(self, at: int, until: int = LAST) -> int:
        return next_after(self.wall, self._zone, self.clock, at, until)


@lru_cache(maxsize=16)
def _some_times(wall: WallSchedule) -> tuple[int, ...]:
    return (*islice(times_of(wall.times), MOST_RUNS),)


def _is_calm(span: OffsetPeriod, at: int) -> bool:
    """Return whether no change of the clocks is near an instant of a period."""
    return (span.before == span.offset or at - span.start > _MARGIN) and (
        span.after == span.offset or span.end - at > _MARGIN
    )
