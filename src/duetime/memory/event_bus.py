"""The event bus in memory: published events in the form that subscribers receive."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from duetime import instant
from duetime.ids import EVENT_SOURCE
from duetime.model.lifecycle import LifecycleEvent

KEPT = 10_000
"""The number of latest events in `published`."""


class MemoryEventBus:
    """Calls `deliver` with each event in EventBridge's form.

    See `duetime.ports.wakeups.EventBus`.
    """

    def __init__(self, deployment: str, deliver: Callable[[Mapping[str, Any]], None]) -> None:
        self._deployment, self._deliver = deployment, deliver
        self.published: deque[Mapping[str, Any]] = deque(maxlen=KEPT)

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        for lifecycle_event in events:
            event = {
                "id": str(uuid5(NAMESPACE_OID, lifecycle_event.id)),
                "time": instant.text(lifecycle_event.at.replace(microsecond=0)),
                "source": EVENT_SOURCE,
                "detail-type": lifecycle_event.type,
                "detail": lifecycle_event.detail(self._deployment),
            }
            self.published.append(event)
            self._deliver(event)
