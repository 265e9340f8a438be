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

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from duetime.aws.conditions import ROW_IS_ABSENT, Update
from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import TransactionCancelled, TransactionFailed
from duetime.aws.items import from_item
from duetime.aws.keyed_items import DynamoItems, ItemFields
from duetime.aws.keys import Item, row_key
from duetime.aws.transactions import Entry, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable
from duetime.model.action import Action, ActionRef, Status
from duetime.model.idempotency import HeldKey, KeyTerms, content_of
from duetime.model.lease import Applied, Rejected
from duetime.ports.action_keys import IDEMPOTENCY_KEY, key_of, to_held
from duetime.ports.keyed_items import IS_NEW, Guard, Key, Write, read_strictly, unread

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
        self._items, self._get, self._to_item = DynamoItems(client, table), get, to_item

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
        as_read = IS_NEW if held is None else IDEMPOTENCY_KEY.as_read(held)
        put = IDEMPOTENCY_KEY.of(HeldKey.for_action(action, terms.until))
        return self._items.entry(Write(kind=IDEMPOTENCY_KEY, key=_key(action), guard=as_read, put=put))

    def take_again(self, row: Action, redriven: Update, at: datetime) -> Applied | Rejected:
        """Redrive a failed row that has a key, unless another action has the key now."""
        entries = [update(self._items.name, row_key(row.ref), redriven), self._retaken(row, at)]
        try:
            retry_on_conflict(partial(write, self._items.client, entries), TransactionCancelled)
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
        mine: Guard = (*IS_NEW, {"action_id": row.id})
        first = {"content": content_of(self._get(row.ref) or row), "until": at}
        sets = {"action_id": row.id}
        return self._items.entry(
            Write(kind=IDEMPOTENCY_KEY, key=_key(row), guard=mine, sets=sets, first=first)
        )

    def remove_key(self, ref: ActionRef, key: str) -> None:
        place, mine = key_of(IDEMPOTENCY_KEY, ref.tenant_id, key), {"action_id": ref.id}
        self._items.write(Write(kind=IDEMPOTENCY_KEY, key=place, guard=(mine,), is_removal=True))

    def _taking(self, action: Action, terms: KeyTerms, held: HeldKey | None) -> Sequence[Entry]:
        row = put(self._items.name, self._to_item(action), ConditionExpression=ROW_IS_ABSENT)
        taking = [self.entry(action, terms, held), row]
        if held is not None:
            previous = row_key(ActionRef(action.tenant_id, held.action_id))
            is_over: Update = {
                "ConditionExpression": ACTION_IS_FINAL_OR_GONE,
                "ExpressionAttributeNames": {"#status": "status"},
                "ExpressionAttributeValues": _FINAL,
            }
            taking.append(update(self._items.name, previous, is_over))
        return taking

    def _write(self, action: Action, entries: Sequence[Entry]) -> None:
        """Write the entries. Without a response, read the key to find out whether they were written."""
        try:
            retry_on_conflict(partial(write, self._items.client, entries), TransactionCancelled)
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
        item = self._items.get(IDEMPOTENCY_KEY, _key(action), unread)
        return None if item is None else read_strictly(to_held, item)


def _key(action: Action) -> Key:
    return key_of(IDEMPOTENCY_KEY, action.tenant_id, action.idempotency_key)


def _read(item: Item | None) -> HeldKey | None:
    return read_strictly(to_held, ItemFields(IDEMPOTENCY_KEY, item)) if item else None
