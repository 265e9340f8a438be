"""The interfaces to undelivered messages, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from duetime import instant
from duetime.errors import truncate
from duetime.ids import ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.model.undelivered import Undelivered, UndeliveredId, UndeliveredKind
from duetime.ports.keyed_items import (
    EXISTS,
    FLAG,
    INSTANT,
    NUMBER,
    TEXT,
    UNREADABLE,
    Fields,
    Keyed,
    Kind,
    Presence,
    Query,
    Write,
)

if TYPE_CHECKING:
    from duetime.events.publish import PublishedFact
    from duetime.model.change import Change
    from duetime.ports.action_store import ActionStore
    from duetime.ports.wakeups import DueQueues, EventBus, Routes


_FIRST = {"kind": TEXT, "source": TEXT, "body": TEXT, "is_cut": FLAG, "first_at": INSTANT}
UNDELIVERED = Kind(
    name="undelivered input",
    partition="system#undelivered",
    sort="id",
    fields={**_FIRST, "reason": TEXT, "last_at": INSTANT, "count": NUMBER},
    optional={"action_tenant": TEXT, "action_id": TEXT},
    guard=("count",),
    expires="retention",
    writers="`undelivered`, operators",
)


@dataclass(frozen=True, slots=True)
class UndeliveredPage:
    """One page of undelivered messages. `cursor` starts the next page; it is None on the last page."""

    things: tuple[Undelivered, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Undelivered]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self.things)


class UndeliveredStore(Keyed):
    """The undelivered messages of all tenants. One partition is enough, because they are rare."""

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:
        """Add an undelivered message. If its id exists, count the same message once more.

        A repeat increases the count by one and replaces reason and `last_at`; all else stays. The back end
        may remove the message after `expires_at`. After a lost response, the count may be one too high.
        """
        key, one = UNDELIVERED.key(thing.id), {"count": 1}
        latest = {"reason": thing.reason, "last_at": thing.last_at, "ttl": expires_at}
        further = Write(kind=UNDELIVERED, key=key, guard=EXISTS, sets=latest, adds=one)
        if not self._items.write(further).is_written:  # only the first write sends the body
            self._items.write(Write(kind=UNDELIVERED, key=key, sets=latest, first=_first(thing), adds=one))

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        """Return a page of all messages, newest id first. The list may lag by a moment."""
        place, size = UNDELIVERED.partition, limit + 1  # bodies may be long, so a page may need several reads
        query = Query(
            kind=UNDELIVERED,
            partition=place,
            before=cursor or "",
            limit=size,
            is_newest_first=True,
            may_lag=True,
        )
        found = list(islice(self._items.find(query, _or_its_damage), size))
        shown = tuple(found[:limit])
        return UndeliveredPage(shown, shown[-1].id if len(found) > limit else None)

    def get(self, undelivered_id: str) -> Undelivered | None:
        """Return the message by a consistent read, or None if there is none."""
        return self._items.get(UNDELIVERED, UNDELIVERED.key(undelivered_id), _or_its_damage)

    def remove(self, thing: Undelivered) -> bool:
        """Remove a message if its count is that of `thing`.

        If it was counted again since, it stays: return False.

        A missing message was removed by the first attempt of this call or by another caller: return True.
        """
        as_read = ({"pk": Presence.UNSET}, {"count": thing.count})
        key = UNDELIVERED.key(thing.id)
        return self._items.write(Write(kind=UNDELIVERED, key=key, guard=as_read, is_removal=True)).is_written


class BodyQueues(Protocol):
    """The queues, by names without the prefix: ``due-default``, ``notifications``, ``failures``."""

    def put(self, queue: str, body: str) -> None:
        """Send a body unchanged and without delay.

        Raises:
            BackendUnavailable: the body may not be sent. A repeat is safe.
            BackendMisconfigured: no queue has this name.
        """


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A part of a table's stream, from the first to the last record inclusive."""

    stream: str
    shard: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class RowRecord:
    """A record of the stream about a row."""

    number: str
    at: datetime
    ref: ActionRef
    change: Change | None
    """The change, or None if its images cannot be read."""


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A record of either table's stream."""

    number: str
    at: datetime
    subject: PublishedFact | None
    """The fact to publish; None if there is none, or if an image cannot be read."""


class ChangeStream(Protocol):
    """A table's stream, which retains a record for a day."""

    def read(self, batch: StreamBatch) -> Sequence[RowRecord] | None:
        """Return the records of a batch about rows, in order, or None if the first record is gone."""

    def read_all(self, batch: StreamBatch) -> Sequence[StreamRecord] | None:
        """Return all records of a batch of either table, in order, or None if the first record is gone."""


@dataclass(frozen=True, slots=True)
class UndeliveredPorts:
    """The interfaces that operators' calls need."""

    store: UndeliveredStore
    queues: BodyQueues


@dataclass(frozen=True, slots=True)
class UndeliveredHandlerPorts:
    """The interfaces that the handler of undelivered messages needs."""

    actions: ActionStore
    queues: DueQueues
    routes: Routes
    stream: ChangeStream
    undelivered: UndeliveredStore
    bodies: BodyQueues
    bus: EventBus


def to_undelivered(item: Fields) -> Undelivered:
    """Return the undelivered message of an item."""
    given, ref = UNDELIVERED.values(item), None
    tenant_id, action_id = given.pop("action_tenant"), given.pop("action_id")
    if action_id is not None:
        ref = ActionRef(TenantId(tenant_id), ActionId(action_id))
    given["kind"] = UndeliveredKind(given["kind"])
    return Undelivered(id=UndeliveredId(item["sk"]), action=ref, **given)


def _first(thing: Undelivered) -> Fields:
    first = {name: getattr(thing, name) for name in _FIRST}
    if thing.action is None:
        return first
    return {**first, "action_tenant": thing.action.tenant_id, "action_id": thing.action.id}


def _or_its_damage(item: Fields) -> Undelivered:
    """Return the message of an item; if the item is damaged, one that only describes the damage."""
    try:
        return to_undelivered(item)
    except UNREADABLE as error:
        return Undelivered(
            id=UndeliveredId(item["sk"]),
            kind=UndeliveredKind.PASS,
            source="undelivered",
            reason=f"the entry itself cannot be read: {type(error).__name__}: {truncate(error)}",
            body="",
            is_cut=True,
            first_at=instant.EARLIEST,
            last_at=instant.EARLIEST,
        )
