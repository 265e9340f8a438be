"""The interfaces to undelivered messages, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.events.publish import PublishedFact
    from duetime.model.action import ActionRef
    from duetime.model.change import Change
    from duetime.model.undelivered import Undelivered
    from duetime.ports.actions import ActionStore
    from duetime.ports.wakeups import DueQueues, EventBus, Routes


@dataclass(frozen=True, slots=True)
class UndeliveredPage:
    """One page of undelivered messages. `cursor` starts the next page; it is None on the last page."""

    things: tuple[Undelivered, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Undelivered]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self.things)


class UndeliveredStore(Protocol):
    """The undelivered messages of all tenants."""

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:
        """Add an undelivered message. If its id exists, count the same message once more.

        A repeat increases the count by one and replaces reason and `last_at`; all else stays. The back end
        may remove the message after `expires_at`. After a lost response, the count may be one too high.
        """

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        """Return a page of all messages, newest id first. The list may lag by a moment."""

    def get(self, undelivered_id: str) -> Undelivered | None:
        """Return the message by a consistent read, or None if there is none."""

    def remove(self, thing: Undelivered) -> bool:
        """Remove a message if its count is that of `thing`.

        If it was counted again since, it stays: return False.

        A missing message was removed by the first attempt of this call or by another caller: return True.
        """


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
