"""The clock: the one place that asks the machine for the time.

Everything else is handed a clock or a ``now``.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What a step may ask of time."""

    def now(self) -> datetime:
        """This instant, aware and in UTC."""
        ...

    def wait_until(self, instant: datetime) -> None:
        """Return no sooner than `instant`; at once when it has passed."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """This instant, aware and in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - all other code reads this clock

    def wait_until(self, instant: datetime) -> None:
        """Sleep until `instant`; a sleep that wakes early sleeps again."""
        while (left := instant - self.now()) > timedelta(0):
            time.sleep(left.total_seconds())  # noqa: TID251 - as above
