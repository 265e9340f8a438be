"""What salvage and its operators need of the world, written as a specification; the rules are those of `duetime.ports.wakeups`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from duetime.model.action import ActionRef
from duetime.model.change import Change
from duetime.model.undelivered import Undelivered
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import DueQueues, EventBus, Routes

if TYPE_CHECKING:
    from duetime.events.publish import Told


@dataclass(frozen=True, slots=True)
class UndeliveredPage:
    """Some of what is undelivered, and where the next page begins; `cursor` is None on the last one."""

    things: tuple[Undelivered, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Undelivered]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self.things)


class UndeliveredStore(Protocol):
    """What is undelivered, of all tenants."""

    def keep(self, thing: Undelivered, *, expires_at: datetime) -> None:
        """Add a thing; if there is one with this id, it is the same one, kept once more.

        Then its count goes up by one, its reason and `last_at` are those of `thing`, and all else stays as it was. It may
        be removed once `expires_at` has passed. After a lost answer it may count once too often.
        """
        ...

    def list(self, *, limit: int, cursor: str | None) -> UndeliveredPage:
        """A page of all, the newest id first. May lag behind by a moment."""
        ...

    def get(self, undelivered_id: str) -> Undelivered | None:
        """The thing as of now (a consistent read); None if there is none."""
        ...

    def remove(self, thing: Undelivered) -> bool:
        """Forget a thing, if its count is that of `thing`; False if it was kept once more since then, and stays.

        One that is not there was removed by this call's first try, or by somebody else: True.
        """
        ...


class BodyQueues(Protocol):
    """The queues by their names without the prefix: ``due-default``, ``notifications``, ``failures``."""

    def put(self, queue: str, body: str) -> None:
        """Send a body as it is, to be received at once.

        Raises:
            BackendUnavailable: it may not have been sent; sending it again is safe.
            BackendMisconfigured: there is no such queue.
        """
        ...


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A part of a table's stream: from a record to another, both included."""

    stream: str
    shard: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class RowRecord:
    """A record of the stream that speaks of a row."""

    number: str
    at: datetime
    ref: ActionRef
    change: Change | None
    """None if its images cannot be read."""


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """A record of either table's stream."""

    number: str
    at: datetime
    subject: Told | None
    """The fact to publish; None if there is none, or if an image cannot be read."""


class ChangeStream(Protocol):
    """A table's stream, which keeps a record for a day."""

    def read(self, batch: StreamBatch) -> Sequence[RowRecord] | None:
        """The records of a batch that speak of rows, in order; None if the first is no longer there."""
        ...

    def read_all(self, batch: StreamBatch) -> Sequence[StreamRecord] | None:
        """The records of a batch of either table, in order; None if the first is no longer there."""
        ...


@dataclass(frozen=True, slots=True)
class UndeliveredPorts:
    """What operators' calls need."""

    store: UndeliveredStore
    queues: BodyQueues


@dataclass(frozen=True, slots=True)
class UndeliveredHandlerPorts:
    """What salvage needs."""

    actions: ActionStore
    queues: DueQueues
    routes: Routes
    stream: ChangeStream
    undelivered: UndeliveredStore
    bodies: BodyQueues
    bus: EventBus
