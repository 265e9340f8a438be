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

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from duetime.aws.conditions import ROW_IS_ABSENT, swap
from duetime.aws.dynamodb import Client
from duetime.aws.faults import TransactionCancelled, TransactionFailed
from duetime.aws.items import from_item
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import Item, row_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.transactions import Entry, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable
from duetime.ids import TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.debounce import DebounceHolder, applied_if_taken
from duetime.model.lease import Applied, Rejected
from duetime.model.swap import PENDING_AS_READ
from duetime.ports.action_keys import DEBOUNCE_KEY, key_of, to_latest
from duetime.ports.keyed_items import IS_NEW, Key, Write, read_strictly, unread

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
        self._items, self._get, self._to_item = DynamoItems(client, table), get, to_item
        self._payloads = payloads

    def find_debounced(self, tenant_id: TenantId, key: str) -> DebounceHolder | None:
        item = self._items.get(DEBOUNCE_KEY, key_of(DEBOUNCE_KEY, tenant_id, key), unread)
        if item is None:
            return None
        action_id, until = read_strictly(to_latest, item)
        holder = DebounceHolder(action_id, None, until)
        row = self._get(ActionRef(tenant_id, holder.action_id))
        is_forged = row is not None and row.debounce_key != key  # IAM does not restrict attributes
        return holder if is_forged else replace(holder, action=row)

    def put_debounced(self, action: Action, former: DebounceHolder | None) -> bool:
        if action.payload_offloaded:
            self._payloads.put(action)
        row = put(self._items.name, self._to_item(action), ConditionExpression=ROW_IS_ABSENT)
        try:
            self._write([self._taking(action, former), row])
        except TransactionFailed as failed:
            return _ROW in failed.failed  # ids are unique: this is a repeated call
        except BackendUnavailable:
            if self._get(action.ref) is None:
                raise
        return True

    def coalesce(self, row: Action, changed: Action, holder: DebounceHolder) -> Applied | Rejected:
        entries = [update(self._items.name, row_key(row.ref), swap(row, changed, PENDING_AS_READ))]
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
        retry_on_conflict(partial(write, self._items.client, entries), TransactionCancelled)

    def _taking(self, action: Action, former: DebounceHolder | None) -> Entry:
        put = {"action_id": action.id, "ttl": action.due_at + _OUTLIVES}
        as_read = IS_NEW if former is None else DEBOUNCE_KEY.as_read(former)
        return self._items.entry(Write(kind=DEBOUNCE_KEY, key=_key(action), guard=as_read, put=put))

    def _renewal(self, changed: Action) -> Entry:
        """Return the update of the key's time to live."""
        mine, sets = {"action_id": changed.id}, {"ttl": changed.due_at + _OUTLIVES}
        return self._items.entry(Write(kind=DEBOUNCE_KEY, key=_key(changed), guard=(mine,), sets=sets))


def _key(action: Action) -> Key:
    return key_of(DEBOUNCE_KEY, action.tenant_id, action.debounce_key)
