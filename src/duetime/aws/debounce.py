"""Debounce keys in DynamoDB: one item for each key, written in one transaction with the first row of a burst.

::

    take       if the key is absent                            -> key, row
    take over  if the key is of an action that has begun       -> key, row
    coalesce   if that row is pending, its generation as read  -> row, and its offloaded payload

The item has the id of its latest action. That a run of that action has begun is never undone, so a take-over
does not check its row. The item has a time to live of 400 days after the due time, which a later due time
moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from duetime import ids
from duetime.aws.change_conditions import coalesce
from duetime.aws.conditions import ROW_IS_ABSENT
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import TransactionCancelled, TransactionFailed
from duetime.aws.items import from_item, to_epoch
from duetime.aws.keys import Item, debounce_key, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.transactions import Entry, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.debounce import DebounceHolder, applied_if_taken
from duetime.model.lease import Applied, Rejected

DEBOUNCE_KEY_IS_ABSENT = "attribute_not_exists(pk)"
DEBOUNCE_KEY_IS_AS_READ = "action_id = :read"

_KEY, _ROW = 0, 1
"""The positions of the key and of the row in the transaction that takes a key."""

_OUTLIVES = timedelta(days=400)
_RENEWED_WITHIN = timedelta(days=200)
"""A later due time writes the key again only if less than this would be left of its time to live."""


class DynamoDebounceKeys:
    """The debounce keys of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(
        self,
        client: Client,
        table: str,
        get: Callable[[ActionRef], Action | None],
        to_item: Callable[[Action], Item],
        payloads: DynamoPayloads,
    ) -> None:
        self._table, self._get, self._to_item = DynamoTable(client, table), get, to_item
        self._payloads = payloads

    def find_debounced(self, tenant_id: TenantId, key: str) -> DebounceHolder | None:
        item = self._table.get(debounce_key(tenant_id, key))
        if item is None:
            return None
        try:
            action_id, until = item["action_id"]["S"], int(item["ttl"]["N"])
            if not ids.is_action_id(action_id):
                raise ValueError(f"action_id {action_id!r} is no action's id")
            holder = DebounceHolder(ActionId(action_id), None, datetime.fromtimestamp(until, UTC))
        except UNREADABLE as error:
            raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error
        row = self._get(ActionRef(tenant_id, holder.action_id))
        is_forged = row is not None and row.debounce_key != key  # IAM does not restrict attributes
        return holder if is_forged else replace(holder, action=row)

    def put_debounced(self, action: Action, former: DebounceHolder | None) -> bool:
        if action.payload_offloaded:
            self._payloads.put(action)
        row = put(self._table.name, self._to_item(action), ConditionExpression=ROW_IS_ABSENT)
        try:
            self._write([self._taking(action, former), row])
        except TransactionFailed as failed:
            return _ROW in failed.failed  # ids are unique: this is a repeated call
        except BackendUnavailable:
            if self._get(action.ref) is None:
                raise
        return True

    def coalesce(self, row: Action, changed: Action, holder: DebounceHolder) -> Applied | Rejected:
        entries = [update(self._table.name, row_key(row.ref), coalesce(row, self._to_item(changed)))]
        if changed.payload_offloaded:
            entries.append(self._payloads.entry(changed))
        if changed.due_at + _RENEWED_WITHIN > holder.until:
            entries.append(self._renewal(changed))
        try:
            self._write(entries)
        except TransactionFailed as failed:
            item = failed.failed.get(0)
            return applied_if_taken(from_item(item) if item else None, changed)
        except BackendUnavailable:
            outcome = applied_if_taken(self._get(row.ref), changed)
            if isinstance(outcome, Rejected):
                raise
            return outcome
        return Applied(changed)

    def _write(self, entries: Sequence[Entry]) -> None:
        retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)

    def _taking(self, action: Action, former: DebounceHolder | None) -> Entry:
        condition: Mapping[str, Any] = {"ConditionExpression": DEBOUNCE_KEY_IS_ABSENT}
        if former is not None:
            condition = {
                "ConditionExpression": DEBOUNCE_KEY_IS_AS_READ,
                "ExpressionAttributeValues": {":read": {"S": former.action_id}},
            }
        item = {
            **debounce_key(action.tenant_id, action.debounce_key or ""),
            "action_id": {"S": action.id},
            "ttl": {"N": to_epoch(action.due_at + _OUTLIVES)},
        }
        return {"Put": {"TableName": self._table.name, "Item": item, **condition}}

    def _renewal(self, changed: Action) -> Entry:
        """Return the update of the key's time to live."""
        return update(
            self._table.name,
            debounce_key(changed.tenant_id, changed.debounce_key or ""),
            {
                "ConditionExpression": DEBOUNCE_KEY_IS_AS_READ,
                "UpdateExpression": "SET #ttl = :ttl",
                "ExpressionAttributeNames": {"#ttl": "ttl"},
                "ExpressionAttributeValues": {
                    ":read": {"S": changed.id},
                    ":ttl": {"N": to_epoch(changed.due_at + _OUTLIVES)},
                },
            },
        )
