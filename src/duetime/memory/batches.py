"""Batches in memory; those that are not complete are in the due index too, as in DynamoDB."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping

from duetime.memory.keyed_items import MemoryItems, OnWrite
from duetime.memory.table import DueKey, MemoryTable
from duetime.model.batch import COUNTING_SHARD, ActionBatch, BatchRef, MemberStatus
from duetime.ports.batches import BATCH, Batches, ref_of
from duetime.ports.keyed_items import Fields, Kind


class MemoryBatches(Batches):
    """The batches of a table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, items: MemoryItems, table: MemoryTable) -> None:
        super().__init__(items)
        self._table = table

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        first = start + (int(shard, 16) - start) % 16
        with self._table.lock:
            rows = {number: self._table.get(batch.member(number)) for number in range(first, stop, 16)}
        return {number: MemberStatus.from_row(row) for number, row in rows.items() if row is not None}


def index_batches(table: MemoryTable, on_batch: Callable[[BatchRef], None]) -> OnWrite:
    """Return what receives the writes of a table's items: it keeps its batches in the due index."""

    def written(kind: Kind, old: Fields | None, new: Fields | None) -> None:
        if kind is not BATCH:
            return
        entries = table.due_index[COUNTING_SHARD]
        if old is not None and "due_shard" in old:
            del entries[bisect_left(entries, _entry(old))]
        if new is not None:
            if "due_shard" in new:
                insort(entries, _entry(new))
            on_batch(ref_of(new))

    return written


def _entry(item: Fields) -> DueKey:
    ref = ref_of(item)
    return (item["due_at"], ref.tenant_id, ref.name)
