"""Concurrency keys in DynamoDB: one item for each key lists the holders of its slots.

Each change of the item is in one transaction with a row:

::

    take   if the row is as read, and others hold fewer slots than the limit  -> row is processing and holds a
    slot
    free   with the run's settle                                              -> row holds no slot
    evict  if the holder's row is as read, and the run is dead                -> fence + 1, no nonce, no slot

Each take renews the item's time to live. DynamoDB removes a key that no run takes any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from duetime.aws import damaged_leases, optimistic
from duetime.aws.conditions import Update
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import row_key, slots_key
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.transactions import Entry, retry_on_conflict, update, write
from duetime.errors import UnreadableRow
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.ports.actions import DamagedRow, Holder

IS_FREE = "attribute_not_exists(holders)"
FEWER_ARE_HELD = "size(holders) < :limit"
ONE_OF_THEM_IS_MINE = "contains(holders, :id) AND size(holders) <= :limit"
IT_HOLDS_ONE = "contains(holders, :id)"

_ROW = 0
"""The position of the row in the transaction that takes a slot."""

_OUTLIVES = timedelta(days=2)
"""The time to live of the item after the latest take: longer than the longest run."""


class DynamoSlots:
    """The concurrency keys of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def holders(self, tenant_id: TenantId, key: str) -> frozenset[ActionId]:
        item = self._table.get(slots_key(tenant_id, key)) or {}
        try:
            return frozenset(map(ActionId, item["holders"]["SS"] if "holders" in item else ()))
        except UNREADABLE as error:
            raise UnreadableRow(slots_key(tenant_id, key), error) from error

    def claim_slot(self, row: Action, claimed: Action) -> bool:
        """Return False after repeated conflicts too; the caller reads the slots again."""
        begin = update(self._table.name, row_key(row.ref), optimistic.claim_row(row, claimed))
        try:
            self._write([begin, self._take(claimed)])
        except TransactionFailed as failed:
            return (failed.failed.get(_ROW) or {}).get("nonce") == {"S": claimed.claim_nonce}
        except TransactionCancelled:
            return False
        return True

    def _take(self, claimed: Action) -> Entry:
        last = claimed.attempts[-1].started_at + _OUTLIVES
        return self._slots(
            claimed.ref,
            claimed.concurrency_key,
            {
                "ConditionExpression": f"{IS_FREE} OR {FEWER_ARE_HELD} OR ({ONE_OF_THEM_IS_MINE})",
                "UpdateExpression": "ADD holders :me SET #ttl = :ttl",
                "ExpressionAttributeNames": {"#ttl": "ttl"},
                "ExpressionAttributeValues": {
                    ":limit": {"N": str(claimed.concurrency_limit)},
                    ":id": {"S": claimed.id},
                    ":me": {"SS": [claimed.id]},
                    ":ttl": {"N": to_epoch(last)},
                },
            },
        )

    def free(self, claimed: Action) -> Entry:
        """Return the entry that frees a run's slot. It changes nothing if the run holds none."""
        mine = {":me": {"SS": [claimed.id]}}
        change = {"UpdateExpression": "DELETE holders :me", "ExpressionAttributeValues": mine}
        return self._slots(claimed.ref, claimed.concurrency_key, change)

    def evict(self, tenant_id: TenantId, key: str, dead: ActionId, row: Holder | None) -> bool:
        ref = ActionRef(tenant_id, dead)
        drop = {
            "ConditionExpression": IT_HOLDS_ONE,
            "UpdateExpression": "DELETE holders :dead",
            "ExpressionAttributeValues": {":id": {"S": dead}, ":dead": {"SS": [dead]}},
        }
        still_dead = update(self._table.name, row_key(ref), optimistic.still_dead(row))
        try:
            self._write([still_dead, self._slots(ref, key, drop)])
        except (TransactionFailed, TransactionCancelled):
            return False
        return True

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        with suppress(ConditionFailed):
            self._table.update(row_key(row.ref), **damaged_leases.limit(row, until))

    def _write(self, entries: Sequence[Entry]) -> None:
        retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)

    def _slots(self, ref: ActionRef, key: str | None, change: Update) -> Entry:
        return update(self._table.name, slots_key(ref.tenant_id, key or ""), change)
