"""Batches in DynamoDB: the payload of a completion action, and the members' statuses."""

from __future__ import annotations

from collections.abc import Mapping

from duetime import ids
from duetime.aws.dynamodb import DynamoTable, readable
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, partition
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.row_checks import read_instant
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.batch import ActionBatch, MemberStatus
from duetime.ports.batches import Batches


class DynamoBatches(Batches):
    """The batches of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, items: DynamoItems, payloads: DynamoPayloads) -> None:
        super().__init__(items)
        self._table, self._payloads = DynamoTable(items.client, items.name), payloads

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        opened = super().open_batch(batch, completion)
        if completion is not None and completion.payload_offloaded and opened.on_complete != completion.id:
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
    redriven_at = read_instant(item, "changed_at") if "redriven_after" in item else None
    status = MemberStatus(Status(item["status"]["S"]), redriven_at)
    return ids.member_number(ActionId(item["sk"]["S"])), status
