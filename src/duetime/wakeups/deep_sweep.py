"""Step 5, *catch up*: every six hours, the deep pass.

It sends again everything that is pending and overdue by more than the grace, and every run whose lease has
ended, however late: what the sweep's bands have passed by is found here at the latest.
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
    """Looks through the whole overdue part of each due shard."""

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
        """Catch up until done, or until `stop_at`.

        Then the next pass goes on in each shard where this one ended.
        """
        if not self._settings.enabled:
            return ScanResult()
        with spans.span(spans.CATCH_UP) as span:
            passed = self._pass(stop_at)
            span.set({spans.SENT: passed.sent})
        return passed

    def _pass(self, stop_at: datetime) -> ScanResult:
        until = self._clock.now() - self._settings.grace
        left_off = self._bookmarks.read(BOOKMARK)
        windows = [DueWindow(shard, shard, left_off.get(shard), until) for shard in self._waker.shards]
        passed, moved = self._waker.wake(windows, stop_at=stop_at)
        marks = {**left_off, **moved}
        self._bookmarks.write(BOOKMARK, {shard: mark for shard, mark in marks.items() if is_cursor(mark)})
        self._meter.add(Metric.OLDEST_DUE_AGE, passed.oldest_due_age)
        self._meter.add(Metric.CATCH_UP_SENT, passed.sent)
        return passed
