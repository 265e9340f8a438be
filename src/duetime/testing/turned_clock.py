"""The manual clock of a simulation."""

from __future__ import annotations

from datetime import UTC, datetime


class TurnedClock:
    """A clock that moves only when it is set."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError(f"{now!r} is naive; use datetime(…, tzinfo=UTC)")
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """Return the time in UTC."""
        return self._now

    def wait_until(self, instant: datetime) -> None:
        """Move the clock to `instant`, never back."""
        self._now = max(self._now, instant)

    def elapsed(self) -> float:
        """Return the time in seconds: this clock never goes back."""
        return self._now.timestamp()
