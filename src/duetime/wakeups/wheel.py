"""The wheel: far actions without a timer each.

Every minute it sends what will be due soon, with exact delays.

It looks up to a minute short of the near limit ahead, from where its last turn ended. A row that `arm` left
to it was put at least that minute before its window comes, so the due index has it. A lost arm is healed by
itself, and a million rows that are due at once are ten thousand batches for the queue, not a million
schedules.

A deployment may change between the wheel and EventBridge's timers. To the wheel: timers that are set still
fire, and their messages are doubles. From the wheel: `hand_over` arms, once, every pending row that has no
timer.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.model.action import Status
from duetime.model.change import Change
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks, DueMessage
from duetime.settings import Settings
from duetime.wakeups.arm import Arm
from duetime.wakeups.due_scanner import PAGE, DueScanner, DueWindow, ScanResult

BOOKMARK = "wheel"
TURN = timedelta(minutes=1)


class WheelTimers:
    """Timers for which nothing is set: the wheel's next turns see the row by themselves."""

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        """See `duetime.ports.wakeups.Timers`, here and below."""

    def clear(self, message: DueMessage) -> None:
        """A cancelled row is not pending any more when the wheel comes to it."""


class Wheel:
    """Sends what is due between the last turn's end and the near limit, less a minute."""

    def __init__(self, waker: DueScanner, bookmarks: Bookmarks, *, clock: Clock, settings: Settings) -> None:
        self._waker, self._bookmarks = waker, bookmarks
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Turn once. A shard whose rows are too many for one turn is gone on with in the next."""
        if not self._settings.enabled:
            return ScanResult()
        now = self._clock.now()
        marks = self._bookmarks.read(BOOKMARK)
        until, at_first = now + self._settings.near_limit - TURN, instant.text(now)
        windows = [DueWindow(shard, shard, marks.get(shard, at_first), until) for shard in self._waker.shards]
        passed, moved = self._waker.wake(windows, stop_at=stop_at)
        begun = {window.name: window.start for window in windows if window.start is not None}
        self._bookmarks.write(BOOKMARK, begun | moved)
        return passed


class Rearm:
    """Arms what the wheel has left behind, after a deploy chose EventBridge's timers."""

    def __init__(self, store: ActionStore, arm: Arm, bookmarks: Bookmarks, *, clock: Clock) -> None:
        self._store, self._arm, self._bookmarks, self._clock = store, arm, bookmarks, clock

    def __call__(self, *, stop_at: datetime) -> int:
        """Arm every row that is due later, shard by shard, until `stop_at`; returns how many.

        With no wheel's bookmark there is nothing to do. A shard's mark goes when the shard is done, so a
        hand-over that was cut short goes on with the next pass.
        """
        left = dict(self._bookmarks.read(BOOKMARK))
        armed, before = 0, len(left)
        for shard in sorted(left):
            if self._clock.now() >= stop_at:
                break
            armed += self._arm_shard(shard)
            del left[shard]
        if len(left) != before:
            self._bookmarks.write(BOOKMARK, left)
        return armed

    def _arm_shard(self, shard: str) -> int:
        armed, cursor = 0, None
        while True:
            page = self._store.due(
                shard, after=self._clock.now(), until=instant.LATEST, limit=PAGE, cursor=cursor
            )
            rows = self._store.get_rows([entry.ref for entry in page.entries]) if page.entries else ()
            self._arm([Change(None, row) for row in rows if row.status is Status.PENDING])
            armed, cursor = armed + len(rows), page.cursor
            if cursor is None:
                return armed
