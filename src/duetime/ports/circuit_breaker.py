"""A circuit breaker: after several failures of a service in a row, stop calling it for a while."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.clock import Clock

LIMIT = 3
"""Failures in a row that open the breaker: a call to a service that hangs takes seconds."""

PAUSE = timedelta(minutes=1)


class CircuitBreaker:
    """Counts a service's failures in a row. After `LIMIT` it is open for `PAUSE`; then one call is a trial.

    A failed trial opens it again at once, a success closes it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures, self._open_until = 0, float("-inf")

    @property
    def is_open(self) -> bool:
        """Whether the service must not be called now."""
        return self._clock.elapsed() < self._open_until

    def succeeded(self) -> None:
        """Count a success."""
        self._failures = 0

    def failed(self) -> None:
        """Count a failure."""
        self._failures += 1
        if self._failures >= LIMIT:
            self.open()

    def open(self) -> None:
        """Open it at once, after a failure that the next call would repeat."""
        self._failures = LIMIT
        self._open_until = self._clock.elapsed() + PAUSE.total_seconds()
