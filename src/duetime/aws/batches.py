"""Batches in DynamoDB: the transaction that opens one with its completion action; members' statuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from duetime import ids
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import TransactionCancelled, TransactionFailed
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, partition
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.row_checks import read_instant
from duetime.aws.transactions import put, retry_on_conflict, write
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.batch import ActionBatch, MemberStatus
from duetime.ports.batches import Batches, batch_put
from duetime.ports.keyed_items import IS_NEW


class DynamoBatches(Batches):
    """The batches of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(
        self,
        client: Client,
        table: str,
        to_item: Callable[[Action], Item],
        payloads: DynamoPayloads,
    ) -> None:
        self._table, self._to_item, self._payloads = DynamoItems(client, table), to_item, payloads
        super().__init__(self._table)

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        entries = [self._table.entry(batch_put(batch, guard=IS_NEW))]
        if completion is not None:
            if completion.payload_offloaded:
                self._payloads.put(completion)
            entries.append(
                put(self._table.name, self._to_item(completion), ConditionExpression=ROW_IS_ABSENT)
            )
        try:
            retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)
        except TransactionFailed:
            present = self.find_batch(batch.ref)
            if present is None:
                raise
            if (
                completion is not None
                and completion.payload_offloaded
                and present.on_complete != completion.id
            ):
                self._payloads.remove(completion.ref)  # no row has it
            return present
        return batch

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        if stop <= start:
            return {}
        items = DynamoTable(self._table.client, self._table.name).items(
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
    redriven_at = read_instant(item, "changed_at") if "redriven_after" in item else None
    status = MemberStatus(Status(item["status"]["S"]), redriven_at)
    return ids.member_number(ActionId(item["sk"]["S"])), status
