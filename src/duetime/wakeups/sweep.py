"""Step 5, *sweep*: each minute, send again what has become overdue.

It looks at bands of lateness: each pending row is looked at when it is 5, 10, 20, 40 … minutes late, once for
each, so that a backlog is not sent again every minute. How far each band has been read is kept as a bookmark:
a sweep that was cut short, failed or was switched off for a day goes on from there, and rows that stay stuck
hold up none behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import Bookmarks
from duetime.settings import Settings
from duetime.wakeups.due_scanner import DueScanner, DueWindow, ScanResult

BOOKMARK = "sweep"


def bands(settings: Settings) -> tuple[timedelta, ...]:
    """Return how late a row is at each look.

    `grace`, doubled up to the catch-up's rate, which sends the rest.
    """
    late, found = settings.grace, []
    while late < settings.catch_up_rate:
        found.append(late)
        late *= 2
    return tuple(found)


class Sweep:
    """Looks through the bands of each due shard."""

    def __init__(
        self,
        waker: DueScanner,
        bookmarks: Bookmarks,
        *,
        clock: Clock,
        settings: Settings,
        meter: Meter = UNMETERED,
    ) -> None:
        self._waker, self._bookmarks = waker, bookmarks
        self._clock, self._settings, self._meter = clock, settings, meter

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Sweep until done, or until `stop_at`.

        A shard that fails is left for the next pass, the others go on.
        """
        if not self._settings.enabled:
            return ScanResult()
        marks = dict(self._bookmarks.read(BOOKMARK))
        windows = list(self._windows(marks, self._clock.now()))
        passed, moved = self._waker.wake(windows, stop_at=stop_at)
        begun = {window.name: window.start for window in windows if window.start is not None}
        self._bookmarks.write(BOOKMARK, begun | moved)
        self._meter.add(Metric.OLDEST_DUE_AGE, passed.oldest_due_age)
        return passed

    def _windows(self, marks: Mapping[str, str], now: datetime) -> Iterator[DueWindow]:
        looks = bands(self._settings)
        deeper = (*looks[1:], self._settings.catch_up_rate)
        for late, next_late in zip(looks, deeper, strict=True):
            at_first = instant.text(now - next_late)
            for shard in self._waker.shards:
                name = f"{late.total_seconds():g}/{shard}"
                yield DueWindow(name, shard, marks.get(name, at_first), now - late)
