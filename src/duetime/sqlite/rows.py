"""The rows of actions in a file, and their indexes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from sqlite3 import Connection
from typing import NamedTuple

from duetime import instant
from duetime.aws.damaged_leases import to_damaged_row
from duetime.aws.items import from_item, to_item
from duetime.errors import UnreadableRow
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.change import Change
from duetime.ports.actions import DamagedRow
from duetime.ports.row_queries import BY_DUE_SHARD, LOWEST, IndexEntry, Key, RowIndex, Span, list_of
from duetime.sqlite.database import Database, from_text, to_text

TABLE = """
CREATE TABLE IF NOT EXISTS rows (
    tenant TEXT, place TEXT, id TEXT, row TEXT NOT NULL,
    due_shard TEXT, due_at TEXT, correlation TEXT, failed_at TEXT, kept_until TEXT,
    PRIMARY KEY (tenant, place, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due ON rows (due_shard, due_at, tenant, id) WHERE due_shard IS NOT NULL;
CREATE INDEX IF NOT EXISTS correlated ON rows (tenant, correlation, id) WHERE correlation IS NOT NULL;
CREATE INDEX IF NOT EXISTS failed ON rows (tenant, failed_at, id) WHERE failed_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS kept ON rows (kept_until) WHERE kept_until IS NOT NULL;
"""
"""A row is in the form of DynamoDB's item. The columns beside it are those of its key and of the indexes."""

log = logging.getLogger(__name__)

_KEY = "tenant = ? AND place = ? AND id = ?"
_REPLACE = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


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


class _Indexed(NamedTuple):
    """What the indexes have of a row."""

    due_shard: str | None
    due_at: str
    correlation: str | None
    failed_at: str | None
    kept_until: str | None


class SqliteRows:
    """The rows of a file. `on_change` is called with each change of this process, in order, as a stream is.

    See `duetime.ports.row_queries.Rows`.
    """

    def __init__(self, database: Database, on_change: Callable[[Change], None]) -> None:
        self._database, self._on_change = database, on_change

    def step(self, *, is_new: bool = False) -> AbstractContextManager[Connection]:
        """Return a transaction. The disk has what is new when it ends; a claim may be lost with the power."""
        return self._database.writing(survives_power_cuts=is_new)

    def get(self, ref: ActionRef) -> Action | None:
        text = self.text(ref)
        return None if text is None else read(text)

    def readable(self, ref: ActionRef) -> Action | DamagedRow | None:
        """Return a row, or what can be read of a damaged one."""
        text = self.text(ref)
        return None if text is None else read_what_can_be(text)

    def select(self, span: Span) -> Sequence[IndexEntry]:
        key, index = ", ".join(span.by.key), span.by
        marks = ", ".join("?" * len(span.by.key))
        order = ", ".join(f"{name} DESC" if span.is_newest_first else name for name in index.key)
        parts = " AND ".join(f"{name} = ?" for name in index.parts)
        # The first column alone is compared, too, so that SQLite uses the index that leaves rows out.
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {'row' if index.has_rows else 'NULL'}, {key} FROM rows WHERE {parts}"
                f" AND {index.key[0]} >= ? AND ({key}) > ({marks}) AND ({key}) < ({marks})"
                f" ORDER BY {order} LIMIT ?",
                (*span.part, span.low[0], *_filled(span.low, index), *_filled(span.high, index), span.limit),
            ).fetchall()
        if index is BY_DUE_SHARD:
            return [((at, *ref), ActionRef(TenantId(ref[0]), ActionId(ref[1]))) for _, at, *ref in found]
        return [(tuple(place), read_what_can_be(text)) for text, *place in found]

    def found(self) -> Found:
        """Count what an earlier process has left."""
        with self._database.reading() as connection:
            counted = connection.execute(_LEFT).fetchall()
        sums = {(is_cut_short, is_planned): number for is_cut_short, is_planned, number, _ in counted}
        firsts = [first for is_cut_short, is_planned, _, first in counted if not (is_cut_short or is_planned)]
        cut_short = sum(number for key, number in sums.items() if key[0])
        first = instant.parse(firsts[0]) if firsts else None
        return Found(sums.get((0, 0), 0), sums.get((0, 1), 0), cut_short, first)

    def write(self, old: Action | None, new: Action) -> Action:
        key, text, indexed = _key(new.ref), _to_text(new), _indexed(new)
        stored = read(text)
        with self.step() as connection:
            if old is not None and _indexed(old) == indexed:
                connection.execute(f"UPDATE rows SET row = ? WHERE {_KEY}", (text, *key))
            else:
                connection.execute(_REPLACE, (*key, text, *indexed))
            self._database.report(partial(_texts, old, new), partial(self._on_change, Change(old, stored)))
        return stored

    def limit_lease(self, ref: ActionRef, until: datetime) -> None:
        """Write a lease into a damaged row."""
        with self.step() as connection:
            item = from_text(self.text(ref) or "") | {"lease_until": {"S": instant.text(until)}}
            connection.execute(f"UPDATE rows SET row = ? WHERE {_KEY}", (to_text(item), *_key(ref)))

    def remove_expired(self, now: datetime) -> Sequence[Action]:
        with self.step() as connection:
            found = connection.execute(
                "DELETE FROM rows WHERE kept_until <= ? RETURNING row", (instant.text(now),)
            )
            expired = [
                row for (text,) in found.fetchall() if isinstance(row := read_what_can_be(text), Action)
            ]
            for row in expired:
                self._database.report(partial(_texts, row), partial(self._on_change, Change(row, None)))
        return expired

    def text(self, ref: ActionRef) -> str | None:
        """Return a row as it is in the file."""
        with self._database.reading() as connection:
            found = connection.execute(f"SELECT row FROM rows WHERE {_KEY}", _key(ref)).fetchone()
        return None if found is None else str(found[0])


@lru_cache(maxsize=1_000)
def read(text: str) -> Action:
    """Return the action of a row.

    Raises:
        UnreadableRow: it is damaged.
    """
    return from_item(from_text(text))


def read_what_can_be(text: str) -> Action | DamagedRow:
    """Return the action of a row, or what can be read of a damaged one, which is logged."""
    try:
        return read(text)
    except UnreadableRow as error:
        item = from_text(text)
        log.exception("row cannot be read", extra={"pk": item.get("pk"), "sk": item.get("sk")})
        return to_damaged_row(item, error)


def _filled(key: Key, index: RowIndex) -> Key:
    """Return a key with all columns; a missing one sorts before all."""
    return *key, *[LOWEST] * (len(index.key) - len(key))


def _key(ref: ActionRef) -> tuple[str, str, str]:
    return ref.tenant_id, list_of(ref.id), ref.id


def _to_text(row: Action) -> str:
    item = to_item(row)
    if row.payload_size and row.payload is not None:  # a file has room for it
        item["payload"] = {"S": row.payload}
    return to_text(item)


def _texts(old: Action | None, new: Action | None = None) -> Sequence[str | None]:
    return [None if row is None else _to_text(row) for row in (old, new)]


def _indexed(row: Action) -> _Indexed:
    return _Indexed(
        None if row.status.is_final else row.due_shard,
        instant.text(row.due_at),
        row.correlation_id,
        instant.text(row.failed_at) if row.is_dead_letter else None,
        None if row.kept_until is None else instant.text(row.kept_until),
    )
