"""The steps of the local cloud: over a file, or, for handlers that use AWS themselves, over moto."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from duetime.app import App
from duetime.embedded.cloud import InProcessCloud
from duetime.local.notifications import LocalNotifications
from duetime.local.outbox import Outbox
from duetime.memory.backends import MemoryBackends
from duetime.ports.wakeups import Delivery, DueQueues, Send
from duetime.settings import Settings
from duetime.sqlite.cloud import SqliteCloud


class LocalSteps(InProcessCloud):
    """The steps, whose events are also notifications.

    Args:
        message_doubles: the probability that a message comes twice.
        outbox: receives what is sent.
        linked: returns the settings of notifications.
        options: as for the other base.
    """

    def __init__(
        self,
        app: App,
        *,
        message_doubles: float,
        outbox: Outbox,
        linked: Callable[[], Settings],
        **options: Any,
    ) -> None:
        self._doubles = message_doubles
        super().__init__(app, **options)
        self.notifications = LocalNotifications(self.ports, outbox, self.clock, linked)

    def event(self, event: Mapping[str, Any]) -> None:
        """See `InProcessCloud`, here and below."""
        super().event(event)
        self.notifications.take(event)

    def turn(self) -> Delivery | None:
        """Take the requests of digests, too."""
        self.notifications.take_digests()
        return super().turn()

    def close(self) -> None:
        """End the notifications that have begun."""
        self.notifications.stop()
        super().close()

    def next_at(self) -> datetime:
        """Count the next digest."""
        at = self.notifications.next_at
        return super().next_at() if at is None else min(at, super().next_at())

    def _as_seen(self, backends: MemoryBackends) -> MemoryBackends:
        return (
            replace(backends, queues=_Doubled(backends.queues, self._doubles)) if self._doubles else backends
        )


class FileSteps(LocalSteps, SqliteCloud):
    """The steps over a file; `found` is what an earlier process has left in it."""

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`."""
        super().open_tables(settings)
        self.found = self.store.found()


class _Doubled:
    """Queues in which some messages come twice."""

    def __init__(self, queues: DueQueues, share: float) -> None:
        self._queues, self._share = queues, share
        self.extend = queues.extend

    def send(self, sends: Sequence[Send]) -> None:
        """See `duetime.ports.wakeups.DueQueues`."""
        again = [send for send in sends if random.random() < self._share]  # noqa: S311 - simulates a fault
        self._queues.send([*sends, *again])
