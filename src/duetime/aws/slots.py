"""Concurrency keys in DynamoDB: one item for each key lists the holders of its slots, and the line.

Each change is one conditional update of that item:

::

    take   if others hold fewer slots than the limit, and no action has joined the line since the read
    wait   if others hold as many as the limit
    free   if the slot is still that of this run, and no action has joined the line since the read
    pass   the same, and the holders are as read: one leaves, the next of the line become holders
    evict  as free or pass, in one transaction with the dead holder's row: fence + 1, no nonce

The line in the item has the first that wait. The others are in its tail: an item for each, in a partition of
the key, by due time. A move that leaves few in line appends the first of the tail, then removes their items.
The attribute `tail` marks that there may be some. An action joins the tail, marks it and reads the key again;
a move that removes the mark reads the tail again. So one of the two sees the other.

A row's claim is a write of its own. It needs the fence with which its id became a holder, and an eviction
raises that fence: so every live lease has a slot.

0.1.0 reads and writes `holders` alone, in transactions with rows, and evicts a pending holder without its
fence. So a run reads the item again after its claim. In the attributes `fence:ID` are the tokens of holders.
A take renews the item's time to live; DynamoDB removes a key that no run takes any more.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from duetime.aws import damaged_leases, optimistic
from duetime.aws.at_once import AtOnce, one_by_one
from duetime.aws.conditions import Update
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, row_key, slots_key, tail_partition
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.transactions import retry_on_conflict, update, write
from duetime.errors import UnreadableRow
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove, TailEntry, tail_position
from duetime.ports.actions import DamagedRow, Holder

IS_FREE = "attribute_not_exists(holders)"
FEWER_ARE_HELD = "size(holders) < :limit"
SOME_ARE_HELD = "attribute_exists(holders)"
AS_MANY_ARE_HELD = "size(holders) >= :limit"
HOLDERS_ARE_AS_READ = "holders = :holders"
IT_HOLDS_ONE = "contains(holders, :id)"
LINE_IS_AS_READ = "size(waiting) = :waiting"
LINE_IS_EMPTY = "attribute_not_exists(waiting)"
LINE_IS_THE_SAME = "waiting = :line"
THERE_IS_ROOM = "size(waiting) < :most"
TOKEN_IS_MINE = "#token = :token"  # noqa: S105 - a condition
TOKEN_IS_OLDER = "#token < :fence"  # noqa: S105 - a condition
HAS_NO_TOKEN = "attribute_not_exists(#token)"  # noqa: S105 - a condition
NONE_WAS_TAKEN = "#ttl = :stamp"
HAS_TAIL = "attribute_exists(tail)"
HAS_NO_TAIL = "attribute_not_exists(tail)"
JOINED_AS_READ = "#ttl = :joined"

_OUTLIVES = timedelta(days=2, hours=12)
"""The time to live of the item after the latest take: longer than the longest run.

0.1.0 has half a day less, so its takes leave other values than the takes of the hours before.
"""


class DynamoSlots:
    """The concurrency keys of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str, at_once: AtOnce = one_by_one) -> None:
        self._table, self._at_once = DynamoTable(client, table), at_once

    def key_slots(self, tenant_id: TenantId, concurrency_key: str) -> KeySlots:
        item = self._table.get(slots_key(tenant_id, concurrency_key)) or {}
        return _slots_of(tenant_id, concurrency_key, item)

    def take_slot(self, row: Action, slots: KeySlots, at: datetime) -> bool:
        change = take(row, slots, at)
        try:
            self._update(slots, change)
        except ConditionFailed as failed:
            return _slots_of(slots.tenant_id, slots.key, failed.item or {}).has_token(row)
        return True

    def wait_for_slot(self, row: Action, slots: KeySlots) -> bool:
        with suppress(ConditionFailed):
            self._update(slots, wait(row))
            return True
        return False

    def join_tail(self, row: Action, at: datetime) -> None:
        """A late repeat puts a row that waits no more: a move removes it again."""
        key = _tail_key(row.tenant_id, row.concurrency_key or "", tail_position(row))
        if self._table.get(key) is None:
            self._table.update(
                key,
                UpdateExpression="SET #ttl = :ttl",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues={":ttl": _time_to_live(at)},
            )

    def mark_tail(self, tenant_id: TenantId, concurrency_key: str, at: datetime) -> KeySlots:
        item = self._table.update(
            slots_key(tenant_id, concurrency_key),
            UpdateExpression="SET tail = :tail, #ttl = if_not_exists(#ttl, :ttl)",
            ExpressionAttributeNames={"#ttl": "ttl"},
            ExpressionAttributeValues={":tail": {"BOOL": True}, ":ttl": _time_to_live(at)},
            ReturnValues="ALL_NEW",
        )
        return _slots_of(tenant_id, concurrency_key, item)

    def tail(self, tenant_id: TenantId, concurrency_key: str, *, limit: int) -> Sequence[TailEntry]:
        page = self._table.query(
            KeyConditionExpression="pk = :tail",
            ExpressionAttributeValues={":tail": {"S": tail_partition(tenant_id, concurrency_key)}},
            ConsistentRead=True,
            Limit=limit,
        )
        return [*readable(page["Items"], _tail_entry, "tail entry")]

    def leave_tail(self, tenant_id: TenantId, concurrency_key: str, entries: Sequence[TailEntry]) -> None:
        def remove(entry: TailEntry) -> None:
            with suppress(ConditionFailed):
                self._table.delete(
                    _tail_key(tenant_id, concurrency_key, entry.position),
                    ConditionExpression=JOINED_AS_READ,
                    ExpressionAttributeNames={"#ttl": "ttl"},
                    ExpressionAttributeValues={":joined": _time_to_live(entry.joined_at)},
                )

        self._at_once(remove, entries)

    def move_slots(self, move: SlotMove) -> bool:
        try:
            self._update(move.before, moved(move))
        except ConditionFailed as failed:
            return move.is_done_in(_slots_of(move.before.tenant_id, move.before.key, failed.item or {}))
        return True

    def evict(self, move: SlotMove, row: Holder | None) -> bool:
        """Return False after repeated conflicts too; the caller reads the slots again."""
        ref = ActionRef(move.before.tenant_id, move.freed or ActionId(""))
        still_dead = update(self._table.name, row_key(ref), optimistic.still_dead(row, loses_slot=True))
        slots = update(self._table.name, slots_key(move.before.tenant_id, move.before.key), moved(move))
        try:
            retry_on_conflict(partial(write, self._table.client, [still_dead, slots]), TransactionCancelled)
        except (TransactionFailed, TransactionCancelled):
            return False
        return True

    def claim_row(self, row: Action, claimed: Action) -> bool:
        change = optimistic.claim_row(row, claimed)
        try:
            self._table.update(row_key(row.ref), ReturnValuesOnConditionCheckFailure="ALL_OLD", **change)
        except ConditionFailed as failed:
            return (failed.item or {}).get("nonce") == {"S": claimed.claim_nonce}
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


def take(row: Action, slots: KeySlots, at: datetime) -> Update:
    """Make a row a holder with its fence; one that holds a slot already gets its new token."""
    values: dict[str, Any] = {
        ":id": {"S": row.id},
        ":ttl": _time_to_live(at),
        ":fence": {"N": str(row.fence)},
    }
    if row.id in slots.holders:
        condition = f"{IT_HOLDS_ONE} AND ({HAS_NO_TOKEN} OR {TOKEN_IS_OLDER})"
        change = "SET #token = :fence, #ttl = :ttl"
    else:
        values |= {":me": {"SS": [row.id]}, ":limit": {"N": str(row.concurrency_limit)}}
        condition = f"({IS_FREE} OR {FEWER_ARE_HELD}) AND NOT {IT_HOLDS_ONE} AND {_same_line(slots, values)}"
        change = "ADD holders :me SET #token = :fence, #ttl = :ttl"
    return {
        "ConditionExpression": condition,
        "UpdateExpression": change,
        "ExpressionAttributeNames": {"#token": _token_of(row.id), "#ttl": "ttl"},
        "ExpressionAttributeValues": values,
    }


def wait(row: Action) -> Update:
    """Append a row to the line."""
    return {
        "ConditionExpression": (
            f"{SOME_ARE_HELD} AND {AS_MANY_ARE_HELD} AND ({LINE_IS_EMPTY} OR {THERE_IS_ROOM})"
            f" AND {HAS_NO_TAIL}"
        ),
        "UpdateExpression": "SET waiting = list_append(if_not_exists(waiting, :none), :mine)",
        "ExpressionAttributeValues": {
            ":limit": {"N": str(row.concurrency_limit)},
            ":most": {"N": str(MOST_WAITING)},
            ":none": {"L": []},
            ":mine": {"L": [_entry(row.id)]},
        },
    }


def moved(move: SlotMove) -> Update:
    """Free a slot, and make the next of the line holders."""
    before, values = move.before, dict[str, Any]()
    names, conditions, removes = dict[str, str](), list[str](), list[str]()
    sets: list[str] = []
    change = ""
    if move.freed is not None:
        names["#token"] = _token_of(move.freed)
        values[":id"] = {"S": move.freed}
        conditions += [IT_HOLDS_ONE, _token(before.holders[move.freed], values)]
        removes.append("#token")
    if move.passed:
        conditions.append(HOLDERS_ARE_AS_READ if before.holders else IS_FREE)
        if before.holders:
            values[":holders"] = {"SS": sorted(before.holders)}
        names["#ttl"] = "ttl"
        values |= {":after": {"SS": sorted(move.holders)}, ":ttl": _time_to_live(move.at)}
        sets += ["holders = :after", "#ttl = :ttl"]
        for place, row in enumerate(move.passed):
            names[f"#token{place}"] = _token_of(row.id)
            values[f":fence{place}"] = {"N": str(row.fence)}
            sets.append(f"#token{place} = :fence{place}")
    elif move.freed is not None:
        values[":mine"] = {"SS": [move.freed]}
        change = "DELETE holders :mine"
    _move_line(move, values, conditions, sets, removes)
    if move.may_run_again and before.taken_at is not None:
        names["#ttl"] = "ttl"
        values[":stamp"] = _time_to_live(before.taken_at)
        conditions.append(NONE_WAS_TAKEN)
    parts = [
        f"SET {', '.join(sets)}" if sets else "",
        change,
        f"REMOVE {', '.join(removes)}" if removes else "",
    ]
    return {
        "ConditionExpression": " AND ".join(conditions),
        "UpdateExpression": " ".join(filter(None, parts)),
        **({"ExpressionAttributeNames": names} if names else {}),
        **({"ExpressionAttributeValues": values} if values else {}),
    }


def _move_line(
    move: SlotMove, values: dict[str, Any], conditions: list[str], sets: list[str], removes: list[str]
) -> None:
    """Add how the line changes: entries leave it, or it is replaced by one with some of the tail."""
    before = move.before
    if move.appended:
        values[":rest"] = {"L": [*map(_entry, move.waiting)]}
        sets.append("waiting = :rest")
    if move.appended and before.waiting:
        values[":line"] = {"L": [*map(_entry, before.waiting)]}
        conditions.append(LINE_IS_THE_SAME)
    for place in () if move.appended else sorted(move.dropped):
        values[f":entry{place}"] = _entry(before.waiting[place])
        conditions.append(f"waiting[{place}] = :entry{place}")
        removes.append(f"waiting[{place}]")
    if move.needs_same_line or (move.appended and not before.waiting):
        conditions.append(_same_line(before, values))
    if move.ends_tail:
        conditions.append(HAS_TAIL)
        removes.append("tail")


def _same_line(slots: KeySlots, values: dict[str, Any]) -> str:
    """Check that no action has joined the line since the read, or begun a tail.

    An empty line may have no attribute.
    """
    values[":waiting"] = {"N": str(len(slots.waiting))}
    line = LINE_IS_AS_READ if slots.waiting else f"({LINE_IS_EMPTY} OR {LINE_IS_AS_READ})"
    return line if slots.has_tail else f"{line} AND {HAS_NO_TAIL}"


def _token(fence: int | None, values: dict[str, Any]) -> str:
    """Check that a holder's token is as read."""
    if fence is None:
        return HAS_NO_TOKEN
    values[":token"] = {"N": str(fence)}
    return TOKEN_IS_MINE


def _time_to_live(taken_at: datetime) -> Mapping[str, Any]:
    return {"N": to_epoch(taken_at + _OUTLIVES)}


def _entry(action_id: ActionId) -> Mapping[str, Any]:
    """Return an id in the line in 22 characters: the size of the item is the price of each write."""
    return {"S": urlsafe_b64encode(UUID(action_id).bytes).decode().rstrip("=")}


def _id_of(entry: Mapping[str, Any]) -> ActionId:
    return ActionId(str(UUID(bytes=urlsafe_b64decode(entry["S"] + "=="))))


def _tail_key(tenant_id: TenantId, key: str, position: str) -> Item:
    return {"pk": {"S": tail_partition(tenant_id, key)}, "sk": {"S": position}}


def _tail_entry(item: Item) -> TailEntry:
    position: str = item["sk"]["S"]
    action_id = ActionId(position.partition(" ")[2])
    UUID(action_id)
    return TailEntry(position, action_id, _stamp(item))


def _stamp(item: Item) -> datetime:
    """Return when a slot was taken last, or an action joined a tail, by the time to live."""
    return datetime.fromtimestamp(int(item["ttl"]["N"]), UTC) - _OUTLIVES


def _slots_of(tenant_id: TenantId, key: str, item: Item) -> KeySlots:
    try:
        return KeySlots(
            tenant_id,
            key,
            {holder: _fence(item, holder) for holder in _ids(item.get("holders", {"SS": ()})["SS"])},
            tuple(map(_id_of, item.get("waiting", {"L": ()})["L"])),
            _stamp(item) if "ttl" in item else None,
            "tail" in item,
        )
    except UNREADABLE as error:
        raise UnreadableRow(slots_key(tenant_id, key), error) from error


def _ids(texts: Sequence[str]) -> Iterable[ActionId]:
    return map(ActionId, sorted(texts))


def _token_of(holder: ActionId) -> str:
    """Return the attribute with the fence of a holder."""
    return f"fence:{holder}"


def _fence(item: Item, holder: ActionId) -> int | None:
    found = item.get(_token_of(holder))
    return None if found is None else int(found["N"])
