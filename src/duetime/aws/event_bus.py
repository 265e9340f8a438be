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
"""The most that one call takes; an event of ours has a few KB at most, so ten stay far below 256 KB."""


class EventBridgeBus:
    """Puts events on the deployment's bus."""

    def __init__(self, client: EventBridgeClient, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        """See `duetime.ports.wakeups.EventBus`: entries are refused one by one, in an answer that is no error."""
        for first in range(0, len(events), _BATCH):
            self._put([self._entry(event) for event in events[first : first + _BATCH]])

    def _put(self, entries: list[Any]) -> None:
        """Those that were refused are put again, alone, a few times: none that was taken is doubled for their sake."""
        refused: list[Any] = []
        for _ in range(_TRIES):
            with translate_errors(SERVICE):
                answered = self._client.put_events(Entries=entries)["Entries"]
            refused = [each for each in answered if each.get("ErrorCode")]
            if not refused:
                return
            entries = [entry for entry, each in zip(entries, answered, strict=True) if each.get("ErrorCode")]
        told = refused[0]
        raise BackendUnavailable(SERVICE, f"{told['ErrorCode']}: {told.get('ErrorMessage')}")

    def _entry(self, event: LifecycleEvent) -> dict[str, Any]:
        return {
            "Time": event.at,
            "Source": EVENT_SOURCE,
            "DetailType": event.type,
            "Detail": json.dumps(event.detail(self._settings.prefix), ensure_ascii=False),
            "EventBusName": self._settings.event_bus,
        }
