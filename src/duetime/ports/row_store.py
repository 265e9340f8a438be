"""The actions of a back end that keeps rows itself: each change is one step over its table and its items.

A step is a lock in memory, and a transaction in a file. DynamoDB has conditions in place of both.
"""
# ruff: noqa: D102 - `duetime.ports.actions.ActionStore` and `Items` describe the methods

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from duetime.errors import CommitRejected, RejectedEntry, Unsupported
from duetime.ids import ActionId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.batch import ActionBatch, MemberStatus
from duetime.model.checkpoint import Checkpoint
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import Applied, Rejected, Renewed, Settlement, SettleResult
from duetime.model.swap import Guard, applied_if_mine
from duetime.ports.actions import DamagedRow
from duetime.ports.at_once import one_by_one
from duetime.ports.batches import Batches
from duetime.ports.changes import StoreOfParts
from duetime.ports.keyed_items import AnyWrite, Items, Outcome, Write
from duetime.ports.row_queries import Rows
from duetime.ports.row_writes import RowPut, RowSwap

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
    def put(self, write: AnyWrite, old: Any, new: Any) -> None:
        """Replace the item or the row of a write."""

    @abstractmethod
    def remove_expired(self, now: datetime) -> None:
        """Remove the items whose time to live has ended."""

    @abstractmethod
    def written(self, write: AnyWrite, old: Any, new: Any) -> None:
        """Notice that a step has made a write."""

    def write(self, *writes: AnyWrite, tries: int = 6, counts_once: bool = False) -> Outcome:
        del tries, counts_once
        is_new = any(
            isinstance(write, RowPut) or (isinstance(write, Write) and write.put is not None)
            for write in writes
        )
        with self.step(is_new=is_new):
            before = [self.stored(write) for write in writes]
            rejected = {
                at: before[at] or {} for at, write in enumerate(writes) if not write.holds(before[at])
            }
            if rejected:
                return Outcome(is_written=False, items=rejected)
            after: list[Any] = [write.after(old) for write, old in zip(writes, before, strict=True)]
            for made in zip(writes, before, after, strict=True):
                self.put(*made)
            for made in zip(writes, before, after, strict=True):
                self.written(*made)
            return Outcome(is_written=True, items={at: item for at, item in enumerate(after) if item})

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


class RowStore(StoreOfParts):
    """The actions over rows and items that share their steps.

    See `duetime.ports.actions.ActionStore`; a subclass adds its queries.
    """

    on_commit: OnCommit | None = None
    where = "the memory back end"
    items: StepItems

    def __init__(self, rows: Rows, items: StepItems, queries: object, *, due_shards: int) -> None:
        super().__init__(items, queries, RowBatches(items, rows), at_once=self._in_a_step)
        self.table = rows
        self.due_shards: Sequence[str] = tuple(map(str, range(due_shards)))

    def get(self, ref: ActionRef) -> Action | None:
        return self.table.get(ref)

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

    def put(self, action: Action) -> None:
        with self.table.step(is_new=True):
            self.table.add(action)

    record = put

    def put_many(self, actions: Sequence[Action]) -> None:
        self._in_a_step(self.put, actions)

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

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Do nothing: these rows are values, none of which is damaged."""

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        with self.table.step():
            row = self.held(claimed)
            if row is None:
                return None
            if checkpoint.replaces(row.checkpoint):
                self.write(row, replace(row, checkpoint=checkpoint))
            return Renewed(cancel_requested=row.cancel_request is not None)

    def held(self, claimed: Action) -> Action | None:
        """Return the row if it is processing under the fence of `claimed`."""
        row = self.table.get(claimed.ref)
        is_mine = row is not None and row.status is Status.PROCESSING and row.fence == claimed.fence
        return row if is_mine else None

    def peek(self, claimed: Action) -> Renewed | None:
        row = self.held(claimed)
        return None if row is None else Renewed(cancel_requested=row.cancel_request is not None)

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        del number  # no response is lost
        own: list[OwnEntry] = [entry["Own"] for entry in entries if "Own" in entry]
        theirs = [entry for entry in entries if "Own" not in entry]
        with self.table.step():
            if self.held(claimed) is None:
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

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        with self.table.step():
            row = self.table.get(ref)
            if row is None:
                return False
            followers = tuple(sorted({*row.followers, follower}))
            self.write(row, replace(row, is_awaited=True, followers=followers))
            return True

    def remove_payload(self, ref: ActionRef) -> None:
        """Do nothing: a payload is part of its row."""

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        with self.table.step():
            row, swap = self.table.get(read.ref), RowSwap(read, after, guard)
            if not swap.holds(row):
                return applied_if_mine(Rejected(row), read, after, guard)
            return Applied(self.write(row, swap.after(row)))
