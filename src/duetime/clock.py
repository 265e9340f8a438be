"""The clock: the one place that reads the machine's time; all other code receives a clock or a ``now``."""

from __future__ import annotations

import time
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The source of the present time."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC."""

    def wait_until(self, instant: datetime) -> None:
        """Return at `instant` or later; at once if it has passed."""

    def elapsed(self) -> float:
        """Return seconds since some fixed moment; they never go back, even if the time of day is set back."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - all other code reads this clock

    def wait_until(self, instant: datetime) -> None:
        """Sleep until `instant`; a sleep that wakes early sleeps again."""
        while (left := instant - self.now()) > timedelta(0):
            time.sleep(left.total_seconds())  # noqa: TID251 - as above

    def elapsed(self) -> float:
        """Return the machine's monotonic time in seconds."""
        return time.monotonic()


PAUSES: ContextVar[Clock] = ContextVar("duetime_pauses", default=SystemClock())  # noqa: B039 - without state
"""The clock that waits between the attempts of a call; under asyncio, another one."""
