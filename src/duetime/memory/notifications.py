"""Requests of digests in memory; sent mails and published messages for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from duetime.clock import Clock
from duetime.memory.keyed_items import MemoryItems
from duetime.model.notification import DigestWindow
from duetime.ports.deliveries import Deliveries, Windows
from duetime.ports.notifications import Inbox, Mail, NotificationPorts, PreferencesStore


class MemoryDigestTimer:
    """Delayed messages. Repeats are harmless, so each is stored once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.due: dict[DigestWindow, datetime] = {}

    def at_end_of(self, window: DigestWindow, *, delay: int) -> None:
        self.due[window] = self._clock.now() + timedelta(seconds=delay)

    @property
    def next_at(self) -> datetime | None:
        return min(self.due.values(), default=None)

    def take_due(self) -> Iterable[Mapping[str, Any]]:
        """Remove and return the messages that are due now, earliest first."""
        now = self._clock.now()
        due = [window for window, at in sorted(self.due.items(), key=itemgetter(1)) if at <= now]
        for window in due:
            del self.due[window]
        return [window.request for window in due]


class MemoryMailer:
    """A list of sent mails."""

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)


class MemoryTopic:
    """A list of published messages: subject, text and attributes."""

    def __init__(self) -> None:
        self.published: list[tuple[str, str, Mapping[str, str]]] = []

    def publish(self, subject: str, message: str, attributes: Mapping[str, str]) -> None:
        self.published.append((subject, message, dict(attributes)))


def notification_ports(clock: Clock) -> NotificationPorts:
    """Return all interfaces of notifications in memory, with mails and a topic."""
    items = MemoryItems()
    return NotificationPorts(
        preferences=PreferencesStore(items),
        inbox=Inbox(items),
        deliveries=Deliveries(items),
        windows=Windows(items),
        timer=MemoryDigestTimer(clock),
        mailer=MemoryMailer(),
        topic=MemoryTopic(),
    )
