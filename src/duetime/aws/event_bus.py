"""The event bus: lifecycle events on EventBridge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from duetime.aws.faults import translate_errors
from duetime.aws.job_wakes import SERVICE
from duetime.errors import BackendUnavailable
from duetime.ids import EVENT_SOURCE
from duetime.model.lifecycle import LifecycleEvent
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

_TRIES = 3
_BATCH = 10
"""The limit of entries in one call. An event has a few KB, so ten stay far below 256 KB."""


class EventBridgeBus:
    """The deployment's event bus.

    See `duetime.ports.wakeups.EventBus`.
    """

    def __init__(self, client: EventBridgeClient, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        for first in range(0, len(events), _BATCH):
            self._put([self._entry(event) for event in events[first : first + _BATCH]])

    def _put(self, entries: list[Any]) -> None:
        """Put entries, and put rejected ones again without the accepted ones.

        A response lists the rejected entries.
        """
        refused: list[Any] = []
        for _ in range(_TRIES):
            with translate_errors(SERVICE):
                results = self._client.put_events(Entries=entries)["Entries"]
            refused = [result for result in results if result.get("ErrorCode")]
            if not refused:
                return
            entries = [
                entry for entry, result in zip(entries, results, strict=True) if result.get("ErrorCode")
            ]
        first = refused[0]
        raise BackendUnavailable(SERVICE, f"{first['ErrorCode']}: {first.get('ErrorMessage')}")

    def _entry(self, event: LifecycleEvent) -> dict[str, Any]:
        return {
            "Time": event.at,
            "Source": EVENT_SOURCE,
            "DetailType": event.type,
            "Detail": json.dumps(event.detail(self._settings.prefix), ensure_ascii=False),
            "EventBusName": self._settings.event_bus,
        }
