"""The turned clock: the time of a simulation."""

from __future__ import annotations

from datetime import UTC, datetime


class TurnedClock:
    """A clock that stands still until it is turned."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError(f"{now!r} is naive; say datetime(…, tzinfo=UTC)")
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """Where the clock stands, in UTC."""
        return self._now

    def wait_until(self, instant: datetime) -> None:
        """Turn the clock to `instant`, never back."""
        self._now = max(self._now, instant)
