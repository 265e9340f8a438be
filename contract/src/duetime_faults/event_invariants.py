"""The invariants of events and notifications: none is lost, and few are repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duetime.model.notification import Channel, Notification, NotificationKind
from duetime.ports.deliveries import Windows
from duetime.ports.notifications import Inbox, Mail, PreferencesStore

_ALL = frozenset(NotificationKind)
_MOST = 100_000
_LATE = timedelta(minutes=2)
"""More than the delay of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was published, counted and sent, after all messages were handled.

    Attributes:
        unpublished: the ids of missing events.
        notifications: those that the events make.
        preferences: the tenants' choices, which did not change.
        windows: the counts.
        inbox: the lists.
        mails: the sent mails; each has its notification's id.
        messages: the notification's id of each message of the topic.
        most_alone: how many of a window are sent one by one, at most.
        faults: how many faults the processes of notify met.
        now: windows that are over by then, but for `_LATE`, have their digests.
    """

    unpublished: Collection[str]
    notifications: Sequence[Notification]
    preferences: PreferencesStore
    windows: Windows
    inbox: Inbox
    mails: Sequence[Mail]
    messages: Sequence[str]
    most_alone: int
    faults: int
    now: datetime


def broken_in(outcome: Outcome) -> Iterator[str]:
    """Yield a line for each broken invariant."""
    yield from (f"{event_id} is not published (invariant 10)" for event_id in sorted(outcome.unpublished))
    listed = {item.id: item for item in _listed(outcome)}
    for item in outcome.notifications:
        if item.id not in listed and _channels(outcome, item):
            yield from _missing_in_digest(outcome, item, listed)
    yield from _too_many(outcome, listed.values())
    yield from _unsent(outcome, listed.values())


def _channels(outcome: Outcome, item: Notification) -> frozenset[Channel]:
    return outcome.preferences.get(item.tenant_id).channels_for(item.kind)


def _listed(outcome: Outcome) -> Iterator[Notification]:
    for tenant_id in {item.tenant_id for item in outcome.notifications}:
        page = outcome.inbox.list(tenant_id, kinds=_ALL, limit=_MOST, cursor=None)
        yield from (entry.notification for entry in page)


def _missing_in_digest(
    outcome: Outcome, item: Notification, listed: dict[str, Notification]
) -> Iterator[str]:
    """Yield a line if no digest counts a notification that was not sent by itself."""
    place = outcome.windows.position_of(item.tenant_id, item.kind, item.id)
    if place is None:
        yield f"{item.id} is neither sent nor counted (invariant 11)"
        return
    if place.window.until + _LATE > outcome.now:
        return
    digest = outcome.windows.close(place.window)
    sent = None if digest is None else listed.get(digest.notification().id)
    if digest is None or sent is None:
        yield f"{item.id} is number {place.number} of a window without a digest (invariant 11)"
    elif sent.facts["total"] != digest.total:
        yield f"{sent.id} reports {sent.facts['total']} of {digest.total} (invariant 11)"


def _too_many(outcome: Outcome, listed: Collection[Notification]) -> Iterator[str]:
    """Yield a line for each window of which too many were sent one by one."""
    alone: Counter[tuple[str, str, datetime]] = Counter()
    for item in listed:
        place = outcome.windows.position_of(item.tenant_id, item.kind, item.id)
        if place is not None:
            alone[item.tenant_id, item.kind, place.window.since] += 1
    for (tenant_id, kind, since), number in alone.items():
        if number > outcome.most_alone:
            yield f"{number} of {kind} for {tenant_id} since {since:%H:%M:%S} are sent alone (invariant 12)"


def _unsent(outcome: Outcome, listed: Collection[Notification]) -> Iterator[str]:
    """Yield a line for each notification that a channel lacks, and if too many were sent again."""
    mails = Counter((mail.data["id"], mail.address) for mail in outcome.mails)
    messages = Counter(outcome.messages)
    for item in listed:
        channels, chosen = _channels(outcome, item), outcome.preferences.get(item.tenant_id)
        if Channel.EMAIL in channels:
            for address in chosen.addresses_for(item.kind):
                if not mails[item.id, address]:
                    yield f"{item.id} is not sent to {address} (invariant 11)"
        if Channel.SNS in channels and not messages[item.id]:
            yield f"{item.id} is not on the topic (invariant 11)"
    repeated = sum(number - 1 for sent in (mails, messages) for number in sent.values() if number)
    if repeated > outcome.faults:
        yield f"{repeated} are sent again, after {outcome.faults} faults of notify (invariant 12)"
