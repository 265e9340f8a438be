"""The event bus in memory: what was published, as its subscribers get it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from duetime import instant
from duetime.ids import EVENT_SOURCE
from duetime.model.lifecycle import LifecycleEvent

KEPT = 10_000
"""Events that are remembered, the latest."""


class MemoryEventBus:
    """Hands each event to `deliver`, in the form in which EventBridge does."""

    def __init__(self, deployment: str, deliver: Callable[[Mapping[str, Any]], None]) -> None:
        self._deployment, self._deliver = deployment, deliver
        self.published: deque[Mapping[str, Any]] = deque(maxlen=KEPT)

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        """See `duetime.ports.wakeups.EventBus`."""
        for each in events:
            event = {
                "id": str(uuid5(NAMESPACE_OID, each.id)),
                "time": instant.text(each.at.replace(microsecond=0)),
                "source": EVENT_SOURCE,
                "detail-type": each.type,
                "detail": each.detail(self._deployment),
            }
            self.published.append(event)
            self._deliver(event)
