"""Idempotency keys in DynamoDB: one item for each key, written in one transaction with its row.

::

    take        if the key is absent                                       -> key, row
    take over   if the key is of an action that is final or gone           -> key, row
    take again  if the row has failed, and the key is absent or its own    -> row, key
    remove      if the key is of this removed row                          -> no key

The item has the id of its action, a hash of the action's type and payload, and the end of its validity. It
has no time to
live: it is removed after its row, or taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from duetime import ids, instant
from duetime.aws.conditions import ROW_IS_ABSENT, Update
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import from_item
from duetime.aws.keys import Item, idempotency_key, row_key
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.transactions import Entry, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.ids import ActionId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.idempotency import HeldKey, KeyTerms, content_of
from duetime.model.lease import Applied, Rejected

KEY_IS_ABSENT = "attribute_not_exists(pk)"
KEY_IS_THAT_ACTIONS = "action_id = :former"
KEY_IS_ABSENT_OR_MINE = "attribute_not_exists(pk) OR action_id = :mine"
KEY_IS_MINE = "action_id = :mine"
_FINAL = {f":{status}": {"S": status.value} for status in Status if status.is_final}
ACTION_IS_FINAL_OR_GONE = f"attribute_not_exists(pk) OR #status IN ({', '.join(_FINAL)})"

_KEY, _ROW = 0, 1
"""The positions of the key and of the row in a transaction that takes a key."""
_RACES = 10

Get = Callable[[ActionRef], Action | None]


class DynamoIdempotencyKeys:
    """The idempotency keys of an actions table.

    `get` reads a row consistently and with its payload; `to_item` converts an action to a row.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str, get: Get, to_item: Callable[[Action], Item]) -> None:
        self._table, self._get, self._to_item = DynamoTable(client, table), get, to_item

    def first(self, action: Action, terms: KeyTerms) -> Action | None:
        """Return the action that has the key of `action`, as `put` does, or None if the key is available.

        Raises:
            IdempotencyConflict: as for `put`.
        """
        return self._first(action, self._held(action), terms)

    def put(self, action: Action, terms: KeyTerms) -> Action:
        """See `duetime.ports.actions.ActionStore.put_once`. An offloaded payload was written before."""
        held: HeldKey | None = None
        for _ in range(_RACES):
            try:
                self._write(action, self._taking(action, terms, held))
            except TransactionFailed as failed:
                if _KEY in failed.failed:
                    held = _read(failed.failed[_KEY])
                elif _ROW in failed.failed:
                    return action  # ids are unique: this is a repeated call
            else:
                return action
            first = self._first(action, held, terms)
            if first is not None:
                return first
        raise BackendUnavailable(
            SERVICE,
            f"the idempotency key {action.idempotency_key!r} changed during each of {_RACES} attempts",
        )

    def entry(self, action: Action, terms: KeyTerms, held: HeldKey | None = None) -> Entry:
        """Return the put that takes a free key, or the key of `held`."""
        condition: Mapping[str, Any] = {"ConditionExpression": KEY_IS_ABSENT}
        if held is not None:
            condition = {
                "ConditionExpression": KEY_IS_THAT_ACTIONS,
                "ExpressionAttributeValues": {":former": {"S": held.action_id}},
            }
        item = {
            **self._key(action.ref, action.idempotency_key),
            **_item(HeldKey.for_action(action, terms.until)),
        }
        request = {
            "TableName": self._table.name,
            "Item": item,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        return {"Put": {**request, **condition}}

    def take_again(self, row: Action, redriven: Update, at: datetime) -> Applied | Rejected:
        """Redrive a failed row that has a key, unless another action has the key now."""
        entries = [update(self._table.name, row_key(row.ref), redriven), self._retaken(row, at)]
        try:
            retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)
        except TransactionFailed as failed:
            if 0 in failed.failed:
                current = failed.failed[0]
                return Rejected(from_item(current) if current else None)
            held = _read(failed.failed.get(1))
            return Rejected(row, taken_by=None if held is None else held.action_id)
        moved = self._get(row.ref)
        return Rejected(None) if moved is None else Applied(moved)

    def _retaken(self, row: Action, at: datetime) -> Entry:
        """A key that the row still has keeps its time.

        One that is gone holds until the row is final once more.
        """
        row_with_payload = self._get(row.ref) or row
        return update(
            self._table.name,
            self._key(row.ref, row.idempotency_key),
            {
                "ConditionExpression": KEY_IS_ABSENT_OR_MINE,
                "UpdateExpression": (
                    "SET action_id = :mine, content = if_not_exists(content, :content),"
                    " #until = if_not_exists(#until, :at)"
                ),
                "ExpressionAttributeNames": {"#until": "until"},
                "ExpressionAttributeValues": {
                    ":mine": {"S": row.id},
                    ":content": {"S": content_of(row_with_payload)},
                    ":at": {"S": instant.text(at)},
                },
            },
        )

    def remove_key(self, ref: ActionRef, key: str) -> None:
        with suppress(ConditionFailed):
            self._table.delete(
                self._key(ref, key),
                ConditionExpression=KEY_IS_MINE,
                ExpressionAttributeValues={":mine": {"S": ref.id}},
            )

    def _taking(self, action: Action, terms: KeyTerms, held: HeldKey | None) -> Sequence[Entry]:
        row = put(self._table.name, self._to_item(action), ConditionExpression=ROW_IS_ABSENT)
        taking = [self.entry(action, terms, held), row]
        if held is not None:
            previous = row_key(ActionRef(action.tenant_id, held.action_id))
            is_over: Update = {
                "ConditionExpression": ACTION_IS_FINAL_OR_GONE,
                "ExpressionAttributeNames": {"#status": "status"},
                "ExpressionAttributeValues": _FINAL,
            }
            taking.append(update(self._table.name, previous, is_over))
        return taking

    def _write(self, action: Action, entries: Sequence[Entry]) -> None:
        """Write the entries. Without a response, read the key to find out whether they were written."""
        try:
            retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)
        except TransactionCancelled:
            raise
        except BackendUnavailable:
            held = self._held(action)
            if held is None or held.action_id != action.id:
                raise

    def _first(self, action: Action, held: HeldKey | None, terms: KeyTerms) -> Action | None:
        if held is None:
            return None
        if held.action_id == action.id:
            return action
        return held.first(action, self._get(ActionRef(action.tenant_id, held.action_id)), terms.now)

    def _held(self, action: Action) -> HeldKey | None:
        return _read(self._table.get(self._key(action.ref, action.idempotency_key)))

    def _key(self, ref: ActionRef, key: str | None) -> Item:
        return idempotency_key(ref.tenant_id, key or "")


def _item(held: HeldKey) -> Item:
    return {
        "action_id": {"S": held.action_id},
        "content": {"S": held.content},
        "until": {"S": instant.text(held.until)},
    }


def _read(item: Any) -> HeldKey | None:
    if not item:
        return None
    try:
        action_id, content, until = (item[name]["S"] for name in ("action_id", "content", "until"))
        if not ids.is_action_id(action_id):
            raise ValueError(f"action_id {action_id!r} is no action's id")
        return HeldKey(ActionId(action_id), content, instant.parse(until))
    except UNREADABLE as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error
