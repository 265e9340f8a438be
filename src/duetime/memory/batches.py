"""Batches in memory; those that are not complete are in the due index too, as in DynamoDB."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from datetime import datetime

from duetime.ids import TenantId
from duetime.memory.table import MemoryTable
from duetime.model.action import Action
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD, ActionBatch, BatchRef, MemberStatus
from duetime.ports.actions import BatchPage


class MemoryBatches:
    """The batches of a table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable, on_write: Callable[[BatchRef], None]) -> None:
        self._table, self._on_write = table, on_write
        self._by_ref: dict[BatchRef, ActionBatch] = {}

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        with self._table.lock:
            present = self._by_ref.get(batch.ref)
            if present is not None:
                return present
            if completion is not None:
                self._table.write(None, completion)
            self._write(batch)
            return batch

    def find_batch(self, ref: BatchRef) -> ActionBatch | None:
        return self._by_ref.get(ref)

    def change_batch(self, read: ActionBatch, changed: ActionBatch) -> bool:
        with self._table.lock:
            present = self._by_ref.get(read.ref)
            if present is None or present.version != read.version:
                return present is not None and present.version == changed.version
            self._write(changed)
            return True

    def batches(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> BatchPage:
        with self._table.lock:
            mine = (batch for batch in self._by_ref.values() if batch.tenant_id == tenant_id)
            found = sorted((batch for batch in mine if batch.name > (cursor or "")), key=lambda one: one.name)
        return BatchPage(tuple(found[:limit]), found[limit - 1].name if len(found) > limit else None)

    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        first = start + (int(shard, 16) - start) % 16
        with self._table.lock:
            rows = {number: self._table.get(batch.member(number)) for number in range(first, stop, 16)}
        return {number: MemberStatus.from_row(row) for number, row in rows.items() if row is not None}

    def remove_expired(self, now: datetime) -> None:
        """Remove the batches that have expired."""
        for ref, batch in list(self._by_ref.items()):
            if batch.kept_until is not None and batch.kept_until <= now:
                del self._by_ref[ref]

    def _write(self, batch: ActionBatch) -> None:
        entries = self._table.due_index[COUNTING_SHARD]
        entry = (COUNTED_AT, batch.tenant_id, batch.name)
        present = self._by_ref.get(batch.ref)
        if present is not None and present.is_swept:
            del entries[bisect_left(entries, entry)]
        if batch.is_swept:
            insort(entries, entry)
        self._by_ref[batch.ref] = batch
        self._on_write(batch.ref)
