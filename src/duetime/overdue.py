"""What is overdue is sent again: the part that the sweep and the catch-up share.

It reads the due index, then the rows themselves, and sends a message for each that is pending, or processing under a
lease that has ended. The claim keeps a needless message harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from duetime import instant
from duetime.action import Action, Status
from duetime.arm import delay_until, message_of, queue_of
from duetime.clock import Clock
from duetime.errors import DuetimeError
from duetime.ports import ActionStore, DuePage, DueQueues, Routes, Send
from duetime.settings import Settings

log = logging.getLogger(__name__)

PAGE = 100
_CURSOR = "cursor "


@dataclass(frozen=True, slots=True)
class Window:
    """A part of one due shard: what lies after the mark `start`, up to and with `until`.

    A mark is the text of an instant, or a page's cursor: thousands may share one due time.
    """

    shard: str
    start: str | None
    until: datetime


@dataclass(slots=True)
class Passed:
    """What one pass did."""

    sent: int = 0
    failed_shards: list[str] = field(default_factory=list)
    is_whole: bool = True
    """False when the time ran out; the next pass goes on from there."""


class Overdue:
    """Sends again what one window of the due index holds."""

    def __init__(
        self, store: ActionStore, queues: DueQueues, routes: Routes, *, clock: Clock, settings: Settings
    ) -> None:
        self._store, self._queues, self._routes = store, queues, routes
        self._clock, self._settings = clock, settings

    def send_again(self, window: Window, passed: Passed, *, stop_at: datetime) -> str | None:
        """Go through a window page by page, until `stop_at`; a failure is noted and ends this window only.

        Returns:
            The mark up to which the window is done, None when not even its first page was.
        """
        done: str | None = None
        try:
            for sent, mark in self._pages(window):
                passed.sent += sent
                done = mark
                if is_cursor(mark) and self._clock.now() >= stop_at:
                    passed.is_whole = False
                    break
        except DuetimeError as error:
            passed.failed_shards.append(window.shard)
            log.warning("shard not finished", extra={"shard": window.shard, "reason": str(error)})
        return done

    def _pages(self, window: Window) -> Iterator[tuple[int, str]]:
        after, cursor = _read(window.start)
        while True:
            page = self._store.due(window.shard, after=after, until=window.until, limit=PAGE, cursor=cursor)
            sent = self._send(page)
            cursor = page.cursor
            yield sent, instant.text(window.until) if cursor is None else _CURSOR + cursor
            if cursor is None:
                return

    def _send(self, page: DuePage) -> int:
        now = self._clock.now()
        rows = self._store.get_rows([entry.ref for entry in page.entries])
        sends = [
            Send(queue_of(self._routes, row.type), message_of(row), delay_until(row.due_at, now))
            for row in rows
            if self._needs_a_wake(row, now)
        ]
        if sends:
            self._queues.send(sends)
            log.info("sent again", extra={"count": len(sends)})
        return len(sends)

    def _needs_a_wake(self, row: Action, now: datetime) -> bool:
        if row.status is Status.PROCESSING and row.lease_until is not None:
            return row.lease_until + self._settings.clock_skew < now
        return row.status is Status.PENDING


def is_cursor(mark: str) -> bool:
    """Whether a mark stands in the middle of a window."""
    return mark.startswith(_CURSOR)


def _read(mark: str | None) -> tuple[datetime | None, str | None]:
    if mark is None:
        return None, None
    if is_cursor(mark):
        return None, mark.removeprefix(_CURSOR)
    return instant.parse(mark), None
