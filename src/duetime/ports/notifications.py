"""What notifications need of the world, written as a specification; the rules are those of `duetime.ports.wakeups`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from duetime.ids import TenantId
from duetime.model.notification import Digest, DigestWindow, Notification, NotificationKind
from duetime.model.preferences import Preferences


class PreferencesStore(Protocol):
    """What tenants have chosen."""

    def get(self, tenant_id: TenantId) -> Preferences:
        """What stands now (a consistent read); the defaults, with revision 0, where nobody ever chose."""
        ...

    def put(self, chosen: Preferences) -> bool:
        """Replace what stands, if its revision is `chosen.revision`; it is one more then.

        False if somebody else changed it meanwhile. A repeat after a lost answer is True.
        """
        ...


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
    """Some entries, and where the next page begins; `cursor` is None on the last one."""

    entries: tuple[InboxEntry, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[InboxEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Inbox(Protocol):
    """Each tenant's list of notifications. Who may see those for admins is the caller's to decide, by `kinds`."""

    def add(self, notification: Notification, *, expires_at: datetime) -> None:
        """Put it in the list; one that is there already, by its id, stays as it is, read or unread."""
        ...

    def list(
        self,
        tenant_id: TenantId,
        *,
        kinds: frozenset[NotificationKind],
        is_unread: bool = False,
        limit: int,
        cursor: str | None,
    ) -> InboxPage:
        """A page of those kinds, the newest first. A page may be short, and not the last.

        Raises:
            InvalidCursor: the cursor is none that this list gave this tenant.
        """
        ...

    def get(self, tenant_id: TenantId, entry_id: str) -> InboxEntry | None:
        """The entry as of now; None if there is none."""
        ...

    def mark_read(self, tenant_id: TenantId, entry_id: str, *, by: str, at: datetime) -> bool:
        """Note who read it first; False if there is no such entry. One that was read stays as it was."""
        ...


@dataclass(frozen=True, slots=True)
class InboxPorts:
    """What showing notifications, and choosing among them, needs."""

    preferences: PreferencesStore
    inbox: Inbox


class SendPermit(StrEnum):
    """What came of asking to send."""

    YES = "yes"
    HELD = "held"
    """Another is sending it, and its lease has not ended."""
    SENT = "sent"


class Deliveries(Protocol):
    """What was sent to whom: a notification, in one channel, to one address, is sent once.

    Where it may have been sent and nobody noted it, it is sent again: when a process dies in between, or no answer came.
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
        """Take the lease to send it until `until`, unless it was sent, or another holds a lease after `now`.

        The same holder may repeat it.
        """
        ...

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:
        """It was sent, or never will be: nobody sends it again, whoever holds the lease."""
        ...

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        """It was not sent, and may be tried again at once; nothing happens if `holder` has the lease no more."""
        ...


@dataclass(frozen=True, slots=True)
class DigestPosition:
    """Which one of its window a notification is, from 1."""

    window: DigestWindow
    number: int


class Windows(Protocol):
    """How many of a kind a tenant had within a while: beyond a few, they are told together."""

    def count(
        self, notification: Notification, window: DigestWindow, *, expires_at: datetime
    ) -> DigestPosition | None:
        """Count it; the same again has the place, and the window, that it had first, whichever window it is asked for.

        None if the window was closed, and it has no place yet: it belongs to a later one.
        """
        ...

    def close(self, window: DigestWindow) -> Digest | None:
        """What the window has counted; from now on it counts nothing. None if it never did.

        It may be closed again: the digest is the same.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail to one address, as the mail service renders it."""

    address: str
    template: str
    """The name of a template that a deploy made."""
    data: Mapping[str, str]
    """What the template's variables stand for."""


class Mailer(Protocol):
    """The mail service."""

    def send(self, mail: Mail) -> None:
        """Send it.

        Raises:
            BackendUnavailable: it may not have been sent; it may be tried again.
            BackendMisconfigured: it was not sent, and will not be until somebody mends the deployment.
            DeliveryRefused: it never will be: its address is not accepted, or what it says.
        """
        ...


class Topic(Protocol):
    """The deployment's topic."""

    def publish(self, subject: str, message: str, attributes: Mapping[str, str]) -> None:
        """Publish a message; `subject` has at most 99 printable characters of ASCII.

        Raises:
            BackendUnavailable: as above.
            BackendMisconfigured: as above.
            DeliveryRefused: as above.
        """
        ...


class DigestTimer(Protocol):
    """Has a digest told when its window is over."""

    def at_end_of(self, window: DigestWindow, *, delay: int) -> None:
        """Have the window's digest told in `delay` seconds, 900 at most; more than once does no harm."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationPorts:
    """What the step needs."""

    preferences: PreferencesStore
    inbox: Inbox
    deliveries: Deliveries
    windows: Windows
    timer: DigestTimer
    mailer: Mailer | None
    """None where the deployment has no sender's address."""
    topic: Topic | None
    """None where it has no topic."""
