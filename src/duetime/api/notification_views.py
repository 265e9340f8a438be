"""What a client gets of notifications, and what it says of many."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from duetime.api.notification_access import Whose
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.views import Instant
from duetime.model.notification import NotificationKind, Severity
from duetime.ports.notifications import InboxEntry

MOST_READ = 100
"""Notifications that one call marks as read at most."""
LONGEST_LANGUAGE = 35
LANGUAGE = "such as `fr`: English where there are no words in it; as the preferences say, if left out"


class NotificationQuery(RequestBody):
    """Filters of notifications, and the language of their text."""

    scope: Whose = "tenant"
    """whose: the tenant's own, or, for operators, the deployment's"""
    unread: bool = False
    """only unread ones"""
    kind: NotificationKind | None = None
    """only those of this kind"""
    language: Annotated[str | None, Field(description=LANGUAGE, max_length=LONGEST_LANGUAGE)] = None
    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50
    cursor: str | None = None


class NotificationView(BaseModel):
    """A notification, in words and in facts."""

    id: str
    """``n.``, its time, and a hash."""
    kind: NotificationKind
    """What it says."""
    severity: Severity
    """How bad it is."""
    subject: str
    """In a few words."""
    text: str
    """In full, in plain text, with the commands for what to do next."""
    language: str
    """Which language the words are in: English where there are none in the language that was asked for."""
    at: Instant
    """The time of its event; of a digest, the end of its window."""
    facts: dict[str, Any]
    """The fields of its event's subject; of a digest ``total``, ``since``, ``until``, ``by_name``,
    ``others``."""
    is_digest: bool
    """Whether it stands for many of its kind."""
    read_at: Instant | None
    """When it was first marked as read; null while it is unread."""
    read_by: str | None
    """Who that was."""

    @classmethod
    def from_entry(cls, entry: InboxEntry, language: str) -> Self:
        """Return the view of the entry."""
        from duetime.notifications.mail import told_in, words_of  # noqa: PLC0415 - a cold start has no need of it

        notification = entry.notification
        subject, text = words_of(notification, language=language)
        return cls(
            id=entry.entry_id,
            kind=notification.kind,
            severity=notification.kind.severity,
            subject=subject,
            text=text,
            language=told_in(language),
            at=notification.at,
            facts=dict(notification.facts),
            is_digest=notification.is_digest,
            read_at=entry.read_at,
            read_by=entry.read_by,
        )


class NotificationList(BaseModel):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[NotificationView]
    """At most `limit`, the newest first."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""


class ReadMany(RequestBody):
    """Which are to be marked as read: all that are unread, if nothing is said."""

    kind: NotificationKind | None = None
    """only those of this kind"""
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST_READ)] = MOST_READ
    """how many at most"""
    cursor: str | None = None
    """`next_cursor` of the step before, with the same kind"""


class ManyRead(BaseModel):
    """What a step did; `next_cursor` is null after the last one."""

    read: int
    """How many were marked."""
    next_cursor: str | None
    """The cursor of the next step, where more may be left; null after the last one."""
