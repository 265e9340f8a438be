"""What is undelivered, in memory, where nothing ever is but what a test puts there; and the bodies that were sent."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime

from duetime.model.undelivered import Undelivered
from duetime.ports.undelivered import UndeliveredPage


class MemoryUndelivered:
    """Things in a dictionary."""

    def __init__(self) -> None:
        self._things: dict[str, Undelivered] = {}
        self._lock = threading.Lock()

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:  # noqa: ARG002 - memory ends first
        """See `duetime.ports.undelivered.UndeliveredStore`, here and below."""
        with self._lock:
            kept = self._things.get(thing.id)
            if kept is None:
                self._things[thing.id] = replace(thing, count=1)
            else:
                again = replace(kept, count=kept.count + 1, reason=thing.reason, last_at=thing.last_at)
                self._things[thing.id] = again

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        with self._lock:
            newest_first = sorted(
                (thing for thing in self._things if cursor is None or thing < cursor), reverse=True
            )
            shown = tuple(self._things[each] for each in newest_first[:limit])
        return UndeliveredPage(shown, shown[-1].id if len(newest_first) > limit else None)

    def get(self, undelivered_id: str) -> Undelivered | None:
        return self._things.get(undelivered_id)

    def remove(self, thing: Undelivered) -> bool:
        with self._lock:
            kept = self._things.get(thing.id)
            if kept is not None and kept.count != thing.count:
                return False
            self._things.pop(thing.id, None)
            return True


class MemoryBodies:
    """Bodies that were sent, by their queues."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def put(self, queue: str, body: str) -> None:
        """See `duetime.ports.undelivered.BodyQueues`."""
        self.sent.append((queue, body))
