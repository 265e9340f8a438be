"""The interfaces for notifications, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.notification import Digest, DigestWindow, Notification, NotificationKind
    from duetime.model.preferences import Preferences


class PreferencesStore(Protocol):
    """The tenants' preferences."""

    def get(self, tenant_id: TenantId) -> Preferences:
        """Return the preferences by a consistent read; the defaults with revision 0 if none are stored."""

    def put(self, chosen: Preferences) -> bool:
        """Replace the preferences if their revision is `chosen.revision`, and increase the revision by one.

        Return False if another caller changed them first. A repeat after a lost response returns True.
        """


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


class Inbox(Protocol):
    """Each tenant's list of notifications. The caller restricts it to the permitted `kinds`."""

    def add(self, notification: Notification, *, expires_at: datetime) -> None:
        """Add a notification to the list. An entry with its id stays as it is, read or unread."""

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

    def get(self, tenant_id: TenantId, entry_id: str) -> InboxEntry | None:
        """Return the current entry, or None if there is none."""

    def mark_read(self, tenant_id: TenantId, entry_id: str, *, by: str, at: datetime) -> bool:
        """Store the first reader of an entry.

        Return False if there is no such entry. Later readers change nothing.
        """


@dataclass(frozen=True, slots=True)
class InboxPorts:
    """The interfaces to list notifications and to change preferences."""

    preferences: PreferencesStore
    inbox: Inbox


class SendPermit(StrEnum):
    """The result of a request to send."""

    YES = "yes"
    HELD = "held"
    """Another process sends it under a live lease."""
    SENT = "sent"


class Deliveries(Protocol):
    """The sent deliveries: a notification is sent once for each channel and address.

    If a process dies between the send and `end`, or a response is lost, the notification is sent again.
    """

    def begin(
        self,
        tenant_id: TenantId,
        delivery_id: str,
        *,
        holder: str,
        now: datetime,
        until: datetime,
        expires_at: datetime,
    ) -> SendPermit:
        """Take the lease for a delivery until `until`, unless it was sent or another lease ends after `now`.

        The same holder may repeat the call.
        """

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:
        """Mark a delivery as sent or finally rejected. It is not sent again, whatever lease exists."""

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        """Release the lease of an unsent delivery, for an immediate new attempt.

        Ignore other holders' leases.
        """


@dataclass(frozen=True, slots=True)
class DigestPosition:
    """The number of a notification in its window, from 1."""

    window: DigestWindow
    number: int


class Windows(Protocol):
    """Counts of a tenant's notifications by kind and window. After the first few, a digest reports them."""

    def count(
        self, notification: Notification, window: DigestWindow, *, expires_at: datetime
    ) -> DigestPosition | None:
        """Count a notification. A repeat returns its first position and window, whatever `window` it passes.

        The returned window has the end and the burst of its first notification.
        Return None if the window is closed and the notification has no position: it belongs to a later
        window.
        """

    def close(self, window: DigestWindow) -> Digest | None:
        """Close the window and return its counts, or None if it counted nothing.

        A repeat returns the same digest.
        """


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
