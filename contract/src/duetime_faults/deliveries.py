"""Delivers messages and stream records of a simulated cloud: late, twice, out of order, or never."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from duetime import ids
from duetime.clock import Clock
from duetime.model.batch import BatchRef
from duetime.ports.wakeups import DueQueues, Send
from duetime.testing.journey import Journal
from duetime.wakeups.follow import Wake
from duetime_faults.dice import SECOND, Dice
from duetime_faults.message_counts import MessageCounts

LATEST_RECORD = timedelta(minutes=5)
LATEST_RETRY = timedelta(minutes=1)
LATEST_MESSAGE = timedelta(minutes=1)
OVERTAKEN_BY = timedelta(seconds=10)

_SHARDS = 4
_BATCH = 10
_RETRIES = 10
"""The retries of a batch of stream records; then the sweep finds its rows."""


@dataclass(frozen=True, slots=True)
class FaultyQueues:
    """Due queues whose messages are lost, doubled, late or out of order."""

    queues: DueQueues
    dice: Dice
    story: Journal
    clock: Clock
    counts: MessageCounts

    def send(self, sends: Sequence[Send]) -> None:
        """See `duetime.ports.wakeups.DueQueues`, here and below."""
        for send in sends:
            self.counts.sent(send.message.ref, self.clock.now())
        self.queues.send([delivered for send in sends for delivered in self._sent(send)])

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        """See `send`."""
        self.queues.extend(queue, receipt, seconds)

    def _sent(self, send: Send) -> Iterator[Send]:
        faults, about = self.dice.faults, send.message.ref.id
        if self.dice.hits(faults.drop_message):
            self.story.record("queue", about, "✗ its message is lost")
            return
        yield self._late(send)
        if self.dice.hits(faults.double):
            self.story.record("queue", about, "✗ its message is doubled")
            yield self._late(send)

    def _late(self, send: Send) -> Send:
        faults, by = self.dice.faults, timedelta(0)
        if self.dice.hits(faults.reorder):
            by = self.dice.span(OVERTAKEN_BY)
        if self.dice.hits(faults.delay):
            by = self.dice.span(LATEST_MESSAGE)
        seconds = round(by.total_seconds())
        if seconds:
            self.story.record("queue", send.message.ref.id, f"✗ its message is {seconds} s late")
        return replace(send, delay=send.delay + seconds)


R = TypeVar("R")


@dataclass(eq=False, slots=True)
class Batch(Generic[R]):
    """Records of one shard that a function receives together, until it succeeds."""

    shard: int
    records: Sequence[R]
    tries: int = 0
    time_outs: int = 0


def place_of(change: Wake) -> str:
    """Return the partition of the row or the batch that changed."""
    if isinstance(change, BatchRef):
        return f"{change.tenant_id}#batches"
    row = change.new or change.old
    return "" if row is None else f"{row.tenant_id}#{ids.place_of(row.id)}"


def id_of(change: Wake) -> str:
    """Return the id of the row, or the name of the batch, that changed."""
    if isinstance(change, BatchRef):
        return change.name
    row = change.new or change.old
    return row.id if row else ""


@dataclass(eq=False, slots=True)
class FaultyStream(Generic[R]):
    """A table's stream: each item's changes in order, at least once; a batch blocks its shard.

    Args:
        clock: the common clock.
        dice: draw the faults.
        story: the journal.
        place_of: returns the partition of a record's item.
        id_of: returns the id of an action, for the story.
        is_repaired: another step does the work of a lost batch; otherwise none is lost or given up.
    """

    clock: Clock
    dice: Dice
    story: Journal
    place_of: Callable[[R], str]
    id_of: Callable[[R], str]
    is_repaired: bool = True
    _waiting: list[deque[tuple[datetime, R]]] = field(
        default_factory=lambda: [deque() for _ in range(_SHARDS)]
    )
    _again: dict[int, tuple[datetime, Batch[R]]] = field(default_factory=dict)
    _busy: set[int] = field(default_factory=set)

    def add(self, record: R) -> None:
        """Add a record."""
        shard = zlib.crc32(self.place_of(record).encode()) % _SHARDS
        at, waiting = self.clock.now(), self._waiting[shard]
        if self.dice.hits(self.dice.faults.delay):
            at += self.dice.span(LATEST_RECORD)
        waiting.append((max(at, waiting[-1][0]) if waiting else at, record))

    def next_at(self) -> datetime | None:
        """Return when the next batch can be read."""
        return min((at for shard in range(_SHARDS) if (at := self._next_of(shard))), default=None)

    def read(self) -> Batch[R] | None:
        """Return the next batch, which blocks its shard until it is `done` or `failed`."""
        now = self.clock.now()
        for shard in range(_SHARDS):
            at = self._next_of(shard)
            if at is not None and at <= now:
                self._busy.add(shard)
                return self._again.pop(shard)[1] if shard in self._again else self._fresh(shard, now)
        return None

    def done(self, batch: Batch[R]) -> None:
        """Finish a batch; a fault may repeat it."""
        self._busy.discard(batch.shard)
        if batch.tries < _RETRIES and self.dice.hits(self.dice.faults.double):
            self._record(batch, "✗ the batch with it comes again")
            self._repeat(batch)

    def failed(self, batch: Batch[R]) -> None:
        """Retry a batch, up to a limit."""
        self._busy.discard(batch.shard)
        if batch.tries < _RETRIES or not self.is_repaired:
            self._repeat(batch)
        else:
            self._record(batch, "the batch with it is given up")

    def _repeat(self, batch: Batch[R]) -> None:
        batch.tries += 1
        self._again[batch.shard] = (self.clock.now() + min(SECOND * batch.tries, LATEST_RETRY), batch)

    def _next_of(self, shard: int) -> datetime | None:
        if shard in self._busy:
            return None
        if shard in self._again:
            return self._again[shard][0]
        return self._waiting[shard][0][0] if self._waiting[shard] else None

    def _fresh(self, shard: int, now: datetime) -> Batch[R]:
        waiting, records = self._waiting[shard], list[R]()
        while waiting and waiting[0][0] <= now and len(records) < _BATCH:
            records.append(waiting.popleft()[1])
        batch = Batch(shard, records)
        if self.is_repaired and self.dice.hits(self.dice.faults.drop):
            self._record(batch, "✗ the stream loses the batch with it")
            return Batch(shard, ())
        return batch

    def _record(self, batch: Batch[R], what: str) -> None:
        for record in batch.records:
            self.story.record("stream", self.id_of(record), what)
