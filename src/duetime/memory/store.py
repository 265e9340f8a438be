"""The action store in memory.

Each method holds one lock: condition and write are one step, as in DynamoDB.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from duetime.errors import CommitRejected, RejectedEntry, Unsupported
from duetime.ids import ActionId
from duetime.memory.batches import MemoryBatches, index_batches
from duetime.memory.keyed_items import MemoryItems, OwnEntry
from duetime.memory.queries import MemoryQueries
from duetime.memory.table import MemoryTable
from duetime.model.action import KEPT_ATTEMPTS, Action, ActionRef
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Applied,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
)
from duetime.model.swap import Guard, applied_if_mine
from duetime.ports.action_keys import DebounceKeys, IdempotencyKeys
from duetime.ports.actions import DamagedRow
from duetime.ports.changes import RowChanges
from duetime.ports.delegate import delegate
from duetime.ports.rates import Rates
from duetime.ports.row_writes import RowSwap
from duetime.ports.slots import Slots
from duetime.settings import DUE_SHARDS

_Entry = tuple[bytes, datetime]


class MemoryTracebacks:
    """The tracebacks, by action and attempt.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_ref: dict[ActionRef, dict[datetime, _Entry]] = {}

    def put_traceback(self, ref: ActionRef, traceback: AttemptTraceback, kept_until: datetime) -> None:
        stored = traceback.to_bytes()
        with self._lock:
            self._by_ref.setdefault(ref, {})[traceback.started_at] = (stored, kept_until)

    def tracebacks(self, ref: ActionRef) -> Sequence[AttemptTraceback]:
        with self._lock:
            stored = sorted(self._by_ref.get(ref, {}).items())[-KEPT_ATTEMPTS:]
        return tuple(AttemptTraceback.from_bytes(at, compressed) for at, (compressed, _) in stored)

    def remove_expired(self, now: datetime) -> None:
        """Remove the expired ones."""
        with self._lock:
            for ref, stored in [*self._by_ref.items()]:
                left = {at: entry for at, entry in stored.items() if entry[1] > now}
                if left:
                    self._by_ref[ref] = left
                else:
                    del self._by_ref[ref]


OnCommit = Callable[[Sequence[Mapping[str, Any]]], object]
"""Simulates the tables that a handler's entries name: it takes all entries, or raises `CommitRejected`."""


class MemoryStore(RowChanges):
    """The actions in memory.

    The store calls `on_change` with each change, in order: this is the table's stream.

    See `duetime.ports.actions.ActionStore`.
    """

    on_commit: OnCommit | None = None

    def __init__(
        self,
        *,
        due_shards: int = DUE_SHARDS,
        on_change: Callable[[Change], None] = lambda _change: None,
        on_batch: Callable[[BatchRef], None] = lambda _ref: None,
    ) -> None:
        self.table = table = MemoryTable(due_shards, on_change)
        self.lock, self.due_shards, self._rows = table.lock, table.due_shards, table.by_ref
        self.items = items = MemoryItems(index_batches(table, on_batch), table)
        self.keys, self.debounce = IdempotencyKeys(items, table.get), DebounceKeys(items, table.get)
        self.slots, self.queries, self.rates = Slots(items), MemoryQueries(table), Rates(items)
        self.by_name = MemoryBatches(items, table)
        self.by_attempt = MemoryTracebacks()

    get = delegate("table", MemoryTable.get)
    held = delegate("table", MemoryTable.held)
    write = delegate("table", MemoryTable.write)
    rows = delegate("table", MemoryTable.rows)
    unsettled = delegate("table", MemoryTable.unsettled)
    has_held = delegate("table", MemoryTable.has_held)
    earliest_due = delegate("table", MemoryTable.earliest_due)

    get_rows = delegate("queries", MemoryQueries.get_rows)
    by_correlation = delegate("queries", MemoryQueries.by_correlation)
    of_tenant = delegate("queries", MemoryQueries.of_tenant)
    of_job = delegate("queries", MemoryQueries.of_job)
    failed = delegate("queries", MemoryQueries.failed)
    in_due_order = delegate("queries", MemoryQueries.in_due_order)
    occurrences = delegate("queries", MemoryQueries.occurrences)
    due = delegate("queries", MemoryQueries.due)

    put_once = delegate("keys", IdempotencyKeys.put_once)
    first_of_key = delegate("keys", IdempotencyKeys.first_of_key)
    remove_key = delegate("keys", IdempotencyKeys.remove_key)

    find_debounced = delegate("debounce", DebounceKeys.find_debounced)
    put_debounced = delegate("debounce", DebounceKeys.put_debounced)
    coalesce = delegate("debounce", DebounceKeys.coalesce)

    key_slots = delegate("slots", Slots.key_slots)
    take_slot = delegate("slots", Slots.take_slot)
    wait_for_slot = delegate("slots", Slots.wait_for_slot)
    join_tail = delegate("slots", Slots.join_tail)
    mark_tail = delegate("slots", Slots.mark_tail)
    tail = delegate("slots", Slots.tail)
    leave_tail = delegate("slots", Slots.leave_tail)
    move_slots = delegate("slots", Slots.move_slots)
    evict = delegate("slots", Slots.evict)

    start_within_rate = delegate("rates", Rates.start_within_rate)
    reserve_start = delegate("rates", Rates.reserve_start)
    next_start = delegate("rates", Rates.next_start)

    put_traceback = delegate("by_attempt", MemoryTracebacks.put_traceback)
    tracebacks = delegate("by_attempt", MemoryTracebacks.tracebacks)

    open_batch = delegate("by_name", MemoryBatches.open_batch)
    find_batch = delegate("by_name", MemoryBatches.find_batch)
    change_batch = delegate("by_name", MemoryBatches.change_batch)
    batches = delegate("by_name", MemoryBatches.batches)
    member_statuses = delegate("by_name", MemoryBatches.member_statuses)

    def remove_expired(self, now: datetime) -> None:
        """Remove the rows that have expired, and their keys."""
        with self.lock:
            for row in self.table.remove_expired(now):
                if row.debounce_key is not None:
                    self.debounce.forget(row)
                if row.idempotency_key is not None:
                    self.remove_key(row.ref, row.idempotency_key)
            self.items.remove_expired(now)
            self.by_attempt.remove_expired(now)

    def put(self, action: Action) -> None:
        with self.lock:
            self.table.add(action)

    record = put

    def put_many(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self.put(action)

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        del action, terms
        raise Unsupported("a transaction of your own needs DynamoDB; the memory back end has none")

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Do nothing: these rows are values, none of which is damaged."""

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                return None
            if checkpoint.replaces(row.checkpoint):
                self.write(row, replace(row, checkpoint=checkpoint))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def peek(self, claimed: Action) -> Renewed | None:
        row = self.held(claimed)
        return None if row is None else Renewed(cancel_requested=row.cancel_requested_at is not None)

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        del number  # a dictionary loses no response
        own: list[OwnEntry] = [entry["Own"] for entry in entries if "Own" in entry]
        theirs = [entry for entry in entries if "Own" not in entry]
        with self.lock:
            if self.held(claimed) is None:
                was_this_one = settlement.has_ended(claimed, self._rows.get(claimed.ref))
                return SettleResult.SETTLED if was_this_one else SettleResult.LEASE_LOST
            if not all(entry.holds() for entry in own):
                raise CommitRejected([RejectedEntry(len(theirs))])
            if theirs:
                if self.on_commit is None:
                    raise Unsupported(
                        "the entries of a commit need DynamoDB; in memory, SimulatedCloud(app, on_commit=…)"
                        " takes them"
                    )
                self.on_commit(theirs)
            result = self.settle(claimed, settlement)
            for entry in own:
                entry.items.write(entry.write)
            return result

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        with self.lock:
            row = self._rows.get(ref)
            if row is None:
                return False
            followers = tuple(sorted({*row.followers, follower}))
            self.write(row, replace(row, is_awaited=True, followers=followers))
            return True

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        return self.keys.redrive(row, after, at)

    def remove_payload(self, ref: ActionRef) -> None:
        """Do nothing: a payload in memory is part of its row."""

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        with self.lock:
            row, swap = self._rows.get(read.ref), RowSwap(read, after, guard)
            if not swap.holds(row):
                return applied_if_mine(Rejected(row), read, after, guard)
            return Applied(self.write(row, swap.after(row)))
