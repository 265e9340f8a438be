"""Queries in memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import datetime

from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.memory.table import DueKey, MemoryTable
from duetime.model.action import ActionRef
from duetime.ports.actions import DueEntry, DuePage
from duetime.ports.row_queries import Queries

_NO_ENTRIES = DuePage((), None)


class MemoryQueries(Queries):
    """The queries of the actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        super().__init__(table)
        self._table = table

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        if not (entries := self._table.due_index.get(shard, ())):
            return _NO_ENTRIES
        with self._table.lock:
            first = 0 if after is None else bisect_right(entries, (after, "\uffff", ""))
            if cursor is not None:
                first = max(first, bisect_right(entries, _from_cursor(cursor)))
            last = bisect_left(entries, (until, "\uffff", ""))
            found = entries[first : min(last, first + limit)]
        return DuePage(
            tuple(DueEntry(ActionRef(TenantId(tenant), row_id), due_at) for due_at, tenant, row_id in found),  # type: ignore[arg-type]
            _to_cursor(found[-1]) if first + limit < last else None,
        )


def _to_cursor(entry: DueKey) -> str:
    return " ".join((entry[0].isoformat(), *entry[1:]))


def _from_cursor(cursor: str) -> DueKey:
    try:
        due_at, tenant, row_id = cursor.split(" ")
        return (datetime.fromisoformat(due_at), tenant, row_id)
    except ValueError:
        raise InvalidCursor from None
