"""The wheel: send far actions shortly before they are due, without a timer for each.

Each minute it sends the actions of the next window with exact delays. The window begins at the end of the
last turn and ends a minute before the near limit. A row that `Arm` leaves to the wheel was put at least that
minute before its window, so the due index has it. The next turn repairs a lost arm. A million rows due at
once need ten thousand batches for the queue, not a million schedules.

A deployment may change between the wheel and EventBridge's timers. After a change to the wheel, timers that
are set still fire, and the claim rejects their messages. After a change to timers, `Rearm` arms each pending
row once.
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
    """Timers that set nothing: the next turns of the wheel find the row."""

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        """See `duetime.ports.wakeups.Timers`, here and below."""

    def clear(self, message: DueMessage) -> None:
        """A cancelled row is no longer pending at the turn of the wheel."""


class Wheel:
    """Sends what is due between the last turn's end and the near limit, less a minute."""

    def __init__(
        self, scanner: DueScanner, bookmarks: Bookmarks, *, clock: Clock, settings: Settings
    ) -> None:
        self._scanner, self._shards, self._bookmarks = scanner, scanner.shards(bookmarks), bookmarks
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Turn once; a shard with too many rows for one turn continues in the next."""
        if not self._settings.enabled:
            return ScanResult()
        now = self._clock.now()
        marks = self._bookmarks.read(BOOKMARK)
        until, at_first = now + self._settings.near_limit - TURN, instant.text(now)
        windows = [
            DueWindow(shard, shard, marks.get(shard, at_first), until) for shard in self._shards.known(marks)
        ]
        passed, moved = self._scanner.wake(windows, stop_at=stop_at)
        begun = {window.name: window.start for window in windows if window.start is not None}
        self._bookmarks.write(BOOKMARK, begun | moved)
        return passed


class Rearm:
    """Arms the rows of the wheel after a deploy chose EventBridge's timers."""

    def __init__(self, store: ActionStore, arm: Arm, bookmarks: Bookmarks, *, clock: Clock) -> None:
        self._store, self._arm, self._bookmarks, self._clock = store, arm, bookmarks, clock

    def __call__(self, *, stop_at: datetime) -> int:
        """Arm every row that is due later, shard by shard, until `stop_at`; return their number.

        Without a bookmark of the wheel, do nothing. The mark of a finished shard is removed, so the next pass
        continues with the other shards.
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
