"""Concurrency keys: one item for each key lists the holders of its slots, and the line.

Each change is one guarded write of that item:

::

    take   if fewer slots than the limit are held, or still none, and no action has joined the line
    wait   if as many slots as the limit are held
    free   if the slot is still that of this run, and no action has joined the line
    pass   if the holders are as read: one leaves, the next of the line become holders
    evict  as free or pass, in one transaction with the dead holder's row: fence + 1, no nonce

The line in the item has the first that wait. The others are in its tail: an item for each, in a partition of
the key, by due time. A move that leaves few in line appends the first of the tail, then removes their items.
The field `tail` marks that there may be some. An action joins the tail, marks it and reads the key again; a
move that removes the mark reads the tail again. So one of the two sees the other.

A row's claim is a write of its own. It needs the fence with which its id became a holder, and an eviction
raises that fence: so every live lease has a slot.

A take renews the item's time to live; a key that no run takes any more is removed.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from duetime import instant
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove, TailEntry, tail_position
from duetime.ports.action_keys import shard_of_key
from duetime.ports.actions import Holder
from duetime.ports.at_once import AtOnce, one_by_one
from duetime.ports.keyed_items import (
    FLAG,
    NUMBER,
    AnyOf,
    Below,
    Cancelled,
    Fields,
    Form,
    Items,
    Key,
    Keyed,
    Kind,
    Not,
    Outcome,
    Presence,
    Query,
    Size,
    Write,
    read_strictly,
    unread,
)
from duetime.ports.row_writes import RowStillDead

_OUTLIVES = timedelta(days=2, hours=12)
"""The time to live of the item after the latest take: longer than any run or hand-over with a slot."""


def _short(action_id: ActionId) -> str:
    """Return an id in 22 characters: the size of the item is the price of each write."""
    return urlsafe_b64encode(UUID(action_id).bytes).decode().rstrip("=")


_PLACE = Form("S", _short, lambda text: ActionId(str(UUID(bytes=urlsafe_b64decode(text + "==")))))
SLOTS = Kind(
    name="slots",
    partition="{tenant}#slots#{shard}",
    sort="key",
    optional={
        "holders": Form(
            "M",
            lambda holders: {holder: {"N": str(fence)} for holder, fence in holders.items()},
            lambda entries: {ActionId(holder): int(fence["N"]) for holder, fence in entries.items()},
        ),
        "waiting": Form(
            "L",
            lambda line: [{"S": _short(action_id)} for action_id in line],
            lambda entries: tuple(_PLACE.load(entry["S"]) for entry in entries),
        ),
        "tail": FLAG,
    },
    parts={"holders": NUMBER, "waiting": _PLACE},
    expires="60 hours",
    writers="workers",
)
TAIL = Kind(
    name="tail entry",
    partition="{tenant}#tail#{key}",
    sort="time id",
    expires="60 hours",
    writers="workers",
)


class Slots(Keyed):
    """The concurrency keys of a table: see `duetime.ports.action_store.ActionStore`."""

    def __init__(self, items: Items, at_once: AtOnce = one_by_one) -> None:
        super().__init__(items)
        self._at_once = at_once

    def key_slots(self, tenant_id: TenantId, slot_key: str) -> KeySlots:
        """Return the holders of a concurrency key's slots and its line, by a consistent read."""
        item = self._items.get(SLOTS, key_of(tenant_id, slot_key), unread)
        return to_slots(tenant_id, slot_key, item or {})

    def take_slot(self, row: Action, slots: KeySlots, at: datetime) -> bool:
        """*take*: make `row` a holder of its key, with its fence.

        Other actions must hold fewer slots than the limit of this action, and none if none did in `slots`;
        none may have joined or left the line since that was read. If the action is a holder in `slots`, it
        must be one still, and gets its fence if that is higher. Otherwise return False and change nothing. If
        the action holds a slot with its fence already, return True.
        """
        outcome = self._items.write(take(row, slots, at))
        return outcome.is_written or _present(slots, outcome).has_token(row)

    def wait_for_slot(self, row: Action, slots: KeySlots) -> bool:
        """*wait*: append `row` to the line of its key, if as many as its limit hold slots, and there is room.

        Otherwise return False and change nothing. `slots` is the key as read. There is no room before a tail.
        """
        return self._items.write(wait(row, slots)).is_written

    def join_tail(self, row: Action, at: datetime) -> None:
        """Put `row` into the tail of its key's line, unless it is there; `mark_tail` lets moves read it."""
        key = _entry_key(row.tenant_id, row.slot_key, tail_position(row))
        if self._items.get(TAIL, key, unread) is None:
            self._items.write(Write(kind=TAIL, key=key, sets={"ttl": at + _OUTLIVES}))

    def mark_tail(self, tenant_id: TenantId, slot_key: str, at: datetime) -> KeySlots:
        """Write that the line of a key goes on in its tail; return the key as it is then."""
        key, first = key_of(tenant_id, slot_key), {"ttl": at + _OUTLIVES}
        mark = Write(kind=SLOTS, key=key, sets={"tail": True}, first=first)
        return to_slots(tenant_id, slot_key, self._items.write(mark).items[0])

    def tail(self, tenant_id: TenantId, slot_key: str, *, limit: int) -> Sequence[TailEntry]:
        """Return the first entries of the tail of a key's line, by a consistent read."""
        place = _entry_key(tenant_id, slot_key, "").partition
        return self._items.page(Query(kind=TAIL, partition=place, limit=limit), _to_entry).found

    def leave_tail(self, tenant_id: TenantId, slot_key: str, entries: Sequence[TailEntry]) -> None:
        """Remove entries from the tail of a key's line, unless their actions have joined it again since."""

        def remove(entry: TailEntry) -> None:
            key = _entry_key(tenant_id, slot_key, entry.position)
            joined_as_read = {"ttl": entry.joined_at + _OUTLIVES}
            self._items.write(Write(kind=TAIL, key=key, guard=(joined_as_read,), is_removal=True))

        self._at_once(remove, entries)

    def move_slots(self, move: SlotMove) -> bool:
        """*free* or *pass*: remove a holder, and make the next of the line holders.

        The holder that leaves must hold its slot with the fence as read; the entries of the line that go must
        be as read, and all of the line if it gets some of the tail. If others become holders, all holders
        must be as read. If slots stay free, none may have joined the line or begun a tail. A tail that ends
        must be marked. Otherwise change nothing; return whether the slots are as the move leaves them.
        """
        outcome = self._items.write(moved(move))
        return outcome.is_written or move.is_done_in(_present(move.before, outcome))

    def evict(self, move: SlotMove, row: Holder | None) -> bool:
        """*evict*: move slots as `move_slots` does, if the stored row of the one that leaves is as in `row`.

        `row` is not processing, or is processing under a lease that has ended, or is None if the row is gone.
        In one transaction, the fence of a row that is not final increases by one, and its nonce is removed.
        If its worker wakes, or receives the response of its claim only then, it holds nothing. If the row or
        the slots have changed, return False and change nothing. A damaged row loses its nonce, and its fence
        increases if it is a number.
        """
        ref = ActionRef(move.before.tenant_id, move.freed or ActionId(""))
        try:
            return self._items.write(RowStillDead(ref, row, loses_slot=True), moved(move)).is_written
        except Cancelled:
            return False


def take(row: Action, slots: KeySlots, at: datetime) -> Write:
    """Make a row a holder with its fence; one that holds a slot already gets its new token."""
    token = f"holders.{row.id}"
    sets: dict[str, Any] = {token: row.fence} if slots.holders else {"holders": {row.id: row.fence}}
    if row.id in slots.holders:
        guard: Fields = {token: Below(row.fence)}
    elif slots.holders:
        is_free = Size(Below(row.slot_limit))
        guard = {"holders": is_free, token: Presence.UNSET, **_same_line(slots)}
    else:
        guard = {"holders": _same_holders(slots), **_same_line(slots)}
    return _write(slots, guard, sets | {"ttl": at + _OUTLIVES})


def wait(row: Action, slots: KeySlots) -> Write:
    """Append a row to the line, if as many slots as its limit are held, and there is room and no tail."""
    has_room = AnyOf((Presence.UNSET, Size(Below(MOST_WAITING))))
    are_held = Size(Not(Below(row.slot_limit)))
    guard = {"holders": are_held, "waiting": has_room, "tail": Presence.UNSET}
    return replace(_write(slots, guard, {}), appends={"waiting": (row.id,)})


def moved(move: SlotMove) -> Write:
    """Free a slot, and make the next of the line holders.

    Entries leave the line, or it is replaced by one with some of the tail.
    """
    before, guard, sets = move.before, dict[str, Any](), dict[str, Any]()
    if move.needs_same_line or (move.appended and not before.waiting):
        guard |= _same_line(before)
    if move.passed:
        guard["holders"] = _same_holders(before)
        sets |= {"holders": move.holders, "ttl": move.at + _OUTLIVES}
    elif move.freed is not None:
        guard[f"holders.{move.freed}"] = before.holders[move.freed]
        sets[f"holders.{move.freed}"] = None
    if move.appended:
        sets["waiting"] = move.waiting
        guard |= {"waiting": before.waiting} if before.waiting else {}
    else:
        guard |= {f"waiting[{place}]": before.waiting[place] for place in sorted(move.dropped)}
        sets |= {f"waiting[{place}]": None for place in sorted(move.dropped)}
    if move.ends_tail:
        guard["tail"], sets["tail"] = Presence.SET, None
    return _write(before, guard, sets)


def _same_line(slots: KeySlots) -> Fields:
    """Check that no action has joined the line since the read, or begun a tail.

    An empty line may have no field.
    """
    as_read: Any = Size(len(slots.waiting))
    line = as_read if slots.waiting else AnyOf((Presence.UNSET, as_read))
    return {"waiting": line} | ({} if slots.has_tail else {"tail": Presence.UNSET})


def _same_holders(slots: KeySlots) -> Any:
    """Check that the holders and their tokens are as read. A key without holders may have no field."""
    return slots.holders or AnyOf((Presence.UNSET, slots.holders))


def _write(slots: KeySlots, guard: Fields, sets: Fields) -> Write:
    return Write(kind=SLOTS, key=key_of(slots.tenant_id, slots.key), guard=(guard,), sets=sets)


def key_of(tenant_id: TenantId, slot_key: str) -> Key:
    """Return the key of a concurrency key's item. Its partition has no rows, so no list reads it."""
    return SLOTS.key(slot_key, tenant=tenant_id, shard=shard_of_key(slot_key))


def _entry_key(tenant_id: TenantId, slot_key: str, position: str) -> Key:
    """Return the key of an entry of a tail: its partition is the key's own, for it may be long."""
    return TAIL.key(position, tenant=tenant_id, key=slot_key)


def _to_entry(item: Fields) -> TailEntry:
    """Return an entry of the tail.

    Raises:
        ValueError: it has no id.
    """
    position: str = item["sk"]
    action_id = ActionId(position.partition(" ")[2])
    UUID(action_id)
    return TailEntry(position, action_id, item["ttl"] - _OUTLIVES)


def to_slots(tenant_id: TenantId, slot_key: str, item: Fields) -> KeySlots:
    """Return a key's slots.

    Raises:
        UnreadableRow: duetime did not write the item.
    """

    def read(item: Fields) -> KeySlots:
        taken_at = item["ttl"] - _OUTLIVES if "ttl" in item else instant.EARLIEST
        holders, waiting = item.get("holders") or {}, item.get("waiting") or ()
        return KeySlots(tenant_id, slot_key, holders, waiting, taken_at, "tail" in item)

    return read_strictly(read, item)


def _present(slots: KeySlots, outcome: Outcome) -> KeySlots:
    return to_slots(slots.tenant_id, slots.key, outcome.items[0])
