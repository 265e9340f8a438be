"""The alarm: lets a pump sleep until something may be due, instead of looking all the time.

It is a hint. A pump that is woken for nothing finds nothing, and one that nobody wakes still looks now and then.
"""

from __future__ import annotations

import heapq
import threading
from datetime import datetime, timedelta

from duetime.clock import Clock


class WakeableSleeper:
    """Sleeps until the earliest of the instants that it was set for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: list[datetime] = []
        self._known: set[datetime] = set()
        self._changed = threading.Condition()

    def set_for(self, instant: datetime) -> None:
        """Have `wait` return at `instant`."""
        with self._changed:
            if instant in self._known:
                return
            self._known.add(instant)
            heapq.heappush(self._times, instant)
            if self._times[0] == instant:
                self._changed.notify_all()

    def ring(self) -> None:
        """Have `wait` return now."""
        self.set_for(self._clock.now())

    def wait(self, longest: timedelta) -> None:
        """Return once an instant has come, and forget those that have; after `longest` in any case."""
        end = self._clock.now() + longest
        with self._changed:
            while (left := self._next(end) - self._clock.now()) > timedelta(0):
                self._changed.wait(left.total_seconds())
            now = self._clock.now()
            while self._times and self._times[0] <= now:
                self._known.discard(heapq.heappop(self._times))

    def _next(self, end: datetime) -> datetime:
        return min(end, self._times[0]) if self._times else end
