"""The actions in DynamoDB: one conditional write for each transition. Queries are in `queries`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime.aws import change_conditions, commits, conditions
from duetime.aws.at_once import AtOnce, one_by_one
from duetime.aws.batches import DynamoBatches
from duetime.aws.debounce import DynamoDebounceKeys
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable
from duetime.aws.faults import ConditionFailed, translate_errors
from duetime.aws.idempotency import DynamoIdempotencyKeys
from duetime.aws.items import from_item, to_item
from duetime.aws.keys import Item, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.queries import DynamoQueries
from duetime.aws.rates import DynamoRates
from duetime.aws.slots import DynamoSlots
from duetime.aws.tracebacks import DynamoTracebacks
from duetime.aws.transactions import put, retry_on_conflict
from duetime.ids import ActionId, due_shard_of
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status
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
    renewed_if,
)
from duetime.ports.delegate import delegate

if TYPE_CHECKING:
    from duetime.aws.direct_puts import DirectPuts


class DynamoStore:
    """The actions table.

    Args:
        client: repeats failed calls by itself.
        at_once: makes the calls of `put_many`.
        due_order: the table has the index by tenant and due time, and new rows are in it.
        direct: puts rows at less CPU; the client puts those that it does not.
    """

    def __init__(
        self,
        client: Client,
        table: str,
        *,
        due_shards: int,
        due_order: bool = False,
        at_once: AtOnce = one_by_one,
        direct: DirectPuts | None = None,
    ) -> None:
        self._table = DynamoTable(client, table)
        self._queries = DynamoQueries(client, table, due_shards=due_shards)
        self.due_shards = self._queries.due_shards
        self._at_once, self._direct = at_once, direct
        self._item: Callable[[Action], Item] = partial(to_item, due_order=due_order)
        self._keys = DynamoIdempotencyKeys(client, table, self.get, self._item)
        self._slots = DynamoSlots(client, table, at_once)
        self._rates = DynamoRates(client, table)
        self.payloads = DynamoPayloads(client, table)
        self._tracebacks = DynamoTracebacks(client, table)
        self._batches = DynamoBatches(client, table, self._item, self.payloads)
        self._debounce = DynamoDebounceKeys(client, table, self.get, self._item, self.payloads)

    get_rows = delegate("_queries", DynamoQueries.get_rows)
    by_correlation = delegate("_queries", DynamoQueries.by_correlation)
    of_tenant = delegate("_queries", DynamoQueries.of_tenant)
    of_job = delegate("_queries", DynamoQueries.of_job)
    failed = delegate("_queries", DynamoQueries.failed)
    in_due_order = delegate("_queries", DynamoQueries.in_due_order)
    occurrences = delegate("_queries", DynamoQueries.occurrences)
    due = delegate("_queries", DynamoQueries.due)

    key_slots = delegate("_slots", DynamoSlots.key_slots)
    take_slot = delegate("_slots", DynamoSlots.take_slot)
    wait_for_slot = delegate("_slots", DynamoSlots.wait_for_slot)
    join_tail = delegate("_slots", DynamoSlots.join_tail)
    mark_tail = delegate("_slots", DynamoSlots.mark_tail)
    tail = delegate("_slots", DynamoSlots.tail)
    leave_tail = delegate("_slots", DynamoSlots.leave_tail)
    move_slots = delegate("_slots", DynamoSlots.move_slots)
    claim_row = delegate("_slots", DynamoSlots.claim_row)
    evict = delegate("_slots", DynamoSlots.evict)
    limit_lease = delegate("_slots", DynamoSlots.limit_lease)

    start_within_rate = delegate("_rates", DynamoRates.start_within_rate)
    reserve_start = delegate("_rates", DynamoRates.reserve_start)
    next_start = delegate("_rates", DynamoRates.next_start)

    first_of_key = delegate("_keys", DynamoIdempotencyKeys.first)
    remove_key = delegate("_keys", DynamoIdempotencyKeys.remove_key)

    find_debounced = delegate("_debounce", DynamoDebounceKeys.find_debounced)
    put_debounced = delegate("_debounce", DynamoDebounceKeys.put_debounced)
    coalesce = delegate("_debounce", DynamoDebounceKeys.coalesce)

    put_traceback = delegate("_tracebacks", DynamoTracebacks.put_traceback)
    tracebacks = delegate("_tracebacks", DynamoTracebacks.tracebacks)

    open_batch = delegate("_batches", DynamoBatches.open_batch)
    find_batch = delegate("_batches", DynamoBatches.find_batch)
    change_batch = delegate("_batches", DynamoBatches.change_batch)
    batches = delegate("_batches", DynamoBatches.batches)
    member_statuses = delegate("_batches", DynamoBatches.member_statuses)

    def put(self, action: Action) -> None:
        if action.payload_offloaded:
            self.payloads.put(action)
        self._put_row(action)

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """Write an offloaded payload only if the key permits the row.

        A repeated call would leave the payload behind.
        """
        if action.payload_offloaded:
            first = self._keys.first(action, terms)
            if first is not None:
                return first
            self.payloads.put(action)
        return self._keys.put(action, terms)

    def _put_row(self, action: Action) -> None:
        """Put a row. An existing one is the same action, because an id is unique."""
        item, condition = self._item(action), conditions.ROW_IS_ABSENT
        if self._direct is not None and self._direct.put(self._table.name, item, condition):
            return
        with suppress(ConditionFailed):
            self._table.put(item, ConditionExpression=condition)

    def put_many(self, actions: Sequence[Action]) -> None:
        """Put each row with a condition of its own: a request that arrives late replaces no row that ran."""
        rows = {action.ref: action for action in actions}.values()
        (one_by_one if len(rows) == 1 else self._at_once)(self.put, rows)

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        row = put(self._table.name, self._item(action), ConditionExpression=conditions.ROW_IS_ABSENT)
        entries = [row] if terms is None else [self._keys.entry(action, terms), row]
        if not action.payload_offloaded:
            return tuple(entries)
        return (self.payloads.entry(action), *entries)

    def get(self, ref: ActionRef) -> Action | None:
        item = self._table.get(row_key(ref))
        return self.payloads.with_payload(from_item(item)) if item else None

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | LeaseHeld | NeedsSlot | None:
        claimed = self._change(ref, conditions.claim(terms))
        if isinstance(claimed, Rejected) and (current := claimed.action) and _has_other_fence(current, terms):
            claimed = self._change(ref, conditions.claim(replace(terms, fence=current.fence)))
        if isinstance(claimed, Rejected):
            return self._claim_refused(claimed.action, terms)
        return Claimed(self.payloads.with_payload(claimed.action))

    def _claim_refused(
        self, current: Action | None, terms: ClaimTerms
    ) -> Claimed | LeaseHeld | NeedsSlot | None:
        if current is None or current.status.is_final or terms.is_fenced_off(current):
            return None
        if current.status is Status.PENDING:
            return NeedsSlot() if current.concurrency_key and current.due_at <= terms.now else None
        if current.nonce == terms.nonce:
            return Claimed(self.payloads.with_payload(current))
        if not terms.may_take_over(current):
            return LeaseHeld(current.lease_until) if current.lease_until else None
        return NeedsSlot() if current.concurrency_key else self._take_over(current, terms)

    def _take_over(self, dead: Action, terms: ClaimTerms) -> Claimed | LeaseHeld | None:
        taken = self._change(dead.ref, conditions.take_over(terms, dead))
        if isinstance(taken, Applied):
            return Claimed(self.payloads.with_payload(taken.action))
        if taken.action is not None and taken.action.nonce == terms.nonce:
            return Claimed(self.payloads.with_payload(taken.action))
        return LeaseHeld(taken.action.lease_until) if taken.action and taken.action.lease_until else None

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        renewed = self._change(claimed.ref, conditions.renew(claimed, until))
        row = renewed.action
        if row is None or (row.status, row.fence) != (Status.PROCESSING, claimed.fence):
            return None
        return Renewed(cancel_requested=row.cancel_requested_at is not None)

    def hand_over(self, claimed: Action, terms: HandOverTerms) -> Renewed | None:
        outcome = self._change(claimed.ref, conditions.hand_over(claimed, terms))
        return renewed_if(outcome, claimed, lambda row: row == transition.handed_over(row, terms))

    def beat(
        self, row: Action, until: datetime, *, now: datetime, progress: Progress | None = None
    ) -> Renewed | None:
        outcome = self._change(row.ref, conditions.beat(row, until, now=now, progress=progress))
        return renewed_if(outcome, row, lambda current: outlasts(current, until, now))

    def report(self, claimed: Action, progress: Progress) -> Renewed | None:
        return renewed_if(self._change(claimed.ref, conditions.report(claimed, progress)), claimed)

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        store = partial(self._change, claimed.ref, conditions.checkpoint(claimed, checkpoint))
        return renewed_if(
            retry_on_conflict(store), claimed, lambda row: not checkpoint.replaces(row.checkpoint)
        )

    def peek(self, claimed: Action) -> Renewed | None:
        with translate_errors(SERVICE):
            item = self._table.client.get_item(
                TableName=self._table.name,
                Key=row_key(claimed.ref),
                ProjectionExpression="fence, #status, cancel_requested_at",
                ExpressionAttributeNames={"#status": "status"},
            ).get("Item")
        mine = (Status.PROCESSING, str(claimed.fence))
        if item is None or (item["status"]["S"], item["fence"]["N"]) != mine:
            return None
        return Renewed(cancel_requested="cancel_requested_at" in item)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        settle = conditions.settle(claimed, settlement)
        self.payloads.outlive(claimed, settlement.kept_until)
        try:
            retry_on_conflict(partial(self._update, claimed.ref, settle))
        except ConditionFailed as failed:
            return not_settled(failed.item, claimed, settlement)
        return SettleResult.SETTLED

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        self.payloads.outlive(claimed, settlement.kept_until)
        transaction = commits.CommitTransaction(self._table.name, claimed, settlement, entries, number)
        return commits.commit(self._table.client, transaction)

    def cancel(self, row: Action, *, by: str, at: datetime, kept_until: datetime) -> Applied | Rejected:
        self.payloads.outlive(row, kept_until)
        outcome = self._change(row.ref, change_conditions.cancel(row, by=by, at=at, kept_until=kept_until))
        return applied_if_mine(outcome, Status.CANCELLED, by=by, at=at)

    def ask_to_cancel(self, row: Action, *, by: str, at: datetime) -> Applied | Rejected:
        return self._change(row.ref, change_conditions.ask_to_cancel(row, by=by, at=at))

    def reschedule(
        self, row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None = None
    ) -> Applied | Rejected:
        change = change_conditions.reschedule(row, due_at, by=by, at=at, expires_at=expires_at)
        outcome = self._change(row.ref, change)
        return self.payloads.keeping(applied_if_mine(outcome, Status.PENDING, by=by, at=at))

    def defer(
        self, row: Action, until: datetime, *, held_by: str | None = None, waits_for: str | None = None
    ) -> Applied | Rejected:
        outcome = self._change(row.ref, change_conditions.defer(row, until, held_by, waits_for))
        return self.payloads.keeping(deferred_if_mine(outcome, row, until))

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
    ) -> Applied | Rejected:
        return self.end_pending(
            row, transition.skipped(row, reason, note=note, by=by, at=at, kept_until=kept_until)
        )

    def end_pending(self, row: Action, ended: Action) -> Applied | Rejected:
        """Replace the row by `ended` if it is pending under the `generation` of `row`."""
        self.payloads.outlive(row, ended.kept_until)
        update = {**change_conditions.end_pending(row, ended), "ReturnValues": "ALL_NEW"}
        outcome = self._change(row.ref, update)
        if ended.changed_by is None or ended.changed_at is None:
            return outcome
        return applied_if_mine(outcome, ended.status, by=ended.changed_by, at=ended.changed_at)

    record = put

    def release(self, row: Action, released: Action) -> Applied | Rejected:
        if released.status is Status.PENDING:
            outcome = self._change(row.ref, change_conditions.release(row, released))
        else:
            self.payloads.outlive(row, released.kept_until)
            outcome = self._change(
                row.ref, {**change_conditions.end_pending(row, released), "ReturnValues": "ALL_NEW"}
            )
        return released_if_mine(outcome, released)

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        try:
            self._update(ref, change_conditions.add_follower(follower))
        except ConditionFailed:
            return False
        return True

    def redrive(self, row: Action, due_at: datetime, *, by: str, at: datetime) -> Applied | Rejected:
        due_shard = due_shard_of(row.id, len(self.due_shards))
        if row.idempotency_key is None:
            outcome = self._change(row.ref, change_conditions.redrive(row, due_at, due_shard, by=by, at=at))
        else:
            change = change_conditions.redrive_with_key(row, due_at, due_shard, by=by, at=at)
            outcome = self._keys.take_again(row, change, at)
        return self.payloads.keeping(applied_if_mine(outcome, Status.PENDING, by=by, at=at))

    def dismiss(self, row: Action, reason: str, *, by: str, at: datetime) -> Applied | Rejected:
        outcome = self._change(row.ref, change_conditions.dismiss(row, reason, by=by, at=at))
        return applied_if_mine(outcome, Status.FAILED, by=by, at=at)

    def remove_payload(self, ref: ActionRef) -> None:
        self.payloads.remove(ref)

    def _change(self, ref: ActionRef, update: conditions.Update) -> Applied | Rejected:
        try:
            return Applied(from_item(self._update(ref, update)))
        except ConditionFailed as failed:
            return Rejected(from_item(failed.item) if failed.item else None)

    def _update(self, ref: ActionRef, update: conditions.Update) -> Item:
        return self._table.update(row_key(ref), ReturnValuesOnConditionCheckFailure="ALL_OLD", **update)


def _has_other_fence(row: Action, terms: ClaimTerms) -> bool:
    """Return whether only the fence, which was read earlier, may have kept a claim with an epoch."""
    is_pending = row.status is Status.PENDING and not terms.is_fenced_off(row)
    return is_pending and terms.epoch > 0 and row.fence != terms.fence


def not_settled(item: Item | None, claimed: Action, settlement: Settlement) -> SettleResult:
    """Return why a settle changed nothing, from the item that failed its condition."""
    if item is None:
        return SettleResult.LEASE_LOST
    row = from_item(item)
    if settlement.has_ended(claimed, row):
        return SettleResult.SETTLED
    is_running = row.status is Status.PROCESSING
    if row.fence != claimed.fence or (settlement.completion is not None and not is_running):
        return SettleResult.LEASE_LOST
    if is_running and not settlement.may_end(row):
        return SettleResult.LEASE_LOST
    return SettleResult.CANCEL_REQUESTED if row.status is Status.PROCESSING else SettleResult.SETTLED
