"""The action store in memory.

Each method holds one lock: condition and write are one step, as in DynamoDB.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable

from duetime.memory.keyed_items import MemoryItems, OnWrite
from duetime.memory.table import DueKey, MemoryTable
from duetime.model.batch import COUNTING_SHARD, BatchRef
from duetime.model.change import Change
from duetime.ports.batches import BATCH, ref_of
from duetime.ports.delegate import delegate
from duetime.ports.keyed_items import Fields, Kind
from duetime.ports.row_store import RowStore
from duetime.settings import DUE_SHARDS


class MemoryStore(RowStore):
    """The actions in memory.

    The store calls `on_change` with each change, in order: this is the table's stream.
    """

    table: MemoryTable
    items: MemoryItems

    def __init__(
        self,
        *,
        due_shards: int = DUE_SHARDS,
        on_change: Callable[[Change], None] = lambda _change: None,
        on_batch: Callable[[BatchRef], None] = lambda _ref: None,
    ) -> None:
        table = MemoryTable(on_change)
        items = MemoryItems(index_batches(table, on_batch), table)
        super().__init__(table, items, due_shards=due_shards)
        self.lock = table.lock

    rows = delegate("table", MemoryTable.rows)
    unsettled = delegate("table", MemoryTable.unsettled)
    has_held = delegate("table", MemoryTable.has_held)
    earliest_due = delegate("table", MemoryTable.earliest_due)


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
