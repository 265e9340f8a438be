"""Rows in memory: each method under one lock, so its condition and its write are one step, as in DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from duetime.errors import Unsupported
from duetime.memory.slots import MemorySlots
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status
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
)

OnCommit = Callable[[Sequence[Mapping[str, Any]]], object]
"""Plays the tables that a handler's entries name: it takes all of them, or raises, as `CommitRejected`."""


class MemoryStore(MemorySlots):
    """The rows, in a dictionary. `on_change` is called with each change, in order: it is the table's stream."""

    on_commit: OnCommit | None = None

    def put(self, action: Action) -> None:
        """See `duetime.ports.actions.ActionStore`, here and below."""
        with self.lock:
            if action.ref not in self._rows:
                self.write(None, action)

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
            if row is None:
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
            self.write(row, replace(row, lease_until=until))
            return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def peek(self, claimed: Action) -> Renewed | None:
        row = self.held(claimed)
        return None if row is None else Renewed(cancel_requested=row.cancel_requested_at is not None)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        with self.lock:
            row = self.held(claimed)
            if row is None:
                return _settled_before(self._rows.get(claimed.ref), claimed)
            if settlement.status is Status.PENDING and row.cancel_requested_at:
                return SettleResult.CANCEL_REQUESTED
            self.write(row, transition.settled(row, settlement))
            self.free_slot(row)
            return SettleResult.SETTLED

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        del number  # no answer is lost on the way to a dictionary
        with self.lock:
            if self.held(claimed) is None:
                was_this_one = settlement.has_ended(claimed, self._rows.get(claimed.ref))
                return SettleResult.SETTLED if was_this_one else SettleResult.LEASE_LOST
            if entries:
                self._write_entries(entries)
            return self.settle(claimed, settlement)

    def _write_entries(self, entries: Sequence[Mapping[str, Any]]) -> None:
        if self.on_commit is None:
            raise Unsupported(
                "the entries of a commit need DynamoDB; in memory, SimulatedCloud(app, on_commit=…) takes them"
            )
        self.on_commit(entries)

    def cancel(self, ref: ActionRef, *, by: str, at: datetime, expires_at: datetime) -> Applied | Rejected:
        change = partial(transition.cancelled, by=by, at=at, expires_at=expires_at)
        outcome = self._move(ref, lambda row: row.status is Status.PENDING, change)
        return _unless_mine(outcome, Status.CANCELLED, by=by, at=at)

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
    ) -> Applied | Rejected:
        outcome = self._move(
            row.ref,
            lambda standing: standing.status is Status.PENDING and standing.generation == row.generation,
            lambda standing: transition.skipped(
                standing, reason, note=note, by=by, at=at, expires_at=expires_at
            ),
        )
        return _unless_mine(outcome, Status.SKIPPED, by=by, at=at)

    def ask_to_cancel(self, ref: ActionRef, *, by: str, at: datetime) -> Applied | Rejected:
        return self._move(
            ref,
            lambda row: row.status is Status.PROCESSING,
            lambda row: replace(
                row,
                cancel_requested_at=row.cancel_requested_at or at,
                cancel_requested_by=row.cancel_requested_by or by,
            ),
        )

    def reschedule(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        return self._move(
            ref,
            lambda row: row.status is Status.PENDING,
            lambda row: replace(
                row,
                due_at=due_at,
                first_due_at=None,
                generation=row.generation + 1,
                changed_by=by,
                changed_at=at,
            ),
        )

    def redrive(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        redrive = partial(
            self._move,
            ref,
            lambda row: row.status is Status.FAILED,
            lambda row: replace(
                row,
                status=Status.PENDING,
                due_at=due_at,
                first_due_at=row.nominal_at,
                generation=row.generation + 1,
                redriven_after=row.attempt,
                recoveries=0,
                cancel_requested_at=None,
                cancel_requested_by=None,
                changed_by=by,
                changed_at=at,
                expires_at=None,
            ),
        )
        return _unless_mine(self.take_again(ref, at, redrive), Status.PENDING, by=by, at=at)

    def remove_payload(self, ref: ActionRef) -> None:
        """A payload in memory goes with its row."""

    def _move(
        self, ref: ActionRef, may: Callable[[Action], bool], change: Callable[[Action], Action]
    ) -> Applied | Rejected:
        with self.lock:
            row = self._rows.get(ref)
            if row is None or not may(row):
                return Rejected(row)
            return Applied(self.write(row, change(row)))


def _settled_before(standing: Action | None, claimed: Action) -> SettleResult:
    was_this_run = standing is not None and standing.fence == claimed.fence
    return SettleResult.SETTLED if was_this_run else SettleResult.LEASE_LOST


def _unless_mine(outcome: Applied | Rejected, status: Status, *, by: str, at: datetime) -> Applied | Rejected:
    """A row that stands as this very call would have left it was changed by its first try."""
    row = outcome.action
    is_mine = row is not None and (row.status, row.changed_by, row.changed_at) == (status, by, at)
    return Applied(row) if row is not None and is_mine else outcome
