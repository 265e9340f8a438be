"""Step 5, *catch up*: every six hours, the deep sweep sends all overdue actions again.

It covers pending rows that are overdue by more than the grace, and runs whose lease has ended. It finds the
rows that all bands of the sweep have passed.
"""

from __future__ import annotations

from datetime import datetime

from duetime.clock import Clock
from duetime.model.metric import Metric
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import Bookmarks
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.wakeups.due_scanner import DueScanner, DueWindow, ScanResult, is_cursor

BOOKMARK = "catch-up"


class DeepSweep:
    """Scans the complete overdue part of each due shard."""

    def __init__(
        self,
        scanner: DueScanner,
        bookmarks: Bookmarks,
        *,
        clock: Clock,
        settings: Settings,
        meter: Meter = UNMETERED,
    ) -> None:
        self._scanner, self._shards, self._bookmarks = scanner, scanner.shards(bookmarks), bookmarks
        self._clock, self._settings, self._meter = clock, settings, meter

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
        marks_before = self._bookmarks.read(BOOKMARK)
        windows = [DueWindow(shard, shard, marks_before.get(shard), until) for shard in self._shards.probe()]
        passed, moved = self._scanner.wake(windows, stop_at=stop_at)
        marks = {**marks_before, **moved}
        self._bookmarks.write(BOOKMARK, {shard: mark for shard, mark in marks.items() if is_cursor(mark)})
        for metric, value in (
            (Metric.OLDEST_DUE_AGE, passed.oldest_due_age),
            (Metric.CATCH_UP_SENT, passed.sent),
        ):
            if value:
                self._meter.add(metric, value)
        return passed
