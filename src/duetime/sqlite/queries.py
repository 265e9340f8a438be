"""Queries of the rows in a file: each reads a bounded part of one index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duetime import instant
from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR, ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD
from duetime.ports.actions import DueEntry, DuePage
from duetime.ports.row_queries import HIGHEST, Queries
from duetime.sqlite.database import Database
from duetime.sqlite.items import COUNTED
from duetime.sqlite.rows import SqliteRows

_COUNTED_AT = instant.text(COUNTED_AT)
_ROWS_DUE = (
    "SELECT due_at, tenant, id FROM rows WHERE due_shard = ? AND due_at <= ?"
    " AND (due_at, tenant, id) > (?, ?, ?) ORDER BY due_at, tenant, id LIMIT ?"
)
_LEFT = """
SELECT json_extract(row, '$.status.S') = 'processing', json_extract(row, '$.planned_at.S') IS NOT NULL,
    COUNT(*), MIN(due_at)
FROM rows WHERE due_shard IS NOT NULL GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Found:
    """The unsettled actions that an earlier process left in a file.

    Attributes:
        pending: the number of pending one-shots.
        planned: the number of pending runs of jobs.
        cut_short: the number of actions that ran when the process ended.
        next_due_at: when the first of the pending one-shots is or was due.
    """

    pending: int
    planned: int
    cut_short: int
    next_due_at: datetime | None


class SqliteQueries(Queries):
    """The queries of the rows.

    See `duetime.ports.action_store.ActionStore`.
    """

    def __init__(self, database: Database, rows: SqliteRows) -> None:
        super().__init__(rows)
        self._database = database

    def found(self) -> Found:
        """Count what an earlier process has left."""
        with self._database.reading() as connection:
            counted = connection.execute(_LEFT).fetchall()
        sums = {(is_cut_short, is_planned): number for is_cut_short, is_planned, number, _ in counted}
        firsts = [first for is_cut_short, is_planned, _, first in counted if not (is_cut_short or is_planned)]
        cut_short = sum(number for key, number in sums.items() if key[0])
        first = instant.parse(firsts[0]) if firsts else None
        return Found(sums.get((0, 0), 0), sums.get((0, 1), 0), cut_short, first)

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        mark = tuple((cursor or "  ").split(" "))
        if len(mark) != len(("due", "tenant", "id")):
            raise InvalidCursor
        first, last = max(mark, (instant.text(after) if after else "", HIGHEST, "")), instant.text(until)
        with self._database.reading() as connection:
            found = connection.execute(_ROWS_DUE, (shard, last, *first, limit + 1)).fetchall()
            if shard == COUNTING_SHARD and last >= _COUNTED_AT:
                batches = [
                    (_COUNTED_AT, pk.partition(SEPARATOR)[0], sk) for pk, sk in connection.execute(COUNTED)
                ]
                found = sorted([*found, *(entry for entry in batches if entry > first)])
        entries = tuple(
            DueEntry(ActionRef(TenantId(tenant), ActionId(name)), instant.parse(at))
            for at, tenant, name in found[:limit]
        )
        return DuePage(entries, " ".join(found[limit - 1]) if len(found) > limit else None)
