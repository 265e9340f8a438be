"""The base of the cadences of times on a wall clock: it moves their due times at changes of the clocks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from duetime.cadence.cadence import Cadence, Precision, limits_of, spreads_seconds
from duetime.cadence.days import OneDay
from duetime.cadence.times import DAY, MINUTE
from duetime.cadence.walk import DstPolicy, WallSchedule, next_after
from duetime.cadence.zones import Zone, zone

if TYPE_CHECKING:
    from duetime.cadence.eventbridge import WakeExpression


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
        limits = None if self.modifiers.bounds is None else limits_of(self.modifiers, self._zone)
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

    def _next_of_all(self, at: int) -> int:
        return next_after(self.wall, self._zone, self.clock, at)
