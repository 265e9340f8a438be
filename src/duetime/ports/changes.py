"""What the stores of actions share: each change of a row as it was read is one swap."""

# ruff: noqa: D102 - `duetime.ports.actions.ActionStore` describes the methods

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from duetime.ids import due_shard_of
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.lease import (
    Applied,
    Claimed,
    ClaimTerms,
    LeaseHeld,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
    outlasts,
    renewed_if,
)
from duetime.model.row_parts import HandOver, Progress
from duetime.model.swap import (
    DEAD_LETTER_AS_READ,
    HANDED_OVER,
    MY_RUN,
    NOT_YET_CANCELLED,
    PENDING_AS_READ,
    RENEWABLE,
    WITH_ITS_WORKER,
    Guard,
    claimable,
    redrivable,
    settleable,
)
from duetime.ports.action_keys import DebounceKeys, IdempotencyKeys
from duetime.ports.actions import ActionStore
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.batches import Batches
from duetime.ports.delegate import delegate
from duetime.ports.keyed_items import Items
from duetime.ports.rates import Rates
from duetime.ports.run_logs import Tracebacks
from duetime.ports.slots import Slots


class RowChanges:
    """Changes over the `swap` of a back end."""

    due_shards: Sequence[str]

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        """Write the fields in which `after` differs from `read`, if the stored row satisfies the guard.

        One write, and no read. A change whose response was lost is recognised as applied.
        """
        raise NotImplementedError

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        """Redrive a row that takes its idempotency key again."""
        raise NotImplementedError

    def with_payload(self, row: Action) -> Action:
        """Return a row with its payload, wherever that is."""
        return row

    def claim(self, row: Action, terms: ClaimTerms) -> Claimed | LeaseHeld | None:
        current: Action | None = row
        if terms.may_begin(row):
            current = self.swap(row, transition.started(row, terms), claimable(row)).action
        if current is None or current.lease_until is None or terms.is_fenced_off(current):
            return None
        if current.nonce == terms.nonce:
            return Claimed(self.with_payload(current))
        return LeaseHeld(current.lease_until)

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        outcome = self.swap(claimed, transition.beaten(claimed, until, None), RENEWABLE)
        return renewed_if(outcome, claimed, lambda _row: True)

    def hand_over(self, claimed: Action, hand_over: HandOver) -> Renewed | None:
        after = transition.handed_over(claimed, hand_over)
        return renewed_if(self.swap(claimed, after, WITH_ITS_WORKER), claimed)

    def beat(
        self, row: Action, until: datetime, *, now: datetime, progress: Progress | None = None
    ) -> Renewed | None:
        lasting = replace(HANDED_OVER, at_most=("lease_until",), above={"lease_until": now})
        outcome = self.swap(row, transition.beaten(row, until, progress), lasting)
        return renewed_if(outcome, row, lambda current: outlasts(current, until, now))

    def report(self, claimed: Action, progress: Progress) -> Renewed | None:
        return renewed_if(self.swap(claimed, transition.reported(claimed, progress), MY_RUN), claimed)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        outcome = self.swap(claimed, transition.settled(claimed, settlement), settleable(settlement))
        return settlement.result_in(claimed, outcome.action)

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        outcome = self.swap(row, transition.asked_to_cancel(row, by=by, at=at), NOT_YET_CANCELLED)
        run = outcome.action
        is_asked = renewed_if(outcome, row, lambda current: current.cancel_request is not None)
        return Applied(run) if run is not None and is_asked else outcome

    def cancel(self, row: Action, *, by: str, at: datetime, kept_until: datetime) -> Applied | Rejected:
        return self.end_pending(row, transition.cancelled(row, by=by, at=at, kept_until=kept_until))

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
    ) -> Applied | Rejected:
        ended = transition.skipped(row, reason, note=note, by=by, at=at, kept_until=kept_until)
        return self.end_pending(row, ended)

    def end_pending(self, row: Action, ended: Action) -> Applied | Rejected:
        """Replace a row that is pending as read by `ended`, which a transition made of it."""
        return self.swap(row, ended, PENDING_AS_READ)

    def reschedule(
        self, row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None = None
    ) -> Applied | Rejected:
        after = transition.rescheduled(row, due_at, by=by, at=at, expires_at=expires_at)
        return self.swap(row, after, PENDING_AS_READ)

    def defer(
        self, row: Action, until: datetime, *, held_by: str | None = None, waits_for: str | None = None
    ) -> Applied | Rejected:
        after = transition.deferred(row, until=until, held_by=held_by, waits_for=waits_for)
        return self.swap(row, after, PENDING_AS_READ)

    release = end_pending

    def redrive(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        shard = due_shard_of(row.id, len(self.due_shards))
        after = transition.redriven(row, due_at, shard, by=by, at=at)
        if row.idempotency_key is None:
            return self.swap(row, after, redrivable(row))
        return self.retaken(row, after, at)

    def dismiss(self, row: Action, reason: str, *, by: str, at: datetime) -> Applied | Rejected:
        return self.swap(row, transition.dismissed(row, reason, by=by, at=at), DEAD_LETTER_AS_READ)


class StoreOfParts(RowChanges):
    """What the parts of a store do.

    Args:
        items: the keyed items beside the rows.
        queries: has the methods that read pages of rows.
        at_once: makes calls that are independent of each other.
    """

    def __init__(
        self, items: Items, queries: object, batches: Batches, *, at_once: AtOnce = one_by_one
    ) -> None:
        self.items, self.queries, self._batches = items, queries, batches
        self.keys, self.debounce = IdempotencyKeys(items, self.get), DebounceKeys(items, self.get)
        self.slots, self.rates, self._tracebacks = Slots(items, at_once), Rates(items), Tracebacks(items)

    def get(self, ref: ActionRef) -> Action | None:
        """Return a row."""
        raise NotImplementedError

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        return self.keys.redrive(row, after, at)

    get_rows = delegate("queries", ActionStore.get_rows)
    by_correlation = delegate("queries", ActionStore.by_correlation)
    of_tenant = delegate("queries", ActionStore.of_tenant)
    of_job = delegate("queries", ActionStore.of_job)
    failed = delegate("queries", ActionStore.failed)
    in_due_order = delegate("queries", ActionStore.in_due_order)
    occurrences = delegate("queries", ActionStore.occurrences)
    due = delegate("queries", ActionStore.due)

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

    put_traceback = delegate("_tracebacks", Tracebacks.put_traceback)
    tracebacks = delegate("_tracebacks", Tracebacks.tracebacks)

    open_batch = delegate("_batches", Batches.open_batch)
    find_batch = delegate("_batches", Batches.find_batch)
    change_batch = delegate("_batches", Batches.change_batch)
    batches = delegate("_batches", Batches.batches)
    member_statuses = delegate("_batches", ActionStore.member_statuses)
