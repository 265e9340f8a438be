"""A poller: a thread that simulates one of AWS' event sources until it is stopped."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from datetime import timedelta

from duetime.clock import Clock
from duetime.local.alarm import WakeableSleeper

log = logging.getLogger(__name__)

_AFTER_A_FAILURE = timedelta(seconds=1)


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

    def join(self, timeout: timedelta) -> bool:
        """Wait for the end of the last turn; return whether it has ended."""
        if self._thread.is_alive():
            self._thread.join(timeout.total_seconds())
        return not self._thread.is_alive()

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
