"""The base of the cadences of times on a wall clock: it moves their due times at changes of the clocks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from duetime.cadence.cadence import Cadence, Precision, limits_of, spreads_seconds
from duetime.cadence.days import LAST_DAY, OneDay, month_in, month_of
from duetime.cadence.times import DAY, HOUR, MINUTE, times_of
from duetime.cadence.walk import MOVED_AND_ONCE, DstPolicy, WallSchedule, next_after
from duetime.cadence.words import MOST_RUNS
from duetime.cadence.zones import OffsetPeriod, Zone, zone

if TYPE_CHECKING:
    from duetime.cadence.eventbridge import WakeExpression


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
        number = (left >> 1).bit_count() * len(times) + (left & 1) * sum(time > second for time in times)
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
            if at < later <= until and _is_calm(span, later):
                return later, passed
        return at, 0

    def _next_of_all(self, at: int) -> int:
        return next_after(self.wall, self._zone, self.clock, at)


@lru_cache(maxsize=16)
def _some_times(wall: WallSchedule) -> tuple[int, ...]:
    return (*islice(times_of(wall.times), MOST_RUNS),)


def _is_calm(span: OffsetPeriod, at: int) -> bool:
    """Return whether no change of the clocks is near an instant of a period."""
    return (span.before == span.offset or at - span.start > _MARGIN) and (
        span.after == span.offset or span.end - at > _MARGIN
    )
