"""EventBridge in memory: the jobs' schedules and rules, with a given clock and without threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duetime.cadence.eventbridge import parse_expression
from duetime.clock import Clock
from duetime.model.event_pattern import matches
from duetime.model.job import JobRef, Precision
from duetime.ports.jobs import JobWake

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Set:
    """A stored wake. For an enabled schedule: the start of its rate, and its next time."""

    wake: JobWake
    start: datetime
    next_at: datetime | None = None

    def fires_like(self, wake: JobWake) -> bool:
        mine, its = ((one.is_enabled, one.expression, one.tz) for one in (self.wake, wake))
        return mine == its


class MemoryJobWakes:
    """The wakes, in a dictionary. The driver calls `fire` for schedules and `matching` for events.

    See `duetime.ports.jobs.JobWakes`.
    """

    precision: Precision = "second"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wakes: dict[_Key, _Set] = {}
        self._lock = threading.Lock()

    def known(self) -> Sequence[tuple[str, str]]:
        with self._lock:
            return tuple(self._wakes)

    def owner(self, kind: str, name: str) -> JobRef | None:
        found = self.wake(kind, name)
        return None if found is None else found.ref

    def put(self, wake: JobWake) -> None:
        now = self._clock.now()
        with self._lock:
            previous = self._wakes.get((wake.kind, wake.name))
            if previous is not None and previous.fires_like(wake):
                fresh = replace(previous, wake=wake)
            else:
                fresh = _Set(wake, now, _next_after(wake, now, start=now))
            self._wakes[wake.kind, wake.name] = fresh

    def remove(self, kind: str, name: str) -> None:
        with self._lock:
            self._wakes.pop((kind, name), None)

    def fire(self, now: datetime) -> tuple[JobWake, ...]:
        """Return the enabled schedules that are due at `now`, each once, however late."""
        with self._lock:
            due = sorted(
                (wake.next_at, key)
                for key, wake in self._wakes.items()
                if wake.next_at and wake.next_at <= now
            )
            for _, key in due:
                fired = self._wakes[key]
                self._wakes[key] = replace(fired, next_at=_next_after(fired.wake, now, start=fired.start))
            return tuple(self._wakes[key].wake for _, key in due)

    def next_at(self) -> datetime | None:
        with self._lock:
            return min([wake.next_at for wake in self._wakes.values() if wake.next_at], default=None)

    def matching(self, event: Mapping[str, Any]) -> tuple[JobWake, ...]:
        with self._lock:
            wakes = [wake.wake for wake in self._wakes.values()]
        return tuple(
            wake
            for wake in wakes
            if wake.is_enabled and wake.pattern is not None and matches(wake.pattern, event)
        )

    def wake(self, kind: str, name: str) -> JobWake | None:
        """Return the wake of this kind and name, for tests and simulations."""
        with self._lock:
            found = self._wakes.get((kind, name))
            return None if found is None else found.wake


def _next_after(wake: JobWake, now: datetime, *, start: datetime) -> datetime | None:
    if wake.kind != "schedule" or not wake.is_enabled:
        return None
    return parse_expression(wake.expression, wake.tz).next_after(now, start=start)
