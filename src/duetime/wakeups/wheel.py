"""The wheel: send far actions shortly before they are due, without a timer for each.

Each minute it sends the actions of the next window with exact delays. The window begins at the end of the
last turn and ends a minute before the near limit. A row that `Arm` leaves to the wheel was put at least that
minute before its window, so the due index has it. The next turn repairs a lost arm. A million rows due at
once need ten thousand batches for the queue, not a million schedules.

A deployment may change between the wheel and EventBridge's timers. After a change to the wheel, timers that
are set still fire, and the claim rejects their messages. After a change to timers, `Rearm` arms each pending
row once, shard by shard, in the time that a pass has left. Until a shard is finished, the wheel turns for it.

If EventBridge takes no timers, as at its quota, `Arm` leaves actions to the wheel. It then turns beside the
timers, for all shards: an action that has a timer gets two messages. `PAUSE` after the last such action,
`Rearm` begins; it stops at the first timer that cannot be set, and continues after another `PAUSE`. While
there are too many far actions for timers, it does not begin (`duetime.wakeups.arm.TimerBudget`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from duetime import instant
from duetime.model.action import Status
from duetime.ports.actions import DamagedRow, DuePage
from duetime.ports.backends import Backends
from duetime.ports.wakeups import DueMessage
from duetime.wakeups.arm import LATEST, LULL, TOO_MANY, WITHOUT_TIMERS, Arm
from duetime.wakeups.due_scanner import DueScanner, DueWindow, ReportDamaged, ScanResult, is_cursor

BOOKMARK = "wheel"
"""The end of the last turn in each shard; with EventBridge's timers, where `Rearm` has not finished."""

REARM, _COVERS, _NEXT = "rearm", "covers", "next"
"""The cursors of `Rearm` by shard; the latest action left to the wheel before it began; its next attempt."""

PAUSE = timedelta(minutes=15)

TURN = timedelta(minutes=1)
_PAGE = 25
"""Rows between two bookmarks of `Rearm`: also slow timers of so many fit into a pass."""


class WheelTimers:
    """Timers that set nothing: the next turns of the wheel find the row."""

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        """See `duetime.ports.wakeups.Timers`, here and below."""

    def clear(self, message: DueMessage) -> None:
        """A cancelled row is no longer pending at the turn of the wheel."""


class Wheel:
    """Sends what is due between the last turn's end and the near limit, less a minute."""

    def __init__(self, backends: Backends, due_scanner: DueScanner) -> None:
        self._scanner, self._shards, self._bookmarks = due_scanner, due_scanner.shards, backends.bookmarks
        self._clock, self._settings = backends.clock, backends.settings

    def __call__(self, *, stop_at: datetime) -> ScanResult:
        """Turn once; a shard with too many rows for one turn continues in the next.

        With EventBridge's timers, turn only for the shards that `Rearm` has not finished.
        """
        now = self._clock.now()
        marks = self._bookmarks.read(BOOKMARK)
        until, at_first = now + self._settings.near_limit - TURN, instant.text(now)
        if self._is_for_all():
            marks = {shard: marks.get(shard, at_first) for shard in self._shards.known(marks)}
        windows = [DueWindow(shard, shard, mark, until) for shard, mark in marks.items()]
        if not windows:
            return ScanResult()
        if not self._settings.enabled:  # the first turn after it is enabled begins here
            self._bookmarks.write(BOOKMARK, marks)
            return ScanResult()
        passed, moved = self._scanner.wake(windows, stop_at=stop_at)
        self._bookmarks.write(BOOKMARK, {**marks, **moved})
        return passed

    def _is_for_all(self) -> bool:
        """Return whether all shards are the wheel's; with the setting `wheel`, end a `Rearm`."""
        if self._settings.timers == "eventbridge":
            return self._stands_in()
        if self._bookmarks.read(REARM):
            self._bookmarks.write(REARM, {})
        return True

    def _stands_in(self) -> bool:
        """Return whether actions were left to the wheel since `Rearm` began; if so, it starts again."""
        latest = self._bookmarks.read(WITHOUT_TIMERS).get(LATEST)
        if latest is None or latest <= self._bookmarks.read(REARM).get(_COVERS, ""):
            return False
        marks = self._bookmarks.read(BOOKMARK)
        at_first = dict.fromkeys(self._shards.known(marks), instant.text(self._clock.now()))
        if at_first.keys() - marks.keys():
            self._bookmarks.write(BOOKMARK, {**at_first, **marks})
        self._bookmarks.write(REARM, {_COVERS: latest})
        return True


class WheelTurns:
    """The turns of one pass: one in its share of the time, and another in what the other parts leave."""

    def __init__(self, wheel: Callable[..., ScanResult]) -> None:
        self._wheel, self._results = wheel, list[ScanResult]()

    def first(self, stop_at: datetime) -> int:
        """Turn until `stop_at`; return how many actions were sent."""
        self._results = [self._wheel(stop_at=stop_at)]
        return self._sent()

    def rest(self, stop_at: datetime) -> int:
        """Go on until `stop_at`, unless the first turn is complete or failed; return how many were sent."""
        if self._results and not (self._results[0].is_complete or self._results[0].failed_shards):
            self._results.append(self._wheel(stop_at=stop_at))
        return self._sent()

    def _sent(self) -> int:
        return sum(result.sent for result in self._results)


class Rearm:
    """Arms the rows of the wheel with EventBridge's timers."""

    def __init__(
        self, backends: Backends, arm: Arm, *, report_damaged: ReportDamaged = lambda _rows: None
    ) -> None:
        self._store, self._bookmarks, self._clock = backends.store, backends.bookmarks, backends.clock
        self._arm, self._report_damaged = arm, report_damaged

    def __call__(self, *, stop_at: datetime) -> int:
        """Arm the rows that are due later, page by page, until `stop_at`; return their number.

        Without a bookmark of the wheel, do nothing. The next pass continues at the page where this one ended.
        """
        left = dict(self._bookmarks.read(BOOKMARK))
        if not left:
            return 0
        armed, cursors = 0, dict(self._bookmarks.read(REARM))
        if self._is_paused(cursors):
            return 0
        for shard in sorted(left):
            while shard in left and self._clock.now() < stop_at:
                page = self._due(shard, left[shard], cursors.get(shard))
                if not self._arm_page(page, stop_at):
                    if self._clock.now() < stop_at:
                        cursors[_NEXT] = instant.text(self._clock.now() + PAUSE)
                        self._bookmarks.write(REARM, cursors)
                    return armed
                armed += len(page.entries)
                self._passed(shard, page.cursor, left, cursors)
        return armed

    def _is_paused(self, marks: Mapping[str, str]) -> bool:
        """Return whether a timer could not be set within the last `PAUSE`, or too many within `LULL`."""
        too_many = self._bookmarks.read(TOO_MANY).get(LATEST)
        waits = ((marks.get(_COVERS), PAUSE), (marks.get(_NEXT), timedelta(0)), (too_many, LULL))
        now = self._clock.now()
        return any(mark is not None and instant.parse(mark) + pause > now for mark, pause in waits)

    def _passed(self, shard: str, cursor: str | None, left: dict[str, str], cursors: dict[str, str]) -> None:
        if cursor is not None:
            cursors[shard] = cursor
        else:
            cursors.pop(shard, None)
            del left[shard]
            self._bookmarks.write(BOOKMARK, left)
        self._bookmarks.write(REARM, cursors)

    def _due(self, shard: str, mark: str, cursor: str | None) -> DuePage:
        """Return a page of the rows that the wheel has not sent; they are due after its last turn's end."""
        turned_until = self._clock.now() if is_cursor(mark) else instant.parse(mark)
        after = max(turned_until, self._clock.now()) if cursor is None else None
        return self._store.due(shard, after=after, until=instant.LATEST, limit=_PAGE, cursor=cursor)

    def _arm_page(self, page: DuePage, stop_at: datetime) -> bool:
        """Return whether each pending row of the page has its wake."""
        damaged: list[DamagedRow] = []
        refs = [entry.ref for entry in page.entries]
        rows = self._store.get_rows(refs, damaged=damaged) if refs else ()
        self._report_damaged(damaged)
        pending = [row for row in rows if row.status is Status.PENDING]
        return not any(self._arm.set_wakes(pending, stop_at=stop_at))
