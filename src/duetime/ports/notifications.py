"""The interfaces for notifications, and the rules of preferences and lists.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR, TenantId
from duetime.model.notification import Channel, Notification, NotificationKind, is_entry_id
from duetime.model.preferences import Preferences
from duetime.ports.keyed_items import (
    EXISTS,
    FLAG,
    INSTANT,
    IS_NEW,
    JSON,
    NUMBER,
    TEXT,
    Fields,
    Form,
    Keyed,
    Kind,
    Presence,
    Query,
    Write,
)

if TYPE_CHECKING:
    from duetime.model.notification import DigestWindow
    from duetime.ports.deliveries import Deliveries, Windows

_KINDS, _CHANNELS = frozenset(NotificationKind), frozenset(Channel)
"""Unknown names, which another version of duetime wrote, are ignored."""
_QUERIES = 10
"""The limit of queries for a page: if most entries are of other kinds, the page is short."""


def _channels_text(channels: Mapping[NotificationKind, frozenset[Channel]]) -> str:
    return json.dumps({kind: sorted(chosen) for kind, chosen in channels.items()})


PREFERENCES = Kind(
    name="preferences",
    partition="{tenant}#preferences",
    sort="chosen",
    fields={
        "language": TEXT,
        "channels": Form("S", _channels_text, json.loads),
        **dict.fromkeys(("addresses", "admin_addresses"), JSON),
        "revision": NUMBER,
    },
    optional={"changed_at": INSTANT, "changed_by": TEXT},
    guard=("revision",),
    writers="admins",
)
INBOX = Kind(
    name="notification",
    partition="{tenant}#inbox",
    sort="id",
    fields={"id": TEXT, "kind": TEXT, "at": INSTANT, "facts": JSON, "is_digest": FLAG},
    optional={"read_at": INSTANT, "read_by": TEXT},
    expires="retention",
    writers="`notify`, readers",
)


class PreferencesStore(Keyed):
    """The tenants' preferences."""

    def get(self, tenant_id: TenantId) -> Preferences:
        """Return the preferences by a consistent read; the defaults with revision 0 if none are stored."""
        key = PREFERENCES.key("chosen", tenant=tenant_id)
        return self._items.get(PREFERENCES, key, _to_preferences) or Preferences(tenant_id=tenant_id)

    def put(self, chosen: Preferences) -> bool:
        """Replace the preferences if their revision is `chosen.revision`, and increase the revision by one.

        Return False if another caller changed them first. A repeat after a lost response returns True.
        """
        following = replace(chosen, revision=chosen.revision + 1)
        as_read = PREFERENCES.as_read(chosen) if chosen.revision else IS_NEW
        key, put = PREFERENCES.key("chosen", tenant=chosen.tenant_id), PREFERENCES.of(following)
        outcome = self._items.write(Write(kind=PREFERENCES, key=key, guard=as_read, put=put))
        return outcome.is_written or outcome.read(_to_preferences) == following


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxEntry:
    """A notification in a tenant's list."""

    notification: Notification
    entry_id: str
    """See `duetime.model.notification.Notification.entry_id`: entries sort by it, oldest first."""
    read_at: datetime | None = None
    read_by: str | None = None


@dataclass(frozen=True, slots=True)
class InboxPage:
    """One page of entries. `cursor` starts the next page; it is None on the last page."""

    entries: tuple[InboxEntry, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[InboxEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Inbox(Keyed):
    """Each tenant's list of notifications. The caller restricts it to the permitted `kinds`."""

    def add(self, notification: Notification, *, expires_at: datetime) -> None:
        """Add a notification to the list. An entry with its id stays as it is, read or unread."""
        key = INBOX.key(notification.entry_id, tenant=notification.tenant_id)
        fields = {name: getattr(notification, name) for name in INBOX.fields}
        self._items.write(Write(kind=INBOX, key=key, guard=IS_NEW, put={**fields, "ttl": expires_at}))

    def list(
        self,
        tenant_id: TenantId,
        *,
        kinds: frozenset[NotificationKind],
        is_unread: bool = False,
        limit: int,
        cursor: str | None,
    ) -> InboxPage:
        """Return a page of these kinds, newest first. A short page need not be the last.

        Raises:
            InvalidCursor: the cursor is not from this tenant's list.
        """
        if cursor is not None and not is_entry_id(cursor):
            raise InvalidCursor
        unread = {"read_at": Presence.UNSET} if is_unread else {}
        where = tuple({"kind": kind, **unread} for kind in sorted(kinds))
        if not where:
            return InboxPage((), None)
        found, before = list[InboxEntry](), cursor
        for _ in range(_QUERIES):
            newest = Query(
                kind=INBOX,
                partition=INBOX.key("", tenant=tenant_id).partition,
                before=before or "~",
                where=where,
                is_newest_first=True,
                limit=limit - len(found),
            )
            page = self._items.page(newest, partial(_to_entry, tenant_id))
            found += page.found
            before = page.cursor
            if before is None or len(found) == limit:
                break
        return InboxPage(tuple(found), before)

    def get(self, tenant_id: TenantId, entry_id: str) -> InboxEntry | None:
        """Return the current entry, or None if there is none."""
        if not is_entry_id(entry_id):
            return None
        return self._items.get(INBOX, INBOX.key(entry_id, tenant=tenant_id), partial(_to_entry, tenant_id))

    def mark_read(self, tenant_id: TenantId, entry_id: str, *, by: str, at: datetime) -> bool:
        """Store the first reader of an entry.

        Return False if there is no such entry. Later readers change nothing.
        """
        if not is_entry_id(entry_id):
            return False
        key, reader = INBOX.key(entry_id, tenant=tenant_id), {"read_at": at, "read_by": by}
        return self._items.write(Write(kind=INBOX, key=key, guard=EXISTS, first=reader)).is_written


@dataclass(frozen=True, slots=True)
class InboxPorts:
    """The interfaces to list notifications and to change preferences."""

    preferences: PreferencesStore
    inbox: Inbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail to one address, which the mail service renders."""

    address: str
    template: str
    """The name of a template that a deploy created."""
    data: Mapping[str, str]
    """The values of the template's variables."""


class Mailer(Protocol):
    """The mail service."""

    def send(self, mail: Mail) -> None:
        """Send the mail.

        Raises:
            BackendUnavailable: the mail may not be sent. A repeat is allowed.
            BackendMisconfigured: the mail was not sent. An operator must correct the deployment.
            DeliveryRejected: the service does not accept the address or the content.
        """


class Topic(Protocol):
    """The deployment's topic."""

    def publish(self, subject: str, message: str, attributes: Mapping[str, str]) -> None:
        """Publish a message. `subject` has at most 99 printable ASCII characters.

        Raises:
            BackendUnavailable: as above.
            BackendMisconfigured: as above.
            DeliveryRejected: as above.
        """


class DigestTimer(Protocol):
    """Requests a digest at the end of its window."""

    def at_end_of(self, window: DigestWindow, *, delay: int) -> None:
        """Request the window's digest in `delay` seconds, 900 at most. Repeats are harmless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationPorts:
    """The interfaces that the step needs."""

    preferences: PreferencesStore
    inbox: Inbox
    deliveries: Deliveries
    windows: Windows
    timer: DigestTimer
    mailer: Mailer | None
    """None if the deployment has no sender's address."""
    topic: Topic | None
    """None if the deployment has no topic."""


def _to_preferences(item: Fields) -> Preferences:
    given = PREFERENCES.values(item)
    channels = {
        NotificationKind(kind): frozenset(Channel(name) for name in chosen if name in _CHANNELS)
        for kind, chosen in given.pop("channels").items()
        if kind in _KINDS
    }
    given |= {name: tuple(given[name]) for name in ("addresses", "admin_addresses")}
    tenant_id = TenantId(item["pk"].partition(SEPARATOR)[0])
    return Preferences(tenant_id=tenant_id, channels=channels, **given)


def _to_entry(tenant_id: TenantId, item: Fields) -> InboxEntry:
    given = INBOX.values(item)
    read = {name: given.pop(name) for name in INBOX.optional}
    notification = Notification(tenant_id=tenant_id, **given | {"kind": NotificationKind(given["kind"])})
    return InboxEntry(notification=notification, entry_id=item["sk"], **read)
