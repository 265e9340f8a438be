"""The actions in DynamoDB: one conditional write for each transition. Queries are in `queries`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime import ids
from duetime.aws import commits, conditions, damaged_leases
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, translate_errors
from duetime.aws.items import from_item, to_item
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, partition, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.queries import DynamoQueries
from duetime.aws.row_entries import RowEntries
from duetime.aws.transactions import retry_on_conflict
from duetime.ids import ActionId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.batch import ActionBatch, MemberStatus
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
from duetime.ports.action_keys import taking
from duetime.ports.actions import DamagedRow
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.batches import Batches
from duetime.ports.changes import StoreOfParts
from duetime.ports.keyed_items import EXACT_INSTANT
from duetime.ports.row_writes import RowPut

if TYPE_CHECKING:
    from duetime.aws.direct_puts import DirectPuts


class DynamoBatches(Batches):
    """The batches of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, items: DynamoItems, payloads: DynamoPayloads) -> None:
        super().__init__(items)
        self._table, self._payloads = DynamoTable(items.client, items.name), payloads

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        opened = super().open_batch(batch, completion)
        if completion is not None and completion.payload_size and opened.on_complete != completion.id:
            self._payloads.remove(completion.ref)  # no row has it
        return opened

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        if stop <= start:
            return {}
        items = self._table.items(
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": partition(batch.tenant_id, shard)},
                ":first": {"S": batch.member(start).id},
                ":last": {"S": batch.member(stop - 1).id},
            },
            ExpressionAttributeNames={"#status": "status"},
            ProjectionExpression="sk, #status, redriven_after, changed_at",
            ConsistentRead=True,
        )
        return dict(readable(items, _status_of, "member"))


def _status_of(item: Item) -> tuple[int, MemberStatus]:
    redriven_at = EXACT_INSTANT.load(item["changed_at"]["S"]) if "redriven_after" in item else None
    status = MemberStatus(Status(item["status"]["S"]), redriven_at)
    return ids.member_number(ActionId(item["sk"]["S"])), status


class DynamoStore(StoreOfParts):
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
        self._at_once, self._direct = at_once, direct
        self._item: Callable[[Action], Item] = partial(to_item, due_order=due_order)
        rows = RowEntries(client, table, self._item)
        queries, items = DynamoQueries(client, table, due_shards=due_shards), DynamoItems(client, table, rows)
        super().__init__(items, queries, DynamoBatches(items, rows.payloads), at_once=at_once)
        self.payloads, self.due_shards = rows.payloads, queries.due_shards

    def put(self, action: Action) -> None:
        if action.payload_size:
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
        row = self.items.entry(RowPut(action))
        entries = [row] if terms is None else [self.items.entry(taking(action, terms)), row]
        if not action.payload_size:
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
        return self.payloads.keeping(super().retaken(row, after, at))

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
