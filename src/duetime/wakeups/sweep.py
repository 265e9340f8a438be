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
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.built_in import canary_row
from duetime.model.metric import Metric
from duetime.ports.backends import Backends
from duetime.ports.meter import UNMETERED, Meter
from duetime.settings import Settings
from duetime.telemetry import spans
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
        backends: Backends,
        due_scanner: DueScanner,
        *,
        meter: Meter = UNMETERED,
        region: KnownRegion | None = None,
    ) -> None:
        self._scanner, self._shards, self._bookmarks = due_scanner, due_scanner.shards, backends.bookmarks
        self._clock, self._settings = backends.clock, backends.settings
        self._meter, self._region = meter, region

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
            at_first, until, band = instant.text(now - next_late), now - late, f"{late.total_seconds():g}"
            for shard in shards:
                name = f"{band}/{shard}"
                yield DueWindow(name, shard, marks.get(name, at_first), until)

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


class Canary:
    """Schedules an action of duetime's own for each interval of the setting `canary`, which names it.

    It is due far enough ahead to need every part of an action's path: the stream, arm, a timer, dispatch, a
    queue and a worker. The worker's run of it does nothing; its lateness is the metric of the alarm `canary`.
    """

    def __init__(self, backends: Backends) -> None:
        self._store, self._clock, self._settings = backends.store, backends.clock, backends.settings

    def __call__(self) -> bool:
        """Schedule the canary if an interval has begun since the previous sweep; return whether it did.

        Raises:
            BackendUnavailable: it may not be scheduled.
        """
        now, every = self._clock.now(), self._settings.made.canary
        if not (every and self._settings.enabled):
            return False
        begun = instant.floor(now, every)
        is_new = now - begun < self._settings.sweep_rate
        if is_new:
            self._store.put(canary_row(begun, self._settings, len(self._store.due_shards)))
        return is_new


CATCH_UP_BOOKMARK = "catch-up"


class DeepSweep:
    """Step 5, *catch up*: every six hours, sends all overdue actions again.

    It covers pending rows that are overdue by more than the grace, and runs whose lease has ended. It finds
    the rows that all bands of the sweep have passed.
    """

    def __init__(
        self,
        backends: Backends,
        due_scanner: DueScanner,
        *,
        meter: Meter = UNMETERED,
    ) -> None:
        self._scanner, self._shards, self._bookmarks = due_scanner, due_scanner.shards, backends.bookmarks
        self._clock, self._settings, self._meter = backends.clock, backends.settings, meter

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Scan until done, or until `stop_at`; the next pass continues in each shard at that mark."""
        if not self._settings.enabled:
            return ScanResult()
        with spans.span(spans.CATCH_UP) as span:
            passed = self._pass(stop_at)
            span.set({spans.SENT: passed.sent})
        return passed

    def _pass(self, stop_at: datetime) -> ScanResult:
        until = self._clock.now() - self._settings.grace
        marks_before = self._bookmarks.read(CATCH_UP_BOOKMARK)
        windows = [DueWindow(shard, shard, marks_before.get(shard), until) for shard in self._shards.probe()]
        passed, moved = self._scanner.wake(windows, stop_at=stop_at)
        marks = {**marks_before, **moved}
        self._bookmarks.write(
            CATCH_UP_BOOKMARK, {shard: mark for shard, mark in marks.items() if is_cursor(mark)}
        )
        for metric, value in (
            (Metric.OLDEST_DUE_AGE, passed.oldest_due_age),
            (Metric.CATCH_UP_SENT, passed.sent),
        ):
            if value:
                self._meter.add(metric, value)
        return passed
