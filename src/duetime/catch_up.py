"""Step 5, *catch up*: every six hours, the deep pass.

It sends again everything that is pending and overdue by more than the grace, and every run whose lease has ended,
however late: what the sweep's bands have passed by is found here at the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duetime.clock import Clock
from duetime.overdue import Overdue, Passed, Window, is_cursor
from duetime.ports import Bookmarks
from duetime.settings import Settings

BOOKMARK = "catch-up"


class CatchUp:
    """Looks through the whole overdue part of each due shard."""

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
        """Catch up until done, or until `stop_at`; then the next pass goes on in each shard where this one ended."""
        passed = Passed()
        if not self._settings.enabled:
            return passed
        until = self._clock.now() - self._settings.grace
        marks = dict(self._bookmarks.read(BOOKMARK))
        for shard in self._shards:
            done = self._overdue.send_again(Window(shard, marks.get(shard), until), passed, stop_at=stop_at)
            if done is not None and is_cursor(done):
                marks[shard] = done
            elif done is not None:
                marks.pop(shard, None)
        self._bookmarks.write(BOOKMARK, marks)
        return passed
