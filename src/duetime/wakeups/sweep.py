"""Step 5, *sweep*: each minute, send actions again that have become overdue.

The sweep scans bands of lateness. It reads each pending row once when it is 5, 10, 20, 40 … minutes late, so
it does not send a backlog again every minute. Bookmarks store how far each band has been read. A sweep that
was cut short, failed or was disabled for a day continues there. Stuck rows delay no rows behind them.

Mostly no row is overdue. One read of a shard shows that all of its bands are empty.

Rows that a pause or an open breaker holds are passed over, and their messages consumed. The sweep looks at
all overdue rows when a pause ends, and in bands of time afterwards: see `WorkPause.looks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache, partial

from duetime import instant
from duetime.clock import Clock
from duetime.jobs.known_region import KnownRegion
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import Bookmarks
from duetime.settings import Settings
from duetime.wakeups.due_scanner import DueScanner, DueWindow, ScanResult, end_of, is_cursor

BOOKMARK = "sweep"

LOOK = "held/"
"""Before a shard: the mark of the latest look at what pauses hold."""

FENCED = "fenced/0"
"""A mark beside those of the bands, if the region that swept last has a standby: when it did."""


def bands(settings: Settings) -> tuple[timedelta, ...]:
    """Return the lateness of each band: `grace`, doubled up to the catch-up's rate."""
    late, found = settings.grace, []
    while late < settings.catch_up_rate:
        found.append(late)
        late *= 2
    return tuple(found)


class Sweep:
    """Scans the bands of each due shard."""

    def __init__(
        self,
        scanner: DueScanner,
        bookmarks: Bookmarks,
        *,
        clock: Clock,
        settings: Settings,
        meter: Meter = UNMETERED,
        region: KnownRegion | None = None,
    ) -> None:
        self._scanner, self._shards, self._bookmarks = scanner, scanner.shards(bookmarks), bookmarks
        self._clock, self._settings, self._meter, self._region = clock, settings, meter, region

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Sweep until done, or until `stop_at`; a failed shard is left for the next pass."""
        if not self._settings.enabled:
            return ScanResult()
        now = self._clock.now()
        marks = dict(self._bookmarks.read(BOOKMARK))
        windows = list(self._windows(marks, now))
        looks = list(self._looks(marks, windows))
        half = now + (stop_at - now) / 2  # reads that hang leave time for the windows
        empty = self._scanner.empty_shards(windows, stop_at=half)
        scanned = [window for window in windows if window.shard not in empty]
        passed, moved = self._scanner.wake([*scanned, *looks], stop_at=stop_at)
        moved |= {window.name: end_of(window) for window in windows if window.shard in empty}
        begun = {window.name: window.start for window in windows if window.start is not None}
        looked = {name: marks[name] for window in windows if (name := LOOK + window.shard) in marks}
        self._bookmarks.write(BOOKMARK, {**begun, **looked, **moved, **self._fenced(now)})
        if passed.oldest_due_age:
            self._meter.add(Metric.OLDEST_DUE_AGE, passed.oldest_due_age)
        return passed

    def _fenced(self, now: datetime) -> dict[str, str]:
        """Return the mark by which a failover sees that this region stops once the epoch has moved."""
        is_fenced = self._region is not None and self._region.own and self._region.is_active()
        return {FENCED: instant.text(now)} if is_fenced else {}

    def _windows(self, marks: Mapping[str, str], now: datetime) -> Iterator[DueWindow]:
        lateness, shards = bands(self._settings), self._shards.known(_shard_of(name) for name in marks)
        next_lateness = (*lateness[1:], self._settings.catch_up_rate)
        for late, next_late in zip(lateness, next_lateness, strict=True):
            at_first, band = instant.text(now - next_late), f"{late.total_seconds():g}"
            for shard in shards:
                name = f"{band}/{shard}"
                yield DueWindow(name, shard, marks.get(name, at_first), now - late)

    def _looks(self, marks: Mapping[str, str], windows: Iterable[DueWindow]) -> Iterator[DueWindow]:
        """Yield the windows of all overdue rows, in each shard where a look at held ones is due."""
        now, late = self._clock.now(), bands(self._settings)
        is_due = cache(partial(self._scanner.is_look_due, now=now, late=late))
        for shard in dict.fromkeys(window.shard for window in windows):
            mark = marks.get(LOOK + shard)
            is_behind = mark is not None and is_cursor(mark)
            if is_behind or is_due(None if mark is None else instant.parse(mark)):
                yield DueWindow(LOOK + shard, shard, mark if is_behind else None, now, is_look=True)


def _shard_of(name: str) -> str:
    """Return the shard of a bookmark's name: ``300/7``."""
    return name.rpartition("/")[2]
