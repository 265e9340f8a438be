"""Concurrency keys in DynamoDB: one item for each key lists the holders of its slots, and the line.

Each change is one conditional update of that item:

::

    take   if fewer slots than the limit are held, or still none, and no action has joined the line
    wait   if as many slots as the limit are held
    free   if the slot is still that of this run, and no action has joined the line
    pass   if the holders are as read: one leaves, the next of the line become holders
    evict  as free or pass, in one transaction with the dead holder's row: fence + 1, no nonce

The line in the item has the first that wait. The others are in its tail: an item for each, in a partition of
the key, by due time. A move that leaves few in line appends the first of the tail, then removes their items.
The attribute `tail` marks that there may be some. An action joins the tail, marks it and reads the key again;
a move that removes the mark reads the tail again. So one of the two sees the other.

A row's claim is a write of its own. It needs the fence with which its id became a holder, and an eviction
raises that fence: so every live lease has a slot.

A take renews the item's time to live; DynamoDB removes a key that no run takes any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from duetime.aws import damaged_leases
from duetime.aws.at_once import AtOnce, one_by_one
from duetime.aws.conditions import Update
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.keys import row_key, slots_key, tail_partition
from duetime.aws.slot_conditions import JOINED_AS_READ, moved, take, wait
from duetime.aws.slot_items import slots_of, tail_entry, tail_key, time_to_live
from duetime.aws.transactions import retry_on_conflict, update, write
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.slots import KeySlots, SlotMove, TailEntry, tail_position
from duetime.ports.actions import DamagedRow, Holder
from duetime.ports.row_writes import RowStillDead


class DynamoSlots:
    """The concurrency keys of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str, at_once: AtOnce = one_by_one) -> None:
        self._table, self._at_once = DynamoTable(client, table), at_once

    def key_slots(self, tenant_id: TenantId, concurrency_key: str) -> KeySlots:
        item = self._table.get(slots_key(tenant_id, concurrency_key)) or {}
        return slots_of(tenant_id, concurrency_key, item)

    def take_slot(self, row: Action, slots: KeySlots, at: datetime) -> bool:
        change = take(row, slots, at)
        try:
            self._update(slots, change)
        except ConditionFailed as failed:
            return slots_of(slots.tenant_id, slots.key, failed.item or {}).has_token(row)
        return True

    def wait_for_slot(self, row: Action, slots: KeySlots) -> bool:
        with suppress(ConditionFailed):
            self._update(slots, wait(row))
            return True
        return False

    def join_tail(self, row: Action, at: datetime) -> None:
        """A late repeat puts a row that waits no more: a move removes it again."""
        key = tail_key(row.tenant_id, row.concurrency_key or "", tail_position(row))
        if self._table.get(key) is None:
            self._table.update(
                key,
                UpdateExpression="SET #ttl = :ttl",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues={":ttl": time_to_live(at)},
            )

    def mark_tail(self, tenant_id: TenantId, concurrency_key: str, at: datetime) -> KeySlots:
        item = self._table.update(
            slots_key(tenant_id, concurrency_key),
            UpdateExpression="SET tail = :tail, #ttl = if_not_exists(#ttl, :ttl)",
            ExpressionAttributeNames={"#ttl": "ttl"},
            ExpressionAttributeValues={":tail": {"BOOL": True}, ":ttl": time_to_live(at)},
            ReturnValues="ALL_NEW",
        )
        return slots_of(tenant_id, concurrency_key, item)

    def tail(self, tenant_id: TenantId, concurrency_key: str, *, limit: int) -> Sequence[TailEntry]:
        page = self._table.query(
            KeyConditionExpression="pk = :tail",
            ExpressionAttributeValues={":tail": {"S": tail_partition(tenant_id, concurrency_key)}},
            ConsistentRead=True,
            Limit=limit,
        )
        return [*readable(page["Items"], tail_entry, "tail entry")]

    def leave_tail(self, tenant_id: TenantId, concurrency_key: str, entries: Sequence[TailEntry]) -> None:
        def remove(entry: TailEntry) -> None:
            with suppress(ConditionFailed):
                self._table.delete(
                    tail_key(tenant_id, concurrency_key, entry.position),
                    ConditionExpression=JOINED_AS_READ,
                    ExpressionAttributeNames={"#ttl": "ttl"},
                    ExpressionAttributeValues={":joined": time_to_live(entry.joined_at)},
                )

        self._at_once(remove, entries)

    def move_slots(self, move: SlotMove) -> bool:
        try:
            self._update(move.before, moved(move))
        except ConditionFailed as failed:
            return move.is_done_in(slots_of(move.before.tenant_id, move.before.key, failed.item or {}))
        return True

    def evict(self, move: SlotMove, row: Holder | None) -> bool:
        """Return False after repeated conflicts too; the caller reads the slots again."""
        ref = ActionRef(move.before.tenant_id, move.freed or ActionId(""))
        dead = RowStillDead(ref, row, loses_slot=True)
        still_dead = update(self._table.name, row_key(ref), damaged_leases.still_dead(dead))
        slots = update(self._table.name, slots_key(move.before.tenant_id, move.before.key), moved(move))
        try:
            retry_on_conflict(partial(write, self._table.client, [still_dead, slots]), TransactionCancelled)
        except (TransactionFailed, TransactionCancelled):
            return False
        return True

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        with suppress(ConditionFailed):
            self._table.update(row_key(row.ref), **damaged_leases.limit(row, until))

    def _update(self, slots: KeySlots, change: Update) -> None:
        retry_on_conflict(
            partial(
                self._table.update,
                slots_key(slots.tenant_id, slots.key),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **change,
            )
        )
