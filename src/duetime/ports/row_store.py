"""The actions of a back end that keeps rows itself: each change is one step over its table and its items.

A step is a lock in memory, and a transaction in a file. DynamoDB has conditions in place of both.
"""
# ruff: noqa: D102 - `duetime.ports.action_store.ActionStore` and `Items` describe the methods

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from duetime.errors import CommitRejected, RejectedEntry, Unsupported
from duetime.model.action import Action, ActionRef
from duetime.model.batch import ActionBatch, MemberStatus
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import Settlement, SettleResult
from duetime.ports.action_store import ActionStore
from duetime.ports.at_once import one_by_one
from duetime.ports.batches import Batches
from duetime.ports.keyed_items import AnyWrite, Items, Outcome, Write
from duetime.ports.row_queries import Rows
from duetime.ports.row_writes import RowPut

T = TypeVar("T")

OnCommit = Callable[[Sequence[Mapping[str, Any]]], object]
"""Simulates the tables that a handler's entries name: it takes all entries, or raises `CommitRejected`."""


class OwnEntry(NamedTuple):
    """A write of a job's item that a commit makes beside the handler's entries."""

    items: StepItems
    write: AnyWrite

    def holds(self) -> bool:
        """Return whether its guard holds."""
        return self.write.holds(self.items.stored(self.write))


class StepItems(Items):
    """Keyed items whose writes are steps: a part of `duetime.ports.keyed_items.Items`."""

    @abstractmethod
    def step(self, *, is_new: bool = False) -> AbstractContextManager[object]:
        """Keep other writers out within a block; see `Rows.step`."""

    @abstractmethod
    def stored(self, write: AnyWrite) -> Any:
        """Return the item or the row of a write; None if there is none."""

    @abstractmethod
    def put(self, write: AnyWrite, old: Any, new: Any) -> Any:
        """Replace the item or the row of a write, and return it as it is stored."""

    @abstractmethod
    def remove_expired(self, now: datetime) -> None:
        """Remove the items whose time to live has ended."""

    @abstractmethod
    def written(self, write: AnyWrite, old: Any, new: Any) -> None:
        """Notice that a step has made a write."""

    def write(self, *writes: AnyWrite, tries: int = 6, counts_once: bool = False) -> Outcome:
        del tries, counts_once
        is_new = any(isinstance(write, RowPut) or getattr(write, "put", None) for write in writes)
        with self.step(is_new=is_new):
            olds = [self.stored(write) for write in writes]
            rejected = [at for at, write in enumerate(writes) if not write.holds(olds[at])]
            if rejected:
                return Outcome(is_written=False, items={at: olds[at] or {} for at in rejected})
            news = [self.put(write, olds[at], write.after(olds[at])) for at, write in enumerate(writes)]
            for at, write in enumerate(writes):
                self.written(write, olds[at], news[at])
            return Outcome(is_written=True, items=dict(enumerate(news)))

    def entry(self, write: AnyWrite) -> Mapping[str, Any]:
        return {"Own": OwnEntry(self, write)} if isinstance(write, Write) else {}


class RowBatches(Batches):
    """The batches of a table whose rows can be read one by one."""

    def __init__(self, items: StepItems, rows: Rows) -> None:
        super().__init__(items)
        self._rows = rows

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        first = start + (int(shard, 16) - start) % 16
        with self._rows.step():
            rows = {number: self._rows.get(batch.member(number)) for number in range(first, stop, 16)}
        return {number: MemberStatus.from_row(row) for number, row in rows.items() if row is not None}


class RowStore(ActionStore):
    """The actions over rows and items that share their steps.

    See `duetime.ports.action_store.ActionStore`; a subclass adds its queries.
    """

    on_commit: OnCommit | None = None
    where = "the memory back end"
    items: StepItems

    def __init__(self, rows: Rows, items: StepItems, *, due_shards: int) -> None:
        batches = RowBatches(items, rows)
        super().__init__(items, batches, due_shards=due_shards, at_once=self._in_a_step)
        self.table = rows

    def write(self, old: Action | None, new: Action) -> Action:
        """Replace a row, or add one, in a step of its own or of the caller's."""
        with self.table.step():
            return self.table.write(old, new)

    def remove_expired(self, now: datetime) -> None:
        """Remove the rows that have expired, with their keys, and the items that have."""
        with self.table.step():
            for row in self.table.remove_expired(now):
                if row.debounced is not None:
                    self.debounce.forget(row)
                if row.idempotency_key is not None:
                    self.remove_key(row.ref, row.idempotency_key)
            self.items.remove_expired(now)

    def _in_a_step(self, call: Callable[[T], object], items: Iterable[T]) -> None:
        with self.table.step(is_new=True):
            one_by_one(call, items)

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        """Reject the call.

        Raises:
            Unsupported: always.
        """
        del action, terms
        raise Unsupported(
            f"a transaction of your own needs DynamoDB, as in `duetime local --setup`; {self.where} has only"
            " duetime's tables"
        )

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        del number  # no response is lost
        own: list[OwnEntry] = [entry["Own"] for entry in entries if "Own" in entry]
        theirs = [entry for entry in entries if "Own" not in entry]
        with self.table.step():
            if self.peek(claimed) is None:
                was_this_one = settlement.has_ended(claimed, self.table.get(claimed.ref))
                return SettleResult.SETTLED if was_this_one else SettleResult.LEASE_LOST
            if not all(entry.holds() for entry in own):
                raise CommitRejected([RejectedEntry(len(theirs))])
            if theirs:
                if self.on_commit is None:
                    raise Unsupported(
                        "the entries of a commit need DynamoDB: start `duetime local` with --setup; in tests,"
                        " SimulatedCloud(app, on_commit=…) takes them"
                    )
                self.on_commit(theirs)
            result = self.settle(claimed, settlement)
            for entry in own:
                entry.items.write(entry.write)
            return result

    def remove_payload(self, ref: ActionRef) -> None:
        """Do nothing: a payload is part of its row."""
