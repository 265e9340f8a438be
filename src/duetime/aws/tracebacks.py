"""Tracebacks of failed attempts in DynamoDB: items beside their rows, which only failures pay for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, traceback_key, traceback_partition
from duetime.ids import SEPARATOR
from duetime.model.action import KEPT_ATTEMPTS, ActionRef
from duetime.model.attempt_traceback import AttemptTraceback


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
