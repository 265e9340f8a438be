"""A poller: a thread that simulates one of AWS' event sources, with its sleeper and its worker threads."""

from __future__ import annotations

import heapq
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta

from duetime.clock import Clock

log = logging.getLogger(__name__)

_AFTER_A_FAILURE = timedelta(seconds=1)


class WakeableSleeper:
    """Sleeps until the earliest of its instants. A wake-up is a hint: there may be nothing to do."""

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
            while (left := min([end, *self._times[:1]]) - self._clock.now()) > timedelta(0):
                self._changed.wait(left.total_seconds())
            now = self._clock.now()
            while self._times and self._times[0] <= now:
                self._known.discard(heapq.heappop(self._times))


class Poller(ABC):
    """Repeats `turn`, and sleeps between until its alarm or for the returned time."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.clock = clock
        self.alarm = WakeableSleeper(clock)
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._take_turns, name=f"duetime-{name}", daemon=True)

    @abstractmethod
    def turn(self) -> timedelta:
        """Do the pending work; return how long to sleep unless the alarm rings."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Start no more turns; `join` waits for the last."""
        self.stopping.set()
        self.alarm.ring()

    def join(self, timeout: timedelta) -> None:
        """Wait for the end of the last turn, at most `timeout`."""
        if self._thread.is_alive():
            self._thread.join(timeout.total_seconds())

    def pause(self, span: timedelta) -> None:
        """Sleep within a turn; a stop ends the sleep."""
        self.stopping.wait(span.total_seconds())

    def _take_turns(self) -> None:
        while not self.stopping.is_set():
            try:
                rest = self.turn()
            except Exception:
                log.exception("a turn failed, the next one begins soon")  # no error ends a poller
                rest = _AFTER_A_FAILURE
            if rest > timedelta(0):
                self.alarm.wait(rest)


class Runs:
    """Runs invocations in threads, at most `limit` at a time.

    The threads are daemons: an endless handler delays neither a stop beyond its limit nor the exit.

    Attributes:
        under_way: the number of running invocations.
    """

    def __init__(self, name: str, limit: int, clock: Clock) -> None:
        self._name, self._limit, self._clock = name, limit, clock
        self.under_way = 0
        self._threads: set[threading.Thread] = set()
        self._changing = threading.Lock()

    @property
    def room(self) -> int:
        """The number of invocations that may start now."""
        return max(0, self._limit - self.under_way)

    def start(self, work: Callable[[], None], ended: Callable[[], None]) -> None:
        """Run `work` in a thread, then free its place and call `ended`; neither may raise."""
        thread = threading.Thread(
            target=self._run, args=(work, ended), name=f"duetime-{self._name}", daemon=True
        )
        with self._changing:
            self.under_way += 1
            self._threads.add(thread)
        thread.start()

    def wait(self, longest: timedelta) -> int:
        """Wait until all have ended, at most `longest`; return how many have not."""
        end = self._clock.now() + longest
        with self._changing:
            threads = tuple(self._threads)
        for thread in threads:
            thread.join(max(0.0, (end - self._clock.now()).total_seconds()))
        return self.under_way

    def _run(self, work: Callable[[], None], ended: Callable[[], None]) -> None:
        work()
        with self._changing:
            self.under_way -= 1
        ended()
        with self._changing:
            self._threads.discard(threading.current_thread())
