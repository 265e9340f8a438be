"""The routes of notifications: list them, look at one, mark some or all as read.

=============================  ====================================================
a notification                 needs the permission
=============================  ====================================================
of an action                   ``actions:read``
of a job                       ``jobs:read``
for the tenant's admins        ``admin``
of the deployment's own list   ``system``
=============================  ====================================================

The deployment's own list is that of the tenant ``system``, which owns code's jobs and the undelivered inputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.authenticator import Caller, require
from duetime.api.context import NOTIFICATIONS, caller_at
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import Instant, PageView, View
from duetime.errors import Forbidden, NotFound
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditKind
from duetime.model.notification import NotificationKind, Severity
from duetime.model.permissions import Permission
from duetime.ports.notifications import InboxEntry

READ = (Permission.READ_ACTIONS, Permission.READ_JOBS)
MANAGE = (Permission.MANAGE_ACTIONS, Permission.MANAGE_JOBS)
"""Either lets one in; what is seen or changed is decided here, kind by kind."""

Whose = Literal["tenant", "system"]
Scope = Annotated[Whose, Query(description="the tenant's own, or, for operators, the deployment's")]

MOST_READ = 100
"""Notifications that one call marks as read at most."""
_STEPS = 5
"""Pages that a call of many looks through at most, each of which may be short."""

LONGEST_LANGUAGE = 35
LANGUAGE = "such as `fr`: English where there are no words in it; as the preferences say, if left out"


def whose(caller: Caller, scope: str) -> TenantId:
    """The tenant that a caller means.

    Raises:
        Forbidden: it is ``system``, and the caller may not see that.
    """
    if scope != SYSTEM_TENANT:
        return caller.tenant_id
    if Permission.SYSTEM not in caller.permissions:
        raise Forbidden("the list and the preferences of the tenant system are for operators only")
    return SYSTEM_TENANT


def readers(kind: NotificationKind, owner: TenantId) -> Permission:
    """The permission to see notifications of a kind in the list of `owner`."""
    if owner == SYSTEM_TENANT:
        return Permission.SYSTEM
    if kind.is_for_admins:
        return Permission.TENANT_ADMIN
    return Permission.READ_JOBS if kind.startswith("jobs.") else Permission.READ_ACTIONS


def seen_by(
    caller: Caller, owner: TenantId, requested: NotificationKind | None = None
) -> frozenset[NotificationKind]:
    """The kinds that a caller sees in that list; of these the requested one, if one is.

    Raises:
        Forbidden: the caller may not see the requested kind.
    """
    if requested is not None:
        require(caller, readers(requested, owner), what=f"seeing {requested}")
        return frozenset({requested})
    return frozenset(kind for kind in NotificationKind if readers(kind, owner) in caller.permissions)


def admin_of(owner: TenantId) -> Permission:
    """Return the permission to read and change the settings for the owner's admins."""
    return Permission.SYSTEM if owner == SYSTEM_TENANT else Permission.TENANT_ADMIN


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


class NotificationView(View):
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
    """Which language the words are in: English where there are none in the requested language."""
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


class NotificationList(PageView):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[NotificationView]
    """At most `limit`, the newest first."""


class ReadMany(RequestBody):
    """Which are to be marked as read: by default all that are unread."""

    ids: Annotated[list[str] | None, Field(min_length=1, max_length=MOST_READ)] = None
    """these, in place of the unread ones"""
    kind: NotificationKind | None = None
    """only those of this kind"""
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST_READ)] = MOST_READ
    """how many at most"""
    cursor: str | None = None
    """`next_cursor` of the step before, with the same kind"""


class ManyRead(View):
    """What a step did; `next_cursor` is null after the last one."""

    read: int
    """How many were marked."""
    next_cursor: str | None
    """The cursor of the next step, where more may be left; null after the last one."""


class NotificationRoutes(RouteGroup):
    """The caller's tenant's list over HTTP; for operators, the deployment's own as well."""

    tag = "notifications"

    @route("listNotifications", "GET", NOTIFICATIONS, *READ)
    def list(self, query: Annotated[NotificationQuery, Query()], request: Request) -> NotificationList:
        """A page of those that the caller may see, the newest first.

        It may be shorter than `limit`, or empty, while `next_cursor` leads on to more.
        """
        caller, inbox = caller_at(request), self.api.notified.inbox
        owner = whose(caller, query.scope)
        page = inbox.list(
            owner,
            kinds=seen_by(caller, owner, query.kind),
            is_unread=query.unread,
            limit=query.limit,
            cursor=query.cursor,
        )
        language = self._language(owner, query.language)
        items = [_view(entry, language) for entry in page]
        return NotificationList(items=items, next_cursor=page.cursor)

    @route("getNotification", "GET", f"{NOTIFICATIONS}/<notification_id>", *READ)
    def get(
        self,
        notification_id: str,
        request: Request,
        scope: Scope = "tenant",
        language: Annotated[str | None, Query(description=LANGUAGE, max_length=LONGEST_LANGUAGE)] = None,
    ) -> NotificationView:
        """The notification as of now."""
        owner = whose(caller_at(request), scope)
        return _view(self._seen(request, owner, notification_id), self._language(owner, language))

    @route(
        "readNotifications",
        "POST",
        f"{NOTIFICATIONS}/read",
        *READ,
        operation=Operation("read", AuditKind.NOTIFICATION),
        has_ids=True,
    )
    def read(
        self,
        request: Request,
        body: Annotated[ReadMany | None, Body()] = None,
        scope: Scope = "tenant",
    ) -> ManyRead:
        """Mark those of the ids as read, or the unread ones, the newest first: call again with `next_cursor`.

        One that was read stays as it was. An unknown id marks none.
        """
        selection = body or ReadMany()
        caller, inbox = caller_at(request), self.api.notified.inbox
        owner, now = whose(caller, scope), self.api.clock.now()

        def mark(entries: Iterable[InboxEntry]) -> int:
            return sum(inbox.mark_read(owner, one.entry_id, by=caller.actor, at=now) for one in entries)

        if selection.ids is not None:
            return ManyRead(
                read=mark([self._seen(request, owner, one) for one in selection.ids]), next_cursor=None
            )
        kinds, cursor, count = seen_by(caller, owner, selection.kind), selection.cursor, 0
        for _ in range(_STEPS):
            page = inbox.list(
                owner, kinds=kinds, is_unread=True, limit=selection.limit - count, cursor=cursor
            )
            count += mark(page)
            cursor = page.cursor
            if cursor is None or count >= selection.limit:
                break
        return ManyRead(read=count, next_cursor=cursor)

    def _seen(self, request: Request, owner: TenantId, notification_id: str) -> InboxEntry:
        """One that the caller may see; what another one may see is not there, either."""
        entry = self.api.notified.inbox.get(owner, notification_id)
        if entry is None or entry.notification.kind not in seen_by(caller_at(request), owner):
            raise NotFound("notification", notification_id)
        return entry

    def _language(self, owner: TenantId, language: str | None) -> str:
        return language or self.api.notified.preferences.get(owner).language


def _view(entry: InboxEntry, language: str) -> NotificationView:
    from duetime.notifications.mail import mail_language, words_of  # noqa: PLC0415 - rarely used

    notification = entry.notification
    subject, text = words_of(notification, language=language)
    return NotificationView.of(
        entry,
        notification,
        id=entry.entry_id,
        severity=notification.kind.severity,
        subject=subject,
        text=text,
        language=mail_language(language),
    )
