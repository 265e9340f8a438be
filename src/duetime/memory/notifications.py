"""Preferences, lists, deliveries and windows in memory; sent mails and published messages for tests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from duetime.clock import Clock
from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.model.notification import Digest, DigestWindow, Notification, NotificationKind, is_entry_id
from duetime.model.preferences import Preferences
from duetime.ports.notifications import (
    DigestPosition,
    InboxEntry,
    InboxPage,
    Mail,
    NotificationPorts,
    SendPermit,
)


class MemoryPreferences:
    """Preferences in a dictionary.

    See `duetime.ports.notifications`.
    """

    def __init__(self) -> None:
        self._chosen: dict[TenantId, Preferences] = {}
        self._lock = threading.Lock()

    def get(self, tenant_id: TenantId) -> Preferences:
        return self._chosen.get(tenant_id) or Preferences(tenant_id=tenant_id)

    def put(self, chosen: Preferences) -> bool:
        following = replace(chosen, revision=chosen.revision + 1)
        with self._lock:
            current = self.get(chosen.tenant_id)
            if current.revision == chosen.revision:
                self._chosen[chosen.tenant_id] = following
                return True
            return current == following


class MemoryInbox:
    """Entries in a dictionary."""

    def __init__(self) -> None:
        self._entries: dict[tuple[TenantId, str], InboxEntry] = {}
        self._lock = threading.Lock()

    def add(self, notification: Notification, *, expires_at: datetime) -> None:  # noqa: ARG002 - memory ends first
        entry = InboxEntry(notification=notification, entry_id=notification.entry_id)
        with self._lock:
            self._entries.setdefault((notification.tenant_id, entry.entry_id), entry)

    def list(
        self,
        tenant_id: TenantId,
        *,
        kinds: frozenset[NotificationKind],
        is_unread: bool = False,
        limit: int,
        cursor: str | None,
    ) -> InboxPage:
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        with self._lock:
            found = [
                entry
                for _, entry in sorted(self._entries.items(), reverse=True)
                if entry.notification.tenant_id == tenant_id
                and entry.notification.kind in kinds
                and not (is_unread and entry.read_at)
                and (cursor is None or entry.entry_id < cursor)
            ]
        return InboxPage(tuple(found[:limit]), found[limit - 1].entry_id if len(found) > limit else None)

    def get(self, tenant_id: TenantId, entry_id: str) -> InboxEntry | None:
        return self._entries.get((tenant_id, entry_id))

    def mark_read(self, tenant_id: TenantId, entry_id: str, *, by: str, at: datetime) -> bool:
        place = tenant_id, entry_id
        with self._lock:
            entry = self._entries.get(place)
            if entry is not None and entry.read_at is None:
                self._entries[place] = replace(entry, read_at=at, read_by=by)
        return entry is not None


@dataclass(frozen=True, slots=True)
class _Lease:
    holder: str
    until: datetime


class MemoryDeliveries:
    """Leases in a dictionary. None marks a sent delivery."""

    def __init__(self) -> None:
        self._leases: dict[tuple[TenantId, str], _Lease | None] = {}
        self._lock = threading.Lock()

    def begin(
        self,
        tenant_id: TenantId,
        delivery_id: str,
        *,
        holder: str,
        now: datetime,
        until: datetime,
        expires_at: datetime,  # noqa: ARG002 - memory ends first
    ) -> SendPermit:
        mine, place = _Lease(holder, until), (tenant_id, delivery_id)
        with self._lock:
            held = self._leases.get(place, mine)
            if held is None:
                return SendPermit.SENT
            if held.holder != holder and held.until > now:
                return SendPermit.HELD
            self._leases[place] = mine
        return SendPermit.YES

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:  # noqa: ARG002 - as above
        with self._lock:
            self._leases[tenant_id, delivery_id] = None

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        place = tenant_id, delivery_id
        with self._lock:
            held = self._leases.get(place)
            if held is not None and held.holder == holder:
                del self._leases[place]


@dataclass(slots=True)
class _Counted:
    window: DigestWindow
    total: int = 0
    names: Counter[str] = field(default_factory=Counter)
    is_closed: bool = False


class MemoryWindows:
    """Windows and positions, in dictionaries."""

    def __init__(self) -> None:
        self._windows: dict[tuple[TenantId, NotificationKind, datetime], _Counted] = {}
        self.places: dict[tuple[TenantId, str], DigestPosition] = {}
        self._lock = threading.Lock()

    def count(
        self,
        notification: Notification,
        window: DigestWindow,
        *,
        expires_at: datetime,  # noqa: ARG002 - memory ends first
    ) -> DigestPosition | None:
        mine = window.tenant_id, notification.id
        with self._lock:
            if mine in self.places:
                return self.places[mine]
            counted = self._windows.setdefault(_key(window), _Counted(window))
            if counted.is_closed:
                return None
            counted.total += 1
            counted.names[notification.about] += 1
            return self.places.setdefault(mine, DigestPosition(counted.window, counted.total))

    def close(self, window: DigestWindow) -> Digest | None:
        with self._lock:
            counted = self._windows.get(_key(window))
            if counted is None:
                return None
            counted.is_closed = True
            first = counted.window
            return Digest(
                tenant_id=first.tenant_id,
                kind=first.kind,
                since=first.since,
                until=first.until,
                total=counted.total,
                by_name=dict(counted.names),
            )


def _key(window: DigestWindow) -> tuple[TenantId, NotificationKind, datetime]:
    return window.tenant_id, window.kind, window.since


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
    return NotificationPorts(
        preferences=MemoryPreferences(),
        inbox=MemoryInbox(),
        deliveries=MemoryDeliveries(),
        windows=MemoryWindows(),
        timer=MemoryDigestTimer(clock),
        mailer=MemoryMailer(),
        topic=MemoryTopic(),
    )
