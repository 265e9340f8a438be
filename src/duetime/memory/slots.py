"""Concurrency keys in memory, under the lock of the table: the holders and the line of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from duetime.ids import TenantId
from duetime.memory.table import MemoryTable, is_still_dead
from duetime.model import transition
from duetime.model.action import Action, ActionRef
from duetime.model.slots import KeySlots, SlotMove, TailEntry, tail_position
from duetime.ports.actions import DamagedRow, Holder


class MemorySlots:
    """The slots of keys, by tenant and key, with their holders in the order of their takes.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.by_key: dict[tuple[TenantId, str], KeySlots] = {}
        self._tails: dict[tuple[TenantId, str], dict[str, TailEntry]] = {}

    def key_slots(self, tenant_id: TenantId, concurrency_key: str) -> KeySlots:
        return self.by_key.get((tenant_id, concurrency_key)) or KeySlots(tenant_id, concurrency_key)

    def take_slot(self, row: Action, slots: KeySlots, at: datetime) -> bool:
        with self._table.lock:
            current = self._current(slots)
            if row.id in slots.holders:
                may = current.holders.get(row.id, row.fence) < row.fence
            else:
                held = len(current.holders)
                is_free = row.id not in current.holders and held < row.concurrency_limit
                may = is_free and (bool(slots.holders) or not held) and _is_same_line(current, slots)
            if may:
                self._write(replace(current, holders={**current.holders, row.id: row.fence}, taken_at=at))
            return may or current.has_token(row)

    def wait_for_slot(self, row: Action, slots: KeySlots) -> bool:
        with self._table.lock:
            current = self._current(slots)
            may = len(current.holders) >= row.concurrency_limit and current.has_room()
            if may:
                self._write(replace(current, waiting=(*current.waiting, row.id)))
            return may

    def join_tail(self, row: Action, at: datetime) -> None:
        with self._table.lock:
            tail = self._tails.setdefault((row.tenant_id, row.concurrency_key or ""), {})
            tail.setdefault(tail_position(row), TailEntry(tail_position(row), row.id, at))

    def mark_tail(self, tenant_id: TenantId, concurrency_key: str, at: datetime) -> KeySlots:
        with self._table.lock:
            unused = KeySlots(tenant_id, concurrency_key, taken_at=at)
            marked = replace(self.by_key.get((tenant_id, concurrency_key), unused), has_tail=True)
            self._write(marked)
            return marked

    def tail(self, tenant_id: TenantId, concurrency_key: str, *, limit: int) -> Sequence[TailEntry]:
        with self._table.lock:
            return sorted(self._tails.get((tenant_id, concurrency_key), {}).values())[:limit]

    def leave_tail(self, tenant_id: TenantId, concurrency_key: str, entries: Sequence[TailEntry]) -> None:
        with self._table.lock:
            tail = self._tails.get((tenant_id, concurrency_key), {})
            for entry in entries:
                if tail.get(entry.position) == entry:
                    del tail[entry.position]

    def move_slots(self, move: SlotMove) -> bool:
        with self._table.lock:
            current = self._current(move.before)
            if not _is_as_read(current, move):
                return move.is_done_in(current)
            self._move(current, move)
            return True

    def evict(self, move: SlotMove, row: Holder | None) -> bool:
        with self._table.lock:
            before, dead = move.before, move.freed
            if dead is None or not _is_as_read(self._current(before), move):
                return False
            current = self._table.get(ActionRef(before.tenant_id, dead))
            if not is_still_dead(current, row):
                return False
            if current is not None and not current.status.is_final:
                self._table.write(current, transition.fenced_off(current))
            self._move(self._current(before), move)
            return True

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Do nothing: these rows are values, none of which is damaged."""

    def _current(self, slots: KeySlots) -> KeySlots:
        return self.key_slots(slots.tenant_id, slots.key)

    def _move(self, current: KeySlots, move: SlotMove) -> None:
        holders = {id_: fence for id_, fence in current.holders.items() if id_ != move.freed}
        passed = {row.id: row.fence for row in move.passed}
        waiting = (id_ for place, id_ in enumerate(current.waiting) if place not in move.dropped)
        moved = replace(current, holders=holders | passed, waiting=(*waiting, *move.appended))
        has_tail = current.has_tail and not move.ends_tail
        taken_at = move.at if passed else current.taken_at
        self._write(replace(moved, has_tail=has_tail, taken_at=taken_at))

    def _write(self, slots: KeySlots) -> None:
        self.by_key[slots.tenant_id, slots.key] = slots


def _has_line_as_read(current: KeySlots, move: SlotMove) -> bool:
    if move.needs_same_line and not _is_same_line(current, move.before):
        return False
    if move.appended and current.waiting != move.before.waiting:
        return False
    return current.has_tail or not move.ends_tail


def _is_same_line(current: KeySlots, before: KeySlots) -> bool:
    has_begun_tail = current.has_tail and not before.has_tail
    return len(current.waiting) == len(before.waiting) and not has_begun_tail


def _is_as_read(current: KeySlots, move: SlotMove) -> bool:
    """Return whether the slots are as the move has read them, as far as it depends on them."""
    before, freed = move.before, move.freed
    if freed is not None and current.holders.get(freed) != before.holders[freed]:
        return False
    if move.passed and current.holders != before.holders:
        return False
    if any(current.waiting[place : place + 1] != (before.waiting[place],) for place in move.dropped):
        return False
    return _has_line_as_read(current, move)
