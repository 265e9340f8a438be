"""Batches in memory; those that are not complete are in the due index too, as in DynamoDB."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from datetime import datetime

from duetime.memory.keyed_items import MemoryItems
from duetime.memory.table import DueKey, MemoryTable
from duetime.model.action import Action
from duetime.model.batch import COUNTING_SHARD, ActionBatch, BatchRef, MemberStatus
from duetime.ports.batches import Batches, batch_put, ref_of
from duetime.ports.keyed_items import IS_NEW, Fields, Kind


class MemoryBatches(Batches):
    """The batches of a table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable, on_write: Callable[[BatchRef], None]) -> None:
        self._table, self._on_write = table, on_write
        self._stored = MemoryItems(self._written, table.lock)
        super().__init__(self._stored)

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        with self._table.lock:
            present = self.find_batch(batch.ref)
            if present is not None:
                return present
            if completion is not None:
                self._table.write(None, completion)
            self._stored.write(batch_put(batch, guard=IS_NEW))
            return batch

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        first = start + (int(shard, 16) - start) % 16
        with self._table.lock:
            rows = {number: self._table.get(batch.member(number)) for number in range(first, stop, 16)}
        return {number: MemberStatus.from_row(row) for number, row in rows.items() if row is not None}

    def remove_expired(self, now: datetime) -> None:
        """Remove the batches that have expired."""
        self._stored.remove_expired(now)

    def _written(self, _kind: Kind, old: Fields | None, new: Fields | None) -> None:
        entries = self._table.due_index[COUNTING_SHARD]
        if old is not None and "due_shard" in old:
            del entries[bisect_left(entries, _entry(old))]
        if new is not None:
            if "due_shard" in new:
                insort(entries, _entry(new))
            self._on_write(ref_of(new))


def _entry(item: Fields) -> DueKey:
    ref = ref_of(item)
    return (item["due_at"], ref.tenant_id, ref.name)
