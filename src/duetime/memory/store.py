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
from duetime.ids import ActionId
from duetime.memory.batches import MemoryBatches
from duetime.memory.debounce import MemoryDebounceKeys
from duetime.memory.keys import MemoryIdempotencyKeys
from duetime.memory.queries import MemoryQueries
from duetime.memory.rates import MemoryRates
from duetime.memory.slots import MemorySlots
from duetime.memory.table import MemoryTable
from duetime.memory.tracebacks import MemoryTracebacks
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint
from duetime.model.hand_over import HandOverTerms, Progress
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
    deferred_if_mine,
    outlasts,
    released_if_mine,
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
        self,
        *,
        due_shards: int = DUE_SHARDS,
        on_change: Callable[[Change], None] = lambda _change: None,
        on_batch: Callable[[BatchRef], None] = lambda _ref: None,
    ) -> None:
        self.table = table = MemoryTable(due_shards, on_change)
        self.lock, self.due_shards, self._rows = table.lock, table.due_shards, table.by_ref
        self.debounce = MemoryDebounceKeys(table)
        self.keys, self.slots, self.queries = (
            MemoryIdempotencyKeys(table),
            MemorySlots(table),
            MemoryQueries(table),
        )
        self.rates = MemoryRates(table)
        self.by_name = MemoryBatches(table, on_batch)
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

    put_once = delegate("keys", MemoryIdempotencyKeys.put_once)
    first_of_key = delegate("keys", MemoryIdempotencyKeys.first)
    remove_key = delegate("keys", MemoryIdempotencyKeys.remove_key)

    find_debounced = delegate("debounce", MemoryDebounceKeys.find_debounced)
    put_debounced = delegate("debounce", MemoryDebounceKeys.put_debounced)
    coalesce = delegate("debounce", MemoryDebounceKeys.coalesce)

    key_slots = delegate("slots", MemorySlots.key_slots)
    take_slot = delegate("slots", MemorySlots.take_slot)
    wait_for_slot = delegate("slots", MemorySlots.wait_for_slot)
    join_tail = delegate("slots", MemorySlots.join_tail)
    mark_tail = delegate("slots", MemorySlots.mark_tail)
    tail = delegate("slots", MemorySlots.tail)
    leave_tail = delegate("slots", MemorySlots.leave_tail)
    move_slots = delegate("slots", MemorySlots.move_slots)
    claim_row = delegate("slots", MemorySlots.claim_row)
    evict = delegate("slots", MemorySlots.evict)
    limit_lease = delegate("slots", MemorySlots.limit_lease)

    start_within_rate = delegate("rates", MemoryRates.start_within_rate)
    reserve_start = delegate("rates", MemoryRates.reserve_start)
    next_start = delegate("rates", MemoryRates.next_start)

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
                self.debounce.forget(row)
                self.remove_key(row.ref, row.idempotency_key or "")
            self.by_name.remove_expired(now)
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

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | LeaseHeld | NeedsSlot | None:
        with self.lock:
            row = self._rows.get(ref)
            if row is None or terms.is_fenced_off(row):
                return None
            if row.status is Status.PROCESSING and row.lease_until is not None:
                if row.nonce == terms.nonce:
                    return Claimed(row)
                if not terms.may_take_over(row):
                    return LeaseHeld(row.lease_until)
            elif not _is_claimable(row, terms):
                return None
            if row.concurrency_key is not None:
                return NeedsSlot()
            return Claimed(self.write(row, transition.started(row, terms)))

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                return None
            if not row.is_handed_over and (row.lease_until is None or row.lease_until < until):
                self.write(row, replace(row, lease_until=until))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def hand_over(self, claimed: Action, terms: HandOverTerms) -> Renewed | None:
        with self.lock:
            row = self.held(claimed)
            if row is None or (row.is_handed_over and row != transition.handed_over(row, terms)):
                return None
            self.write(row, transition.handed_over(row, terms))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def beat(
        self, row: Action, until: datetime, *, now: datetime, progress: Progress | None = None
    ) -> Renewed | None:
        with self.lock:
            current = self.held(row)
            if current is None or not outlasts(current, now, now):
                return None
            if current.lease_until is None or current.lease_until <= until:
                self.write(current, transition.beaten(current, until, progress))
            return Renewed(cancel_requested=current.cancel_requested_at is not None)

    def report(self, claimed: Action, progress: Progress) -> Renewed | None:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                return None
            self.write(row, transition.reported(row, progress))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

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

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        with self.lock:
            row = self.held(claimed)
            if row is None or not settlement.may_end(row):
                current = self._rows.get(claimed.ref)
                was_this_run = current is not None and current.fence == claimed.fence
                if settlement.completion is not None:
                    was_this_run = settlement.has_ended(claimed, current)
                return SettleResult.SETTLED if was_this_run else SettleResult.LEASE_LOST
            if settlement.status is Status.PENDING and row.cancel_requested_at:
                return SettleResult.CANCEL_REQUESTED
            self.write(row, transition.settled(row, settlement))
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

    def cancel(self, row: Action, *, by: str, at: datetime, kept_until: datetime) -> Applied | Rejected:
        change = partial(transition.cancelled, by=by, at=at, kept_until=kept_until)
        outcome = self._move(row, Status.PENDING, change)
        return applied_if_mine(outcome, Status.CANCELLED, by=by, at=at)

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
    ) -> Applied | Rejected:
        change = partial(transition.skipped, reason=reason, note=note, by=by, at=at, kept_until=kept_until)
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

    def reschedule(
        self, row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None = None
    ) -> Applied | Rejected:
        outcome = self._move(
            row,
            Status.PENDING,
            lambda current: replace(
                current,
                due_at=due_at,
                first_due_at=None,
                expires_at=expires_at,
                generation=current.generation + 1,
                changed_by=by,
                changed_at=at,
            ),
        )
        return applied_if_mine(outcome, Status.PENDING, by=by, at=at)

    def defer(
        self, row: Action, until: datetime, *, held_by: str | None = None, waits_for: str | None = None
    ) -> Applied | Rejected:
        change = partial(transition.deferred, until=until, held_by=held_by, waits_for=waits_for)
        outcome = self._move(row, Status.PENDING, change)
        return deferred_if_mine(outcome, row, until)

    def release(self, row: Action, released: Action) -> Applied | Rejected:
        outcome = self._move(
            row,
            Status.PENDING,
            lambda current: replace(released, followers=current.followers, is_awaited=current.is_awaited),
        )
        return released_if_mine(outcome, released)

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        with self.lock:
            row = self._rows.get(ref)
            if row is None:
                return False
            followers = tuple(sorted({*row.followers, follower}))
            self.write(row, replace(row, is_awaited=True, followers=followers))
            return True

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
                continued=0,
                recoveries=0,
                cancel_requested_at=None,
                cancel_requested_by=None,
                changed_by=by,
                changed_at=at,
                kept_until=None,
                dismissed_reason=None,
                expires_at=None,
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


def _is_claimable(row: Action, terms: ClaimTerms) -> bool:
    is_as_read = terms.generation is None or terms.generation == row.generation
    return row.status is Status.PENDING and row.due_at <= terms.now and is_as_read and terms.may_claim(row)
