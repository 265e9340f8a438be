"""Undelivered messages in memory, for tests; and the bodies that were sent."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime

from duetime.model.undelivered import Undelivered
from duetime.ports.undelivered import UndeliveredPage


class MemoryUndelivered:
    """Undelivered messages, in a dictionary by id.

    See `duetime.ports.undelivered.UndeliveredStore`.
    """

    def __init__(self) -> None:
        self._things: dict[str, Undelivered] = {}
        self._lock = threading.Lock()

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:  # noqa: ARG002 - memory ends first
        with self._lock:
            stored = self._things.get(thing.id) or replace(thing, count=0)
            self._things[thing.id] = replace(
                stored, count=stored.count + 1, reason=thing.reason, last_at=thing.last_at
            )

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        with self._lock:
            newest_first = sorted(
                (thing_id for thing_id in self._things if cursor is None or thing_id < cursor), reverse=True
            )
            shown = tuple(self._things[thing_id] for thing_id in newest_first[:limit])
        return UndeliveredPage(shown, shown[-1].id if len(newest_first) > limit else None)

    def get(self, undelivered_id: str) -> Undelivered | None:
        return self._things.get(undelivered_id)

    def remove(self, thing: Undelivered) -> bool:
        with self._lock:
            stored = self._things.get(thing.id)
            if stored is not None and stored.count != thing.count:
                return False
            self._things.pop(thing.id, None)
            return True


class MemoryBodies:
    """A list of the sent bodies with their queues.

    See `duetime.ports.undelivered.BodyQueues`.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def put(self, queue: str, body: str) -> None:
        self.sent.append((queue, body))
