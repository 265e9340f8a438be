"""The records of deliveries, and the counts of a tenant's notifications by kind and window.

The record of a delivery has the lease of the sender, or the mark that it was sent. It contains no address.
All windows of a kind are in one partition:

========================================  ==================================================================
sort key                                  holds
========================================  ==================================================================
``place#`` and a hash                     a notification's position, and its window
the window's begin                        the count, and whether the window is closed
the window's begin, ``#name#``, a name    the count of this job or type
========================================  ==================================================================

::

    count   no place yet; the window is open, and counts as many as were seen -> place; window + 1; name + 1
    close   the window is there                                               -> closed

If the window counts more than the caller read, the caller tries again with the new count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from hashlib import sha256

from duetime import instant
from duetime.errors import BackendUnavailable
from duetime.ids import SEPARATOR, TenantId
from duetime.model.notification import Digest, DigestWindow, Notification, NotificationKind
from duetime.ports.keyed_items import (
    EXISTS,
    FLAG,
    INSTANT,
    IS_NEW,
    NUMBER,
    TEXT,
    AtMost,
    Cancelled,
    Fields,
    Guard,
    Key,
    Keyed,
    Kind,
    Presence,
    Query,
    Write,
    pause,
)

DELIVERY = Kind(
    name="delivery",
    partition="{tenant}#notified#deliveries",
    sort="hash",
    guard=("sent", "holder", "lease_until"),
    optional={"holder": TEXT, "lease_until": INSTANT, "sent": FLAG},
    expires="retention",
    writers="`notify`",
)
WINDOW = Kind(
    name="window",
    partition="{tenant}#notified#{kind}",
    sort="begin",
    optional={
        **dict.fromkeys(("number", "burst", "total"), NUMBER),
        **dict.fromkeys(("since", "until"), INSTANT),
        "closed": FLAG,
    },
    guard=("total", "closed"),
    expires="retention",
    writers="`notify`",
)
_POSITION, _WINDOW = 0, 1
"""The positions of the writes that count."""
_RACES = 60
"""Another caller has won each lost race; a race takes some ten milliseconds."""
_LONGEST_PAUSE = 1
"""The exponent of the longest pause, at most 40 ms: a longer pause would lose to newer callers."""
_NAME_LIMIT = 200


class SendPermit(StrEnum):
    """The result of a request to send."""

    YES = "yes"
    HELD = "held"
    """Another process sends it under a live lease."""
    SENT = "sent"


class Deliveries(Keyed):
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
        me, place = {"sent": Presence.UNSET, "holder": holder}, _delivery_key(tenant_id, delivery_id)
        is_over = {"sent": Presence.UNSET, "lease_until": AtMost(now)}
        sets = {"holder": holder, "lease_until": until, "ttl": expires_at}
        take = Write(kind=DELIVERY, key=place, guard=(*IS_NEW, me, is_over), sets=sets)
        outcome = self._items.write(take)
        if outcome.is_written:
            return SendPermit.YES
        return SendPermit.SENT if "sent" in outcome.items[0] else SendPermit.HELD

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:
        """Mark a delivery as sent or finally rejected. It is not sent again, whatever lease exists."""
        put = {"sent": True, "ttl": expires_at}
        self._items.write(Write(kind=DELIVERY, key=_delivery_key(tenant_id, delivery_id), put=put))

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        """Release the lease of an unsent delivery, for an immediate new attempt.

        Ignore other holders' leases.
        """
        mine, place = {"sent": Presence.UNSET, "holder": holder}, _delivery_key(tenant_id, delivery_id)
        self._items.write(Write(kind=DELIVERY, key=place, guard=(mine,), is_removal=True))


@dataclass(frozen=True, slots=True)
class DigestPosition:
    """The number of a notification in its window, from 1."""

    window: DigestWindow
    number: int


class Windows(Keyed):
    """Counts of a tenant's notifications by kind and window. After the first few, a digest reports them."""

    def count(
        self, notification: Notification, window: DigestWindow, *, expires_at: datetime
    ) -> DigestPosition | None:
        """Count a notification. A repeat returns its first position and window, whatever `window` it passes.

        The returned window has the end and the burst of its first notification.
        Return None if the window is closed and the notification has no position: it belongs to a later
        window.
        """
        read = partial(_to_count, window)
        counted = self._counted(window)
        for attempt in range(_RACES):
            if counted.is_closed:
                return self.position_of(window.tenant_id, window.kind, notification.id)
            position = DigestPosition(counted.window, counted.total + 1)
            try:
                outcome = self._items.write(*_counting(notification, position, expires_at), tries=1)
            except Cancelled:
                pause(min(attempt, _LONGEST_PAUSE))
                counted = self._counted(window)
                continue
            if outcome.is_written:
                return position
            if _POSITION in outcome.items:
                return outcome.read(partial(_to_position, window.tenant_id, window.kind), _POSITION)
            counted = outcome.read(read, _WINDOW) or _Counted(window)
            pause(min(attempt, _LONGEST_PAUSE))
        raise BackendUnavailable(
            "the windows", f"that of {window.kind} changed during each of {_RACES} attempts"
        )

    def position_of(
        self, tenant_id: TenantId, kind: NotificationKind, notification_id: str
    ) -> DigestPosition | None:
        """Return the position of a notification; None if it was not counted."""
        key = _position_key(tenant_id, kind, notification_id)
        return self._items.get(WINDOW, key, partial(_to_position, tenant_id, kind))

    def _counted(self, window: DigestWindow) -> _Counted:
        return self._items.get(WINDOW, _window_key(window), partial(_to_count, window)) or _Counted(window)

    def close(self, window: DigestWindow) -> Digest | None:
        """Close the window and return its counts, or None if it counted nothing.

        A repeat returns the same digest.
        """
        closing = Write(kind=WINDOW, key=_window_key(window), guard=EXISTS, sets={"closed": True})
        outcome = self._items.write(closing)
        closed = outcome.read(partial(_to_count, window))
        if not outcome.is_written or closed is None:
            return None
        place, begin = _window_key(window, _name_mark(""))
        names = self._items.find(  # final, because a closed window counts no more
            Query(kind=WINDOW, partition=place, begin=begin),
            lambda item: (item["sk"].removeprefix(begin), item.get("total") or 0),
        )
        return Digest(
            tenant_id=window.tenant_id,
            kind=window.kind,
            since=window.since,
            until=closed.window.until,
            total=closed.total,
            by_name=dict(names),
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    """What the item of a window has, with the end and the burst that its first notification set."""

    window: DigestWindow
    total: int = 0
    is_closed: bool = False


def _counting(notification: Notification, position: DigestPosition, expires_at: datetime) -> Sequence[Write]:
    window, one, ttl = position.window, {"total": 1}, {"ttl": expires_at}
    begun = {"until": window.until, "burst": window.burst, **ttl}
    seen: Guard = IS_NEW
    if position.number > 1:
        seen = ({"total": position.number - 1, "closed": Presence.UNSET},)
    key = _position_key(window.tenant_id, window.kind, notification.id)
    mark = {"number": position.number, "since": window.since, **begun}
    name = _window_key(window, _name_mark(notification.about))
    return (
        Write(kind=WINDOW, key=key, guard=IS_NEW, put=mark),
        Write(kind=WINDOW, key=_window_key(window), guard=seen, sets=begun, adds=one),
        Write(kind=WINDOW, key=name, sets=ttl, adds=one),
    )


def _delivery_key(tenant_id: TenantId, delivery_id: str) -> Key:
    return DELIVERY.key(sha256(delivery_id.encode()).hexdigest(), tenant=tenant_id)


def _window_key(window: DigestWindow, of: str = "") -> Key:
    return WINDOW.key(f"{instant.text(window.since)}{of}", tenant=window.tenant_id, kind=window.kind)


def _name_mark(name: str) -> str:
    return f"{SEPARATOR}name{SEPARATOR}{name[:_NAME_LIMIT]}"


def _position_key(tenant_id: TenantId, kind: NotificationKind, notification_id: str) -> Key:
    digest = sha256(notification_id.encode()).hexdigest()
    return WINDOW.key(f"place{SEPARATOR}{digest}", tenant=tenant_id, kind=kind)


def _to_position(tenant_id: TenantId, kind: NotificationKind, item: Fields) -> DigestPosition:
    since, until, burst = item["since"], item["until"], item["burst"]
    return DigestPosition(DigestWindow(tenant_id, kind, since, until, burst), item["number"])


def _to_count(window: DigestWindow, item: Fields) -> _Counted:
    begun = replace(window, until=item["until"], burst=item["burst"])
    return _Counted(begun, item.get("total") or 0, "closed" in item)
