"""A sleeper that lets a poller sleep until something may be due.

A wake-up is a hint: a poller may find nothing, and it also polls without one now and then.
"""

from __future__ import annotations

import heapq
import threading
from datetime import datetime, timedelta

from duetime.clock import Clock


class WakeableSleeper:
    """Sleeps until the earliest of its instants."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: list[datetime] = []
        self._known: set[datetime] = set()
        self._changed = threading.Condition()

    def set_for(self, instant: datetime) -> None:
        """Let `wait` return at `instant`."""
        with self._changed:
            if instant in self._known:
                return
            self._known.add(instant)
            heapq.heappush(self._times, instant)
            if self._times[0] == instant:
                self._changed.notify_all()

    def ring(self) -> None:
        """Let `wait` return now."""
        self.set_for(self._clock.now())

    def wait(self, longest: timedelta) -> None:
        """Return at the next instant, or after `longest`; then discard the instants that have passed."""
        end = self._clock.now() + longest
        with self._changed:
            while (left := self._next(end) - self._clock.now()) > timedelta(0):
                self._changed.wait(left.total_seconds())
            now = self._clock.now()
            while self._times and self._times[0] <= now:
                self._known.discard(heapq.heappop(self._times))

    def _next(self, end: datetime) -> datetime:
        return min(end, self._times[0]) if self._times else end
