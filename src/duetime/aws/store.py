"""The actions in DynamoDB: one conditional write for each transition. Queries are in `queries`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.aws import commits, conditions, damaged_leases
from duetime.aws.batches import DynamoBatches
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, translate_errors
from duetime.aws.items import from_item, to_epoch, to_item
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, row_key, traceback_key, traceback_partition
from duetime.aws.queries import DynamoQueries
from duetime.aws.row_entries import RowEntries
from duetime.aws.transactions import retry_on_conflict
from duetime.ids import SEPARATOR, ActionId
from duetime.model.action import KEPT_ATTEMPTS, Action, ActionRef, Status
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.model.checkpoint import Checkpoint
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Applied,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
    renewed_if,
)
from duetime.model.swap import Guard, applied_if_mine
from duetime.ports.action_keys import DebounceKeys, IdempotencyKeys, taking
from duetime.ports.actions import DamagedRow
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.changes import RowChanges
from duetime.ports.delegate import delegate
from duetime.ports.rates import Rates
from duetime.ports.row_writes import RowPut
from duetime.ports.slots import Slots

if TYPE_CHECKING:
    from duetime.aws.direct_puts import DirectPuts


class DynamoTracebacks:
    """The tracebacks of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def put_traceback(self, ref: ActionRef, traceback: AttemptTraceback, kept_until: datetime) -> None:
        self._table.update(
            traceback_key(ref, traceback.started_at),
            UpdateExpression="SET #traceback = :traceback, #ttl = :ttl",
            ExpressionAttributeNames={"#traceback": "traceback", "#ttl": "ttl"},
            ExpressionAttributeValues={
                ":traceback": {"B": traceback.to_bytes()},
                ":ttl": {"N": to_epoch(kept_until)},
            },
        )

    def tracebacks(self, ref: ActionRef) -> Sequence[AttemptTraceback]:
        page = self._table.query(
            KeyConditionExpression="pk = :pk AND begins_with(sk, :action)",
            ExpressionAttributeValues={
                ":pk": {"S": traceback_partition(ref)},
                ":action": {"S": f"{ref.id}{SEPARATOR}"},
            },
            ScanIndexForward=False,
            ConsistentRead=True,
            Limit=KEPT_ATTEMPTS,
        )
        return tuple(readable(reversed(page["Items"]), _from_item, "traceback"))


def _from_item(item: Item) -> AttemptTraceback:
    started_at = instant.parse(item["sk"]["S"].rpartition(SEPARATOR)[2])
    return AttemptTraceback.from_bytes(started_at, bytes(item["traceback"]["B"]))


class DynamoStore(RowChanges):
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
        rows = RowEntries(client, table, self._item)
        self.payloads, self._items = rows.payloads, DynamoItems(client, table, rows)
        self._keys = IdempotencyKeys(self._items, self.get)
        self._slots = Slots(self._items, at_once)
        self._rates = Rates(self._items)
        self._tracebacks = DynamoTracebacks(client, table)
        self._batches = DynamoBatches(self._items, self.payloads)
        self._debounce = DebounceKeys(self._items, self.get)

    get_rows = delegate("_queries", DynamoQueries.get_rows)
    by_correlation = delegate("_queries", DynamoQueries.by_correlation)
    of_tenant = delegate("_queries", DynamoQueries.of_tenant)
    of_job = delegate("_queries", DynamoQueries.of_job)
    failed = delegate("_queries", DynamoQueries.failed)
    in_due_order = delegate("_queries", DynamoQueries.in_due_order)
    occurrences = delegate("_queries", DynamoQueries.occurrences)
    due = delegate("_queries", DynamoQueries.due)

    key_slots = delegate("_slots", Slots.key_slots)
    take_slot = delegate("_slots", Slots.take_slot)
    wait_for_slot = delegate("_slots", Slots.wait_for_slot)
    join_tail = delegate("_slots", Slots.join_tail)
    mark_tail = delegate("_slots", Slots.mark_tail)
    tail = delegate("_slots", Slots.tail)
    leave_tail = delegate("_slots", Slots.leave_tail)
    move_slots = delegate("_slots", Slots.move_slots)
    evict = delegate("_slots", Slots.evict)

    start_within_rate = delegate("_rates", Rates.start_within_rate)
    reserve_start = delegate("_rates", Rates.reserve_start)
    next_start = delegate("_rates", Rates.next_start)

    put_once = delegate("_keys", IdempotencyKeys.put_once)
    first_of_key = delegate("_keys", IdempotencyKeys.first_of_key)
    remove_key = delegate("_keys", IdempotencyKeys.remove_key)

    find_debounced = delegate("_debounce", DebounceKeys.find_debounced)
    put_debounced = delegate("_debounce", DebounceKeys.put_debounced)
    coalesce = delegate("_debounce", DebounceKeys.coalesce)

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
        row = self._items.entry(RowPut(action))
        entries = [row] if terms is None else [self._items.entry(taking(action, terms)), row]
        if not action.payload_offloaded:
            return tuple(entries)
        return (self.payloads.entry(action), *entries)

    def get(self, ref: ActionRef) -> Action | None:
        item = self._table.get(row_key(ref))
        return self.with_payload(from_item(item)) if item else None

    def with_payload(self, row: Action) -> Action:
        return self.payloads.with_payload(row)

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        with suppress(ConditionFailed):
            self._update(row.ref, damaged_leases.limit(row, until))

    def checkpoint(self, claimed: Action, checkpoint: Checkpoint) -> Renewed | None:
        stored = self._change(claimed.ref, conditions.checkpoint(claimed, checkpoint))
        return renewed_if(stored, claimed, lambda row: not checkpoint.replaces(row.checkpoint))

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

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        self.payloads.outlive(claimed, settlement.kept_until)
        transaction = commits.CommitTransaction(self._table.name, claimed, settlement, entries, number)
        return commits.commit(self._table.client, transaction)

    record = put

    def add_follower(self, ref: ActionRef, follower: ActionId) -> bool:
        try:
            self._update(ref, conditions.add_follower(follower))
        except ConditionFailed:
            return False
        return True

    def retaken(self, row: Action, after: Action, at: datetime) -> Applied | Rejected:
        return self.payloads.keeping(self._keys.redrive(row, after, at))

    def swap(self, read: Action, after: Action, guard: Guard) -> Applied | Rejected:
        if read.status is not guard.status:
            return Rejected(self.get(read.ref))
        if after.status.is_final:
            self.payloads.outlive(read, after.kept_until)
        update = {**conditions.swap(read, after, guard), "ReturnValues": "ALL_NEW"}
        outcome = applied_if_mine(self._change(read.ref, update), read, after, guard)
        is_retry = guard.status is Status.PROCESSING
        return outcome if is_retry or after.due_at == read.due_at else self.payloads.keeping(outcome)

    def remove_payload(self, ref: ActionRef) -> None:
        self.payloads.remove(ref)

    def _change(self, ref: ActionRef, update: conditions.Update) -> Applied | Rejected:
        try:
            return Applied(from_item(retry_on_conflict(partial(self._update, ref, update))))
        except ConditionFailed as failed:
            return Rejected(from_item(failed.item) if failed.item else None)

    def _update(self, ref: ActionRef, update: conditions.Update) -> Item:
        return self._table.update(row_key(ref), ReturnValuesOnConditionCheckFailure="ALL_OLD", **update)
