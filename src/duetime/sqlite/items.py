"""Keyed items in a file, in the form of DynamoDB's items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from duetime import instant
from duetime.aws.keyed_items import ItemFields, read_all, read_one, stored
from duetime.aws.keys import Item
from duetime.ids import SEPARATOR
from duetime.model.action import Action, ActionRef
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD
from duetime.ports.actions import DamagedRow
from duetime.ports.keyed_items import (
    UNREADABLE,
    AnyWrite,
    Fields,
    Key,
    Kind,
    Page,
    Query,
    Write,
    holds,
    nothing,
)
from duetime.ports.row_queries import BY_DUE_SHARD, IndexEntry, Span
from duetime.ports.row_store import StepItems
from duetime.ports.row_writes import RowIsOver, RowLease, RowStillDead
from duetime.sqlite.database import Database, Images, from_text, to_text
from duetime.sqlite.rows import SqliteRows

T = TypeVar("T")


def _value(name: str) -> str:
    return f"json_extract(item, '$.{name}.S')"


TABLE = f"""
CREATE TABLE IF NOT EXISTS items (
    pk TEXT, sk TEXT, item TEXT NOT NULL, kept_until INTEGER, PRIMARY KEY (pk, sk)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS named ON items ({_value("tenant")}, {_value("name")})
    WHERE {_value("maintenance_shard")} IS NOT NULL;
CREATE INDEX IF NOT EXISTS maintained ON items ({_value("maintain_at")}, pk, sk)
    WHERE {_value("maintain_at")} IS NOT NULL;
CREATE INDEX IF NOT EXISTS audited ON items ({_value("audit_of")}, sk) WHERE {_value("audit_of")} IS NOT NULL;
CREATE INDEX IF NOT EXISTS counted ON items (pk, sk) WHERE {_value("due_shard")} IS NOT NULL;
CREATE INDEX IF NOT EXISTS ended ON items (kept_until) WHERE kept_until IS NOT NULL;
"""

JOBS = (
    f"SELECT pk FROM items WHERE {_value('maintenance_shard')} IS NOT NULL AND {_value('tenant')} = ?"
    f" AND {_value('name')} > ? ORDER BY {_value('name')} LIMIT ?"
)
MAINTAINED = (
    f"SELECT {_value('maintain_at')}, pk, sk FROM items WHERE {_value('maintain_at')} <= ?"
    f" AND ({_value('maintain_at')}, pk, sk) > (?, ?, ?) ORDER BY {_value('maintain_at')}, pk, sk LIMIT ?"
)
COUNTED = f"SELECT pk, sk FROM items WHERE {_value('due_shard')} IS NOT NULL"
"""The batches that a sweep counts again."""
_COUNTED_AT = instant.text(COUNTED_AT)


class SqliteItems(StepItems):
    """The items of a file, whose writes change its `rows` too.

    `on_write` is called with each change of this process, in order, as a stream is.

    See `duetime.ports.keyed_items.Items`.
    """

    def __init__(
        self,
        database: Database,
        rows: SqliteRows,
        on_write: Callable[[Images], object] = lambda _images: None,
    ) -> None:
        self.database, self._rows, self._on_write = database, rows, on_write

    def step(self, *, is_new: bool = False) -> AbstractContextManager[object]:
        return self.database.writing(survives_power_cuts=is_new)

    def get(
        self,
        kind: Kind,
        key: Key,
        read: Callable[[Fields], T],
        instead: Callable[[Fields], T | None] | None = None,
    ) -> T | None:
        item = self._item(key)
        return None if item is None else read_one(kind, item, read, instead)

    def row(self, ref: ActionRef, *, may_lag: bool = False) -> Action | None:
        del may_lag
        return self._rows.get(ref)

    def rows(self, refs: Sequence[ActionRef]) -> Iterator[Action | DamagedRow]:
        found = map(self._rows.readable, refs)
        return (row for row in found if row is not None)

    def select(self, span: Span) -> Iterable[IndexEntry]:
        found = self._rows.select(span)
        if span.by is not BY_DUE_SHARD or span.part[0] != COUNTING_SHARD:
            return found
        keys = [(_COUNTED_AT, pk.partition(SEPARATOR)[0], sk) for pk, sk in self._execute(COUNTED)]
        batches = [(key, ActionRef(*key[1:])) for key in keys if span.low < key < span.high]
        return sorted([*found, *batches])[: span.limit]

    def find(
        self, query: Query, read: Callable[[Fields], T], instead: Callable[[Fields], T | None] = nothing
    ) -> Iterator[T]:
        return read_all(query.kind, _holding(query, self._select(query, -1)), read, instead)

    def page(self, query: Query, read: Callable[[Fields], T]) -> Page[T]:
        found = self._select(query, -1 if query.limit is None else query.limit + 1)
        shown = found[: query.limit]
        cursor = shown[-1]["sk"]["S"] if len(found) > len(shown) else None
        return Page([*read_all(query.kind, _holding(query, shown), read)], cursor)

    def stored(self, write: AnyWrite) -> Any:
        if isinstance(write, RowIsOver | RowStillDead | RowLease):
            return self._rows.readable(write.ref)
        if not isinstance(write, Write):
            return self._rows.get(write.ref)
        item = self._item(write.key)
        return None if item is None else ItemFields(write.kind, item)

    def put(self, write: AnyWrite, old: Any, new: Any) -> Any:
        if isinstance(write, Write):
            self._replace(write.key, None if new is None else stored(write.kind, new))
        elif isinstance(write, RowLease):
            self._rows.limit_lease(write.ref, write.until)
        elif new is not old:
            return self._rows.write(old, new)
        return new

    def written(self, write: AnyWrite, old: Any, new: Any) -> None:
        if isinstance(write, Write):
            images = {} if old is None else {"OldImage": old.item}
            images |= {} if new is None else {"NewImage": stored(write.kind, new)}
            parts = [images.get(name) for name in ("OldImage", "NewImage")]
            self.database.report(
                lambda: [None if item is None else to_text(item) for item in parts],
                partial(self._on_write, images),
            )

    def remove_expired(self, now: datetime) -> None:
        with self.step():
            self._execute("DELETE FROM items WHERE kept_until <= ?", now.timestamp())

    def _select(self, query: Query, limit: int) -> list[dict[str, Any]]:
        first, last = query.span or (query.begin, query.begin + chr(0x10FFFF) if query.begin else None)
        terms, values = ["pk = ?" if query.index == "pk" else f"{_value(query.index)} = ?"], [query.partition]
        for term, value in (
            *(("sk >= ?", first), ("sk <= ?", last)),
            *(("sk < ?", query.before), ("sk > ?", query.after)),
        ):
            if value:
                terms.append(term)
                values.append(value)
        order = "DESC" if query.is_newest_first else "ASC"
        text = f"SELECT item FROM items WHERE {' AND '.join(terms)} ORDER BY sk {order} LIMIT ?"
        return [from_text(item) for (item,) in self._execute(text, *values, limit)]

    def _item(self, key: Key) -> dict[str, Any] | None:
        found = self._execute("SELECT item FROM items WHERE pk = ? AND sk = ?", *key)
        return from_text(found[0][0]) if found else None

    def _replace(self, key: Key, item: Mapping[str, Any] | None) -> None:
        if item is None:
            self._execute("DELETE FROM items WHERE pk = ? AND sk = ?", *key)
        else:
            ends = int(item["ttl"]["N"]) if "ttl" in item else None
            self._execute("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", *key, to_text(item), ends)

    def _execute(self, text: str, *values: Any) -> list[Any]:
        with self.database.reading() as connection:
            return connection.execute(text, values).fetchall()


def _holding(query: Query, items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        with suppress(*UNREADABLE):  # its reader notes the damage
            if not holds(query.where, ItemFields(query.kind, item)):
                continue
        yield item
