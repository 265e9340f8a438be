"""The cadences of one job: its next due time, their names, and the wakes of its planner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from duetime import cadence as cadences
from duetime._lazy_property import lazy_property

if TYPE_CHECKING:
    from duetime.cadence import Cadence, WakeExpression
    from duetime.cadence.triggers import OnEvent


@dataclass(frozen=True, slots=True)
class DueTime:
    """One nominal time, and the names of the cadences that have it."""

    at: datetime
    cadences: tuple[str, ...]


@dataclass(frozen=True)
class CadenceSet:
    """A job's cadences. Two that are due at one instant make one occurrence."""

    cadences: tuple[Cadence, ...]

    @staticmethod
    @lru_cache(maxsize=4_096)
    def parse(texts: tuple[str, ...], anchor: datetime, job: str = "", counted: str = "") -> CadenceSet:
        """Parse their texts; an interval without a start begins at `anchor`.

        `job` names the tenant and the job, on which the delay of a spread depends. `counted` is that of the
        definition.

        Raises:
            InvalidCadence: a text is no cadence.
        """
        return CadenceSet.anchored(map(cadences.parse, texts), anchor, job, counted)

    @classmethod
    def anchored(
        cls, cadences: Iterable[Cadence], anchor: datetime, job: str = "", counted: str = ""
    ) -> CadenceSet:
        """Return the set of cadences; arguments as of `parse`."""
        started = (_started(cadence, anchor) for cadence in cadences)
        counting = (cadence.counting(counted) if counted else cadence for cadence in started)
        return cls(tuple(cadence.delayed_for(job) if job else cadence for cadence in counting))

    @lazy_property
    def by_name(self) -> dict[str, Cadence]:
        """The cadences, by name."""
        return {cadence.name: cadence for cadence in self.cadences}

    @lazy_property
    def triggers(self) -> tuple[OnEvent, ...]:
        """The cadences that an event starts."""
        from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - most jobs have none

        return tuple(cadence for cadence in self.cadences if isinstance(cadence, OnEvent))

    @lazy_property
    def wakes(self) -> tuple[WakeExpression, ...]:
        """The EventBridge expressions that wake its planner, each once."""
        return tuple(dict.fromkeys(wake for cadence in self.cadences for wake in cadence.wakes()))

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first nominal time strictly after `instant`, or None if there is none."""
        return min((at for cadence in self.cadences if (at := cadence.next_after(instant))), default=None)

    def last_before(self, instant: datetime) -> datetime | None:
        """Return the last nominal time strictly before `instant`, or None if there is none."""
        return max((at for cadence in self.cadences if (at := cadence.last_before(instant))), default=None)

    def used_up(self, now: datetime) -> str | None:
        """Return a warning if the count of a cadence leaves no time after an instant; None without one."""
        ended = (cadence.count for cadence in self.cadences if cadence.is_used_up(now))
        count, remedy = max(ended, default=0), "give a larger count, or another start to count from zero"
        return f"its count of {count} is used up; {remedy}" if count else None

    def names_at(self, at: datetime) -> tuple[str, ...]:
        """Return the names of the cadences that have a nominal time at an instant."""
        return tuple(cadence.name for cadence in self.cadences if cadence.matches(at))

    def after(self, instant: datetime) -> Iterator[DueTime]:
        """Yield the nominal times strictly after `instant`, soonest first. There may be no end."""
        heap = [
            (at, index)
            for index, cadence in enumerate(self.cadences)
            if (at := cadence.next_after(instant)) is not None
        ]
        heapify(heap)
        while heap:
            at, names = heap[0][0], []
            while heap and heap[0][0] == at:
                index = heappop(heap)[1]
                names.append(self.cadences[index].name)
                following = self.cadences[index].next_after(at)
                if following is not None:
                    heappush(heap, (following, index))
            yield DueTime(at, tuple(names))

    def between(self, start: datetime, end: datetime) -> Iterator[DueTime]:
        """Yield the nominal times in (start, end]."""
        for due in self.after(start):
            if due.at > end:
                return
            yield due

    def planned_until(self, now: datetime, wakes_ahead: int) -> datetime | None:
        """Return the time up to which a wake at `now` plans; `wakes_ahead` less one wakes may then be lost.

        Return None if no wake comes.
        """
        return cadences.planned_until(self.wakes, now, wakes_ahead=wakes_ahead)


def _started(cadence: Cadence, anchor: datetime) -> Cadence:
    from duetime.cadence import Interval  # noqa: PLC0415 - most jobs have none

    return cadence.starting(anchor) if isinstance(cadence, Interval) and cadence.start is None else cadence
