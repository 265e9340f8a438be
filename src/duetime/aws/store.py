"""The actions in DynamoDB: one conditional write for each transition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime import ids
from duetime.aws import commits
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.items import to_item
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, partition
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.row_entries import RowEntries
from duetime.ids import ActionId
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.batch import ActionBatch, MemberStatus
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import (
    Settlement,
    SettleResult,
)
from duetime.ports.action_keys import taking
from duetime.ports.action_store import ActionStore
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.batches import Batches
from duetime.ports.keyed_items import EXACT_INSTANT
from duetime.ports.row_writes import RowPut

if TYPE_CHECKING:
    from duetime.aws.direct_puts import DirectPuts


class DynamoBatches(Batches):
    """The batches of an actions table.

    See `duetime.ports.action_store.ActionStore`.
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


class DynamoStore(ActionStore):
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
        rows = RowEntries(client, table, partial(to_item, due_order=due_order), direct)
        items = DynamoItems(client, table, rows)
        batches = DynamoBatches(items, rows.payloads)
        super().__init__(items, batches, due_shards=due_shards, at_once=at_once)
        self.payloads = rows.payloads

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        row = self.items.entry(RowPut(action))
        entries = [row] if terms is None else [self.items.entry(taking(action, terms)), row]
        if not action.payload_size:
            return tuple(entries)
        return (self.payloads.entry(action), *entries)

    def with_payload(self, row: Action) -> Action:
        return self.payloads.with_payload(row)

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        self.payloads.outlive(claimed, transition.settled(claimed, settlement))
        transaction = commits.CommitTransaction(self._table.name, claimed, settlement, entries, number)
        return commits.commit(self._table.client, transaction)

    def remove_payload(self, ref: ActionRef) -> None:
        self.payloads.remove(ref)
