"""The action store in memory.

Each method holds one lock: condition and write are one step, as in DynamoDB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from duetime.errors import Unsupported
from duetime.memory.keys import MemoryIdempotencyKeys
from duetime.memory.queries import MemoryQueries
from duetime.memory.slots import MemorySlots
from duetime.memory.table import MemoryTable
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.change import Change
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Applied,
    Claimed,
    ClaimTerms,
    LeaseHeld,
    NeedsSlot,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
    applied_if_mine,
)
from duetime.ports.delegate import delegate
from duetime.settings import DUE_SHARDS

OnCommit = Callable[[Sequence[Mapping[str, Any]]], object]
"""Simulates the tables that a handler's entries name: it takes all entries, or raises `CommitRejected`."""


class MemoryStore:
    """The actions in memory.

    The store calls `on_change` with each change, in order: this is the table's stream.

    See `duetime.ports.actions.ActionStore`.
    """

    on_commit: OnCommit | None = None

    def __init__(
        self, *, due_shards: int = DUE_SHARDS, on_change: Callable[[Change], None] = lambda _change: None
    ) -> None:
        self.table = table = MemoryTable(due_shards, on_change)
        self.lock, self.due_shards, self._rows = table.lock, table.due_shards, table.by_ref
        self.keys, self.slots, self.queries = (
            MemoryIdempotencyKeys(table),
            MemorySlots(table),
            MemoryQueries(table),
        )

    get = delegate("table", MemoryTable.get)
    held = delegate("table", MemoryTable.held)
    write = delegate("table", MemoryTable.write)
    rows = delegate("table", MemoryTable.rows)
    unsettled = delegate("table", MemoryTable.unsettled)
    earliest_due = delegate("table", MemoryTable.earliest_due)

    get_rows = delegate("queries", MemoryQueries.get_rows)
    by_correlation = delegate("queries", MemoryQueries.by_correlation)
    of_tenant = delegate("queries", MemoryQueries.of_tenant)
    of_job = delegate("queries", MemoryQueries.of_job)
    failed = delegate("queries", MemoryQueries.failed)
    in_due_order = delegate("queries", MemoryQueries.in_due_order)
    occurrences = delegate("queries", MemoryQueries.occurrences)
    due = delegate("queries", MemoryQueries.due)

    put_once = delegate("keys", MemoryIdempotencyKeys.put_once)
    first_of_key = delegate("keys", MemoryIdempotencyKeys.first)
    remove_key = delegate("keys", MemoryIdempotencyKeys.remove_key)

    holders = delegate("slots", MemorySlots.holders)
    claim_slot = delegate("slots", MemorySlots.claim_slot)
    evict = delegate("slots", MemorySlots.evict)
    limit_lease = delegate("slots", MemorySlots.limit_lease)

    def remove_expired(self, now: datetime) -> None:
        """Remove the rows that have expired, and their idempotency keys."""
        with self.lock:
            for row in self.table.remove_expired(now):
                self.remove_key(row.ref, row.idempotency_key or "")

    def put(self, action: Action) -> None:
        with self.lock:
            if action.ref not in self._rows:
                self.table.write(None, action)

    record = put

    def put_many(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self.put(action)

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        del action, terms
        raise Unsupported("a transaction of your own needs DynamoDB; the memory back end has none")

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | LeaseHeld | NeedsSlot | None:
        with self.lock:
            row = self._rows.get(ref)
            if row is None or terms.is_fenced_off(row):
                return None
            if row.status is Status.PROCESSING and row.lease_until is not None:
                if row.claim_nonce == terms.nonce:
                    return Claimed(row)
                if not terms.may_take_over(row):
                    return LeaseHeld(row.lease_until)
            elif row.status is not Status.PENDING or row.due_at > terms.now:
                return None
            if row.concurrency_key is not None:
                return NeedsSlot()
            return Claimed(self.write(row, transition.started(row, terms)))

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                return None
            if row.lease_until is None or row.lease_until < until:
                self.write(row, replace(row, lease_until=until))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def peek(self, claimed: Action) -> Renewed | None:
        row = self.held(claimed)
        return None if row is None else Renewed(cancel_requested=row.cancel_requested_at is not None)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                current = self._rows.get(claimed.ref)
                was_this_run = current is not None and current.fence == claimed.fence
                return SettleResult.SETTLED if was_this_run else SettleResult.LEASE_LOST
            if settlement.status is Status.PENDING and row.cancel_requested_at:
                return SettleResult.CANCEL_REQUESTED
            self.write(row, transition.settled(row, settlement))
            self.slots.free(row)
            return SettleResult.SETTLED

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        del number  # a dictionary loses no response
        with self.lock:
            if self.held(claimed) is None:
                was_this_one = settlement.has_ended(claimed, self._rows.get(claimed.ref))
                return SettleResult.SETTLED if was_this_one else SettleResult.LEASE_LOST
            if entries:
                if self.on_commit is None:
                    raise Unsupported(
                        "the entries of a commit need DynamoDB; in memory, SimulatedCloud(app, on_commit=…)"
                        " takes them"
                    )
                self.on_commit(entries)
            return self.settle(claimed, settlement)

    def cancel(self, row: Action, *, by: str, at: datetime, expires_at: datetime) -> Applied | Rejected:
        change = partial(transition.cancelled, by=by, at=at, expires_at=expires_at)
        outcome = self._move(row, Status.PENDING, change)
        return applied_if_mine(outcome, Status.CANCELLED, by=by, at=at)

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
    ) -> Applied | Rejected:
        change = partial(transition.skipped, reason=reason, note=note, by=by, at=at, expires_at=expires_at)
        outcome = self._move(row, Status.PENDING, change)
        return applied_if_mine(outcome, Status.SKIPPED, by=by, at=at)

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        with self.lock:
            run = self.held(row)
            if run is None:
                return Rejected(self._rows.get(row.ref))
            first_at, first_by = run.cancel_requested_at or at, run.cancel_requested_by or by
            return Applied(
                self.write(run, replace(run, cancel_requested_at=first_at, cancel_requested_by=first_by))
            )

    def reschedule(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        outcome = self._move(
            row,
            Status.PENDING,
            lambda current: replace(
                current,
                due_at=due_at,
                first_due_at=None,
                generation=current.generation + 1,
                changed_by=by,
                changed_at=at,
            ),
        )
        return applied_if_mine(outcome, Status.PENDING, by=by, at=at)

    def redrive(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        redrive = partial(
            self._move,
            row,
            Status.FAILED,
            lambda current: replace(
                current,
                status=Status.PENDING,
                due_at=due_at,
                first_due_at=current.nominal_at,
                generation=current.generation + 1,
                redriven_after=current.attempt,
                recoveries=0,
                cancel_requested_at=None,
                cancel_requested_by=None,
                changed_by=by,
                changed_at=at,
                expires_at=None,
                dismissed_reason=None,
            ),
            may=lambda current: current.is_dead_letter or row.dismissed_reason is not None,
        )
        return applied_if_mine(self.keys.take_again(row, at, redrive), Status.PENDING, by=by, at=at)

    def dismiss(self, row: Action, reason: str, *, by: str, at: datetime) -> Applied | Rejected:
        outcome = self._move(
            row,
            Status.FAILED,
            lambda current: replace(current, dismissed_reason=reason, changed_by=by, changed_at=at),
            may=lambda current: current.is_dead_letter,
        )
        return applied_if_mine(outcome, Status.FAILED, by=by, at=at)

    def remove_payload(self, ref: ActionRef) -> None:
        """Do nothing: a payload in memory is part of its row."""

    def _move(
        self,
        read: Action,
        status: Status,
        change: Callable[[Action], Action],
        may: Callable[[Action], bool] = lambda _current: True,
    ) -> Applied | Rejected:
        """Change a row that still has the generation of `read`."""
        with self.lock:
            row = self._rows.get(read.ref)
            if row is None or (row.status, row.generation) != (status, read.generation) or not may(row):
                return Rejected(row)
            return Applied(self.write(row, change(row)))
