"""Items and index entries of the emulated tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from duetime.sqlite.database import from_text, to_text
from tests.emulated.expressions.key_conditions import Bound

SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY, indexes TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    place TEXT, pk TEXT, sk TEXT, attributes TEXT NOT NULL, PRIMARY KEY (place, pk, sk)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
    place TEXT, name TEXT, part TEXT, sort TEXT, pk TEXT, sk TEXT,
    PRIMARY KEY (place, name, part, sort, pk, sk)
) WITHOUT ROWID;
"""

TABLE = ""
"""The name of the table itself among its indexes."""

_OF_TABLE = "SELECT attributes FROM items WHERE place = ? AND pk = ?"
_OF_INDEX = "SELECT sort, pk, sk FROM entries WHERE place = ? AND part = ? AND name = ?"


class Keys(NamedTuple):
    """The attributes of an index's partition key and sort key."""

    partition: str
    sort: str


class ItemKey(NamedTuple):
    """The values of an item's keys."""

    pk: str
    sk: str


@dataclass(frozen=True, slots=True)
class Change:
    """One item before and after a write; None where there was or is none."""

    table: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Span:
    """A part of an index.

    Attributes:
        partition: the value of its partition key.
        first: the first sort key, or None.
        last: the last sort key, or None.
        after: the sort key and the item's key that the page before ended with, or None.
        is_forward: whether the order is ascending.
    """

    partition: str
    first: Bound | None
    last: Bound | None
    after: tuple[str, str, str] | None
    is_forward: bool


class Table:
    """One table, within a transaction.

    Args:
        connection: of the transaction.
        name: the table's.

    Raises:
        KeyError: there is no such table.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        found = connection.execute("SELECT indexes FROM tables WHERE name = ?", (name,)).fetchone()
        if found is None:
            raise KeyError(name)
        self._connection, self.name = connection, name
        self.indexes = {index: Keys(*keys) for index, keys in json.loads(found[0]).items()}

    @staticmethod
    def create(connection: sqlite3.Connection, name: str, indexes: Mapping[str, Keys]) -> None:
        """Create a table; one that exists keeps its items, and gets the entries of a new index."""
        before = connection.execute("SELECT indexes FROM tables WHERE name = ?", (name,)).fetchone()
        listed = json.dumps(indexes)
        connection.execute("INSERT OR REPLACE INTO tables VALUES (?, ?)", (name, listed))
        if before in {None, (listed,)}:
            return
        table = Table(connection, name)
        connection.execute("DELETE FROM entries WHERE place = ?", (name,))
        for item in table.scan(None, None):
            table._enter(ItemKey(item["pk"]["S"], item["sk"]["S"]), item)

    @staticmethod
    def delete(connection: sqlite3.Connection, name: str) -> None:
        """Delete a table and its items."""
        connection.execute("DELETE FROM tables WHERE name = ?", (name,))
        for kind in ("items", "entries"):
            connection.execute(f"DELETE FROM {kind} WHERE place = ?", (name,))  # noqa: S608 - two fixed names

    def item(self, key: ItemKey) -> dict[str, Any] | None:
        """Return an item, or None."""
        found = self._connection.execute(
            "SELECT attributes FROM items WHERE place = ? AND pk = ? AND sk = ?", (self.name, *key)
        ).fetchone()
        return None if found is None else from_text(found[0])

    def write(self, key: ItemKey, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Change:
        """Replace the item `old` by `new`."""
        if old is not None:
            self._leave(key, old)
        if new is None:
            self._connection.execute(
                "DELETE FROM items WHERE place = ? AND pk = ? AND sk = ?", (self.name, *key)
            )
        else:
            self._connection.execute(
                "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", (self.name, *key, to_text(new))
            )
            self._enter(key, new)
        return Change(self.name, old, new)

    def _leave(self, key: ItemKey, item: Mapping[str, Any]) -> None:
        for name, part, sort in self._places(item):
            self._connection.execute(
                "DELETE FROM entries WHERE place = ? AND name = ? AND part = ? AND sort = ? AND pk = ?"
                " AND sk = ?",
                (self.name, name, part, sort, *key),
            )

    def _enter(self, key: ItemKey, item: Mapping[str, Any]) -> None:
        for name, part, sort in self._places(item):
            self._connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (self.name, name, part, sort, *key)
            )

    def _places(self, item: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Yield an item's places in the indexes that contain it."""
        for name, keys in self.indexes.items():
            part, sort = (item.get(attribute, {}).get("S") for attribute in keys)
            if part is not None and sort is not None:
                yield name, part, sort

    def find(self, index: str, span: Span) -> Iterator[dict[str, Any]]:
        """Yield the items of a part of the table in order, or the keys of a part of an index."""
        if index == TABLE:
            start, sort, order = _OF_TABLE, "sk", ["sk"]
            values = [self.name, span.partition]
        else:
            start, sort, order = _OF_INDEX, "sort", ["sort", "pk", "sk"]
            values = [self.name, span.partition, index]
        for bound, sign in ((span.first, ">"), (span.last, "<")):
            if bound is not None:
                start += f" AND {sort} {sign}{'' if bound.excludes else '='} ?"
                values.append(bound.text)
        if span.after is not None:
            start += f" AND ({sort}, pk, sk) {'>' if span.is_forward else '<'} (?, ?, ?)"
            values += span.after
        direction = "ASC" if span.is_forward else "DESC"
        start += " ORDER BY " + ", ".join(f"{column} {direction}" for column in order)
        found = self._connection.execute(start, values)
        if index == TABLE:
            return (from_text(attributes) for (attributes,) in found)
        keys, partition = self.indexes[index], {"S": span.partition}
        return (
            {keys.partition: partition, keys.sort: {"S": at}, "pk": {"S": pk}, "sk": {"S": sk}}
            for at, pk, sk in found
        )

    def scan(self, after: ItemKey | None, limit: int | None) -> Sequence[dict[str, Any]]:
        """Return items in the order of their keys."""
        found = self._connection.execute(
            "SELECT attributes FROM items WHERE place = ? AND (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ?",
            (self.name, *(after or ("", "")), -1 if limit is None else limit),
        )
        return [from_text(attributes) for (attributes,) in found]
