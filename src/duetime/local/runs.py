"""Runs invocations in threads, up to a limit.

The threads are daemons: an endless handler delays neither a stop beyond its limit nor the interpreter's exit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from duetime.clock import Clock


class Runs:
    """Starts work in threads, bounded by `limit`."""

    def __init__(self, name: str, limit: int, clock: Clock) -> None:
        self._name, self._limit, self._clock = name, limit, clock
        self._under_way = 0
        self._threads: set[threading.Thread] = set()
        self._changing = threading.Lock()

    @property
    def under_way(self) -> int:
        """The number of running invocations."""
        return self._under_way

    @property
    def room(self) -> int:
        """The number of invocations that may start now."""
        return max(0, self._limit - self._under_way)

    def start(self, work: Callable[[], None], ended: Callable[[], None]) -> None:
        """Run `work` in a thread, then free its place and call `ended`; neither may raise."""
        thread = threading.Thread(
            target=self._run, args=(work, ended), name=f"duetime-{self._name}", daemon=True
        )
        with self._changing:
            self._under_way += 1
            self._threads.add(thread)
        thread.start()

    def wait(self, longest: timedelta) -> int:
        """Wait until all have ended, at most `longest`; return how many have not."""
        end = self._clock.now() + longest
        with self._changing:
            threads = tuple(self._threads)
        for thread in threads:
            thread.join(max(0.0, (end - self._clock.now()).total_seconds()))
        return self._under_way

    def _run(self, work: Callable[[], None], ended: Callable[[], None]) -> None:
        work()
        with self._changing:
            self._under_way -= 1
        ended()
        with self._changing:
            self._threads.discard(threading.current_thread())
