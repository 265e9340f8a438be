"""Whether a process of arm sets timers: beyond a few, the wheel costs less.

A timer costs two dollars a million, with its call of dispatch and its message. The wheel costs 30 cents a
month, whether it sends one action or thousands. So a process sets few timers. After too many far actions,
all processes leave them to the wheel, until no process has had too many for `LULL`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.errors import BackendUnavailable
from duetime.ports.wakeups import Bookmarks

MOST_TIMERS, PERIOD = 100, timedelta(hours=2)
"""The timers of one process in that time, which is about the life of a Lambda process."""

LULL = timedelta(days=7)
"""How long all far actions are the wheel's after a process had too many."""

WITHOUT_TIMERS, TOO_MANY, LATEST = "without-timers", "too-many-timers", "latest"
"""The bookmarks of when an action was left to the wheel last, and of when a process had too many last.

Each has the mark `LATEST`. They are two, since a write replaces all marks of a name: a process that leaves an
action to the wheel need not know of the other.
"""

_WRITTEN_EVERY = timedelta(hours=1)
"""How often one process writes that it has too many: `LULL` is much longer than this."""


class TimerBudget:
    """Counts the far actions of one process.

    Args:
        most: the timers in each `PERIOD`; None: no bound.
        bookmarks: where processes write that they have too many.
        clock: the clock of the period.
    """

    def __init__(self, most: int | None, bookmarks: Bookmarks, clock: Clock) -> None:
        self._most, self._bookmarks, self._clock = most, bookmarks, clock
        self._began_at, self._used = instant.EARLIEST, 0
        self.too_many_at: datetime | None = None
        """When a process last had more far actions than timers, as far as this process knows."""
        self._written_at = instant.EARLIEST

    def allows(self, number: int) -> bool:
        """Count so many far actions; return whether they get timers, instead of the wheel."""
        if self._most is None or not number:
            return True
        now = self._clock.now()
        if now - self._began_at >= PERIOD:
            self._began_at, self._used = now, 0
            self._read()
        self._used += number
        if self._used > self._most:
            self.too_many_at = now
            self._write(now)
        return self.too_many_at is None or self.too_many_at + LULL <= now

    def _write(self, now: datetime) -> None:
        """Write that this process has too many; without a response, it tries again at its next batch."""
        if now - self._written_at < _WRITTEN_EVERY:
            return
        try:
            self._bookmarks.write(TOO_MANY, {LATEST: instant.text(now)})
        except BackendUnavailable:
            return
        self._written_at = now

    def _read(self) -> None:
        """Read whether another process had too many; without a response, this process counts alone."""
        try:
            mark = self._bookmarks.read(TOO_MANY).get(LATEST)
        except BackendUnavailable:
            return
        if mark is not None:
            self.too_many_at = max(instant.parse(mark), self.too_many_at or instant.EARLIEST)
