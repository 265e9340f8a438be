"""Step 5, *sweep*: each minute, send again what has become overdue.

It looks at bands of lateness: each pending row is looked at when it is 5, 10, 20, 40 … minutes late, once for each, so
that a backlog is not sent again every minute. How far each band has been read is kept as a bookmark: a sweep that was
cut short, failed or was switched off for a day goes on from there, and rows that stay stuck hold up none behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from duetime import instant
from duetime.clock import Clock
from duetime.overdue import Overdue, Passed, Window
from duetime.ports import Bookmarks
from duetime.settings import Settings

BOOKMARK = "sweep"
DEEPEST = timedelta(hours=6)
"""Beyond this lateness the six-hourly catch-up sends again."""


def bands(grace: timedelta) -> tuple[timedelta, ...]:
    """How late a row is at each look: `grace`, and doubling up to six hours."""
    late, found = grace, []
    while late < DEEPEST:
        found.append(late)
        late *= 2
    return tuple(found)


class Sweep:
    """Looks through the bands of each due shard."""

    def __init__(
        self,
        overdue: Overdue,
        bookmarks: Bookmarks,
        *,
        shards: Sequence[str],
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._overdue, self._bookmarks, self._shards = overdue, bookmarks, shards
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> Passed:
        """Sweep until done, or until `stop_at`; a shard that fails is left for the next pass, the others go on."""
        passed = Passed()
        if not self._settings.enabled:
            return passed
        marks = dict(self._bookmarks.read(BOOKMARK))
        for name, window in self._windows(marks, self._clock.now()):
            if self._clock.now() >= stop_at:
                passed.is_whole = False
                break
            done = self._overdue.send_again(window, passed, stop_at=stop_at)
            marks[name] = done or window.start or instant.text(window.until)
        self._bookmarks.write(BOOKMARK, marks)
        return passed

    def _windows(self, marks: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Window]]:
        looks = bands(self._settings.grace)
        deeper = (*looks[1:], DEEPEST)
        for late, next_late in zip(looks, deeper, strict=True):
            at_first = instant.text(now - next_late)
            for shard in self._shards:
                name = f"{late.total_seconds():g}/{shard}"
                yield name, Window(shard, marks.get(name, at_first), now - late)
