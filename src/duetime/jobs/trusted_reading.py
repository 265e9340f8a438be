"""What operators set, as a process knows it: read at most every five seconds, and trusted for fifteen.

Pauses, open breakers, set limits and the active region are read so. A process acts on a reading only while it
is younger than `TRUSTED`. One that cannot read them claims nothing, and its messages come again. So what an
operator sets holds in each process within that time, even while the tables are throttled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.model.active_region import TRUSTED

log = logging.getLogger(__name__)

REREAD_AFTER = timedelta(seconds=5)
"""A read costs one read unit."""

T = TypeVar("T")


class _Reading(NamedTuple, Generic[T]):
    """A value, and the begin of its read by both clocks: only one of them goes on in a frozen process."""

    value: T
    elapsed: float
    at: datetime


class TrustedReading(Generic[T]):
    """A cache of one small value. Safe to call from several threads."""

    def __init__(self, what: str, read: Callable[[], T], clock: Clock) -> None:
        """Create one; `what` names the value in sentences."""
        self._what, self._read, self._clock = what, read, clock
        self._tried: _Reading[None] | None = None
        """The latest read, also a failed one; while it lasts, only if the reading is trusted meanwhile."""
        self._reading: _Reading[T] | None = None

    def get(self) -> T:
        """Return the value, after a read if the last one is too old.

        Raises:
            BackendUnavailable: the last reading is older than `TRUSTED`, and the value cannot be read.
        """
        reading, tried = self._reading, self._tried
        if tried is None or self._age(tried) >= REREAD_AFTER:
            try:
                reading = self._read_now()
            except DuetimeError as error:
                log.warning("not read", extra={"what": self._what, "reason": truncate(error)})
        if not self._is_trusted(reading):
            raise BackendUnavailable("the back end", f"this process cannot read {self._what}")
        return reading.value

    def read(self) -> T:
        """Read the value now.

        Raises:
            BackendUnavailable: it cannot be read.
        """
        return self._read_now().value

    def is_from(self, at: datetime) -> bool:
        """Return whether the reading began at an instant, or later."""
        reading = self._reading
        return reading is not None and reading.at >= at

    def forget(self) -> None:
        """Read the value again when it is needed next: this process has changed it."""
        self._tried = self._reading = None

    def _read_now(self) -> _Reading[T]:
        begun = _Reading(None, self._clock.elapsed(), self._clock.now())
        if self._is_trusted(self._reading):
            self._tried = begun  # other threads need not read, too
        try:
            self._reading = reading = _Reading(self._read(), begun.elapsed, begun.at)
        finally:
            self._tried = begun
        return reading

    def _is_trusted(self, reading: _Reading[T] | None) -> TypeGuard[_Reading[T]]:
        return reading is not None and self._age(reading) < TRUSTED

    def _age(self, reading: _Reading[Any]) -> timedelta:
        elapsed = timedelta(seconds=self._clock.elapsed() - reading.elapsed)
        return max(elapsed, self._clock.now() - reading.at)
