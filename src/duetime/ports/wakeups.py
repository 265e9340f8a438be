"""The interfaces that wake the steps, written as a specification. `duetime.ports.actions` specifies the rows.

Each back end (``memory``, ``aws``, or your own) obeys every sentence of the modules in `duetime.ports`. The
suite in
``duetime_contract`` checks them. These rules apply to all methods:

- Instants are aware and in UTC.
- A method that changes a row is one atomic, conditional write. If the condition fails, nothing changes.
- A method may be repeated after a lost response. It then reports the result of its first attempt.
- Every method may raise `BackendUnavailable`; a caller further out repeats the work.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from duetime.ports.keyed_items import Form, Keyed, Kind, Write, nothing
from duetime.settings import MOST_DUE_SHARDS

if TYPE_CHECKING:
    from duetime.model.action import ActionRef
    from duetime.model.lifecycle import LifecycleEvent
    from duetime.model.manifest import WorkerRoute


_SHARDS = frozenset(map(str, range(MOST_DUE_SHARDS)))


def pack(marks: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the marks to write, and the shards that share them.

    Args:
        marks: by name. Names of one band end in the number of a shard: ``300/7``.

    Returns:
        One mark for each group of equal ones, under the name of its first shard; and by that name, the
        numbers of the other shards: ``1-15``, ``1-6 8-15``.
    """
    written, alike = dict[str, str](), dict[str, str]()
    groups = defaultdict[tuple[str, str], list[int]](list)
    for name, mark in marks.items():
        band, _, shard = name.rpartition("/")
        if band and shard in _SHARDS:
            groups[band, mark].append(int(shard))
        else:
            written[name] = mark
    for (band, mark), shards in groups.items():
        first, *others = sorted(shards)
        written[f"{band}/{first}"] = mark
        if others:
            alike[f"{band}/{first}"] = " ".join(_spans(others))
    return written, alike


def unpack(written: Mapping[str, str], alike: Mapping[str, str]) -> dict[str, str]:
    """Return all marks by name.

    Raises:
        ValueError: a number is none of a due shard.
        LookupError: shards share a mark that was not written.
    """
    marks = dict(written)
    for name, spans in alike.items():
        band = name.rpartition("/")[0]
        for span in spans.split():
            first, _, last = span.partition("-")
            if not {first, last or first} <= _SHARDS:
                raise ValueError(f"{span!r} are no due shards")
            for shard in range(int(first), int(last or first) + 1):
                marks[f"{band}/{shard}"] = written[name]
    return marks


def _spans(numbers: Sequence[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *others = (number for _, number in run)
        yield f"{first}-{others[-1]}" if others else f"{first}"


def to_text(marks: Mapping[str, str]) -> str:
    """Return the marks as they are stored; those of the other shards are under the empty name."""
    written, alike = pack(marks)
    return json.dumps({**written, "": alike} if alike else written)


def from_text(text: str) -> dict[str, str]:
    """Return the stored marks.

    Raises:
        ValueError: duetime did not write them.
        LookupError: as for `unpack`.
    """
    written = json.loads(text)
    alike = written.pop("", {})
    return unpack({name: str(mark) for name, mark in written.items()}, alike)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMessage:
    """A wake-up: the action may be due. The row decides."""

    ref: ActionRef
    type: str
    due_at: datetime
    generation: int
    payload_version: int = 1
    """The payload's version. A worker that cannot read it need not claim the action."""
    is_keyed: bool = False
    """The action has a concurrency key: a worker looks for a slot before it claims."""
    is_high: bool = False
    """The action's own priority is high."""
    replaced_until: datetime | None = None
    """For an action that waits for a slot or a lock: until then a worker replaces the message by a fresh one.

    After it, the sweep has sent another.
    """


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that a worker received."""

    message: DueMessage
    queued_at: datetime
    """The earliest time of its receipt."""
    receipt: str
    """The handle that changes this delivery's visibility."""
    sent_at: datetime | None = None
    """When it was sent, by the queue's clock; None if the queue does not record it."""
    received_at: datetime | None = None
    """When it was first received, by the queue's clock; None as above."""
    queue: str | None = None
    """The queue that it came from; None: the worker's usual one."""


@dataclass(frozen=True, slots=True)
class Send:
    """A message for a worker's queue, with a delay in whole seconds."""

    queue: str
    message: DueMessage
    delay: int


FAILURES = "failures"
"""The queue of failed inputs from functions and EventBridge, and of redrive requests; without the prefix."""

NOTIFICATIONS = "notifications"
"""The queue between the event bus and the notifications; without the prefix."""

LONGEST_DELAY = 900
"""The longest delay of a message in SQS, in seconds."""


class DueQueues(Protocol):
    """The workers' queues: delivery at least once, in no order, each message after its delay.

    With several tenants, the messages of the tenant with the fewest received and not yet deleted come first.
    """

    def send(self, sends: Sequence[Send]) -> None:
        """Send all messages. A `delay` is 0 to 900 seconds.

        Raises:
            BackendUnavailable: some may not be sent. A repeat of all is safe, because the claim decides.
            QueueMissing: a queue does not exist.
        """

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        """Make a received message invisible for `seconds` from now. A deleted message is ignored."""


TIMER_NAME_LIMIT = 64
"""Characters of a schedule's name on EventBridge."""

_TIMER_NAME = re.compile(rf"[0-9a-zA-Z-_.]{{1,{TIMER_NAME_LIMIT}}}", re.ASCII)


def timer_name(message: DueMessage) -> str:
    """Return the name of a timer: tenant, id and generation, or their hash if EventBridge rejects the name.

    Ids are unique within a tenant only: two tenants' jobs of one name have runs of one id.
    """
    tenant_id, timer = message.ref.tenant_id, f"{message.ref.id}.{message.generation}"
    plain = f"{tenant_id}.{timer}"
    return plain if _TIMER_NAME.fullmatch(plain) else sha256(f"{tenant_id}#{timer}".encode()).hexdigest()


class Timers(Protocol):
    """Timers for actions in the far future: one timer for each `generation` of an action.

    Two tenants' actions with the same id have two timers.
    """

    def set(self, message: DueMessage, wake_at: datetime) -> None:
        """Wake the dispatcher with `message` at `wake_at`, at least once.

        The whole second of `wake_at` counts; the wake-up may come up to a minute later. A repeat is safe.

        Raises:
            TimerQuotaReached: as many timers exist as the service allows.
            BackendUnavailable: the timer may not be set.
        """

    def clear(self, message: DueMessage) -> None:
        """Remove the timer of this `generation`.

        A missing timer is ignored; a wake-up under way still arrives.
        """


class Routes(Protocol):
    """The worker of each type, from the manifests that the latest deploys published."""

    def queue_for(self, type_name: str) -> str | None:
        """Return the worker's queue, or None if no published manifest has the type.

        Known types may lag a minute.
        """

    def queue_of(self, type_name: str, *, is_high: bool) -> str | None:
        """Return the queue for an action's messages, or None as `queue_for` does.

        It is the worker's high one if the action or its type has a high priority, and the worker has one.
        """

    def version_of(self, type_name: str) -> int | None:
        """Return the newest payload version that a worker reads, or None without a manifest of the type.

        The result may lag by seconds.
        """

    def types(self) -> Sequence[str]:
        """Return all types that have a worker, in order. The result may lag by a minute."""

    def event_route(self, type_name: str) -> WorkerRoute | None:
        """Return the route of a type whose payload is in lifecycle events, otherwise None.

        May lag by a minute.
        """


class EventBus(Protocol):
    """The bus that publishes lifecycle events."""

    def put(self, events: Sequence[LifecycleEvent]) -> None:
        """Publish all events, in no order. An event may arrive more than once.

        Raises:
            BackendUnavailable: some may not be published. A repeat of all is safe, because their ids are
            stable.
        """


BOOKMARK = Kind(
    name="bookmark",
    partition="system#bookmark",
    sort="pass",
    fields={"marks": Form("S", to_text, from_text)},
    writers="passes",
)


class Bookmarks(Keyed):
    """The positions at which repeated passes continue."""

    def read(self, name: str) -> Mapping[str, str]:
        """Return the marks last written under `name`; empty at first.

        Also empty if they cannot be read: the pass starts from its beginning.
        """
        marks: Mapping[str, str] | None = self._items.get(
            BOOKMARK, BOOKMARK.key(name), lambda item: item["marks"], nothing
        )
        return marks or {}

    def write(self, name: str, marks: Mapping[str, str]) -> None:
        """Replace the marks under `name`."""
        self._items.write(Write(kind=BOOKMARK, key=BOOKMARK.key(name), put={"marks": dict(marks)}))
