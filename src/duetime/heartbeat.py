"""The heartbeat: while a handler runs, renew its lease and look whether somebody wants it to stop.

One thread serves all runs of a process, and touches nothing for a run shorter than the poll. A handler that holds the
interpreter without a break (a long C call that keeps the GIL) starves this thread: its lease then ends and another
worker takes over; the fence keeps the first one's settle from counting.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from duetime.action import Action
from duetime.clock import Clock
from duetime.errors import DuetimeError
from duetime.ports import ActionStore, Delivery, DueQueues
from duetime.settings import Settings

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Watched:
    action: Action
    stop: threading.Event
    deadline: datetime
    delivery: Delivery
    queue: str
    renewed_at: datetime


class Heartbeat:
    """Watches the runs of this process."""

    def __init__(self, store: ActionStore, queues: DueQueues, *, clock: Clock, settings: Settings) -> None:
        self._store, self._queues = store, queues
        self._clock, self._settings = clock, settings
        self._watched: set[_Watched] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(
        self, action: Action, stop: threading.Event, deadline: datetime, delivery: Delivery, queue: str
    ) -> Iterator[None]:
        """Beat for a claimed action until the block ends; `stop` is set when its run should end."""
        watched = _Watched(action, stop, deadline, delivery, queue, renewed_at=self._clock.now())
        with self._changed:
            self._watched.add(watched)
            self._start()
        try:
            yield
        finally:
            with self._changed:
                self._watched.discard(watched)

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._beat, name="duetime-heartbeat", daemon=True)
            self._thread.start()
        elif len(self._watched) == 1:
            self._changed.notify()

    def _beat(self) -> None:
        poll = self._settings.cancel_poll.total_seconds()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._watched)
                arrived = tuple(self._watched)
            threading.Event().wait(poll)
            with self._changed:
                lasting = [each for each in arrived if each in self._watched]
            for watched in lasting:
                self._look_after(watched)

    def _look_after(self, watched: _Watched) -> None:
        try:
            self._renew_or_peek(watched)
        except DuetimeError as error:
            log.warning(
                "heartbeat failed, trying again", extra={"action": watched.action.id, "reason": str(error)}
            )

    def _renew_or_peek(self, watched: _Watched) -> None:
        now = self._clock.now()
        if now > watched.deadline:
            return  # an overdue run is not kept alive: its lease may end
        if now - watched.renewed_at >= self._settings.heartbeat:
            found = self._store.renew(watched.action, now + self._settings.lease)
            if found:
                watched.renewed_at = now
                self._queues.extend(watched.queue, watched.delivery.receipt, visibility(self._settings))
        else:
            found = self._store.peek(watched.action)
        if found is None or found.cancel_requested:
            watched.stop.set()


def visibility(settings: Settings) -> int:
    """Seconds for which a claimed message stays invisible: just past the end of the lease, when it may be taken over."""
    return int((settings.lease + settings.clock_skew).total_seconds()) + 1
