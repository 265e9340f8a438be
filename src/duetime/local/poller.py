"""A pump: a thread that plays one of AWS' event sources, turn by turn, until it is stopped."""

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
    """Takes turns: it does what there is to do, then sleeps until its alarm, or for as long as the turn said."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.clock = clock
        self.alarm = WakeableSleeper(clock)
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._take_turns, name=f"duetime-{name}", daemon=True)

    @abstractmethod
    def turn(self) -> timedelta:
        """Do what there is to do; returns how long nothing need be looked at, unless the alarm goes."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no more turns; `join` waits for the last."""
        self.stopping.set()
        self.alarm.ring()

    def join(self, timeout: timedelta) -> bool:
        """Wait for the last turn's end; returns whether it has ended."""
        if self._thread.is_alive():
            self._thread.join(timeout.total_seconds())
        return not self._thread.is_alive()

    def pause(self, span: timedelta) -> None:
        """Sleep inside a turn; a stop ends it."""
        self.stopping.wait(span.total_seconds())

    def _take_turns(self) -> None:
        while not self.stopping.is_set():
            try:
                rest = self.turn()
            except Exception:
                log.exception(
                    "a turn failed, the next one begins soon"
                )  # a pump outlives whatever a turn meets
                rest = _AFTER_A_FAILURE
            if rest > timedelta(0):
                self.alarm.wait(rest)
