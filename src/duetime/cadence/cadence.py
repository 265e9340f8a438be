"""What every cadence is: a rule that tells, of any instant, when it is next due.

Cadences are values: immutable, comparable, hashable, with a text that ``parse`` reads back. They read no clock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Self

from duetime.cadence.modifiers import PLAIN, Modifiers
from duetime.cadence.walk import NOTHING, DstPolicy, WallSchedule, next_after
from duetime.cadence.zones import FIRST, Zone, instant_at, seconds_of, zone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from duetime.cadence.eventbridge import WakeExpression

Precision = Literal["second", "minute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence(ABC):
    """A rule for when something is due.

    Attributes:
        scope: its zone, its rule for changes of the clocks, and its filters.
    """

    scope: Modifiers = PLAIN

    def next_after(self, instant: datetime) -> datetime | None:
        """The first occurrence strictly after ``instant``, in UTC and on a whole second; None when there is none any more.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        found = self._next(seconds_of(instant))
        return None if found == NOTHING else instant_at(found)

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The occurrences in (start, end], in order and in UTC.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        at, last = seconds_of(start), seconds_of(end)
        while True:
            at = self._next(at)
            occurrence = instant_at(at)
            if at > last or occurrence is None:
                return
            yield occurrence

    @property
    def tz(self) -> str:
        """The zone it is evaluated in: the one said, else the default, else UTC."""
        return self.scope.zone_name

    @property
    def text(self) -> str:
        """The canonical text; ``parse`` of it gives an equal cadence."""
        from duetime.cadence.options import options_text  # noqa: PLC0415 - what only plans never says itself

        return self._head() + options_text(self.scope)

    @property
    def name(self) -> str:
        """What it says, as a name: equal texts have equal names, and two cadences that differ in anything differ in it.

        Letters, digits, ``_``, ``-`` and ``.``, at most 64 of them. A default zone and an interval's start are not part
        of it, so neither a setting nor the day of the deploy renames anything.
        """
        from duetime.cadence.options import options_name, short_name  # noqa: PLC0415 - as above

        return short_name(self._label() + options_name(self.scope))

    def describe(self) -> str:
        """What it says, in plain English."""
        from duetime.cadence.options import options_words  # noqa: PLC0415 - as above

        return self._words() + options_words(self.scope)

    def with_default_tz(self, name: str) -> Self:
        """This cadence, in that zone if none was said.

        Raises:
            UnknownZone: there is no such zone.
        """
        return replace(self, scope=self.scope.with_default_tz(name))

    @property
    @abstractmethod
    def precision(self) -> Precision:
        """``minute`` if every occurrence lies on a whole minute, else ``second``."""

    @abstractmethod
    def wakes(self) -> tuple[WakeExpression, ...]:
        """The EventBridge expressions that together are its job's heartbeat; see :mod:`duetime.cadence.wakes`."""

    @abstractmethod
    def _next(self, at: int) -> int:
        """As :meth:`next_after`, in seconds since 1970; ``NOTHING`` for None."""

    @abstractmethod
    def _head(self) -> str:
        """Its kind and what it says, without options."""

    @abstractmethod
    def _label(self) -> str:
        """What its name begins with."""

    @abstractmethod
    def _words(self) -> str:
        """What it says in English, without options."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class WallCadence(Cadence):
    """A cadence of times on a wall clock, which is all of them but elapsed ones and triggers."""

    _wall: WallSchedule = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)
    _clock: DstPolicy = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_zone", zone(self.scope.zone_name))
        object.__setattr__(self, "_clock", self._rule())
        object.__setattr__(self, "_wall", self._built())

    @property
    def wall(self) -> WallSchedule:
        """Where it stands on the wall clock, whatever the clocks do."""
        return self._wall

    @property
    def precision(self) -> Precision:
        """See :attr:`Cadence.precision`."""
        return "minute" if self._wall.times.whole_minutes else "second"

    @property
    def clock(self) -> DstPolicy:
        """What becomes of its occurrences where the clocks change."""
        return self._clock

    def _rule(self) -> DstPolicy:
        return self.scope.clock(interval=False, starred=False)

    @abstractmethod
    def _built(self) -> WallSchedule:
        """Its days and times.

        Raises:
            NeverFires: it has none.
        """

    def wakes(self) -> tuple[WakeExpression, ...]:
        """See :meth:`Cadence.wakes`."""
        from duetime.cadence.wakes import wall_wakes  # noqa: PLC0415 - most processes never compile a heartbeat

        return wall_wakes(self)

    def first(self) -> int:
        """The first occurrence that there ever is, in seconds since 1970; ``NOTHING`` if its clock rule skips the only one."""
        return self._next(FIRST)

    def _next(self, at: int) -> int:
        return next_after(self._wall, self._zone, self._clock, at)
