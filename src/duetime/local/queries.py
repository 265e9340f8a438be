"""Has moto's queries look at one partition.

For each query moto sorts its whole table, and goes through all of it: with ten thousand rows a page of a list takes seconds.
Here it is shown the rows of the partition that was asked for, or of an index those with the keys that were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import signature
from typing import Any
from unittest.mock import patch

from moto.dynamodb.models.table import Table

_usual_query, _usual_items = Table.query, Table.all_items
_arguments = signature(_usual_query)
_shown: ContextVar[list[Any] | None] = ContextVar("rows that a query is shown", default=None)


@contextmanager
def by_partition() -> Iterator[None]:
    """Within the block, queries in moto are answered in this way."""
    with patch.object(Table, "query", _query), patch.object(Table, "all_items", _items):
        yield


def _query(table: Any, *args: Any, **named: Any) -> Any:
    asked = _arguments.bind(table, *args, **named).arguments
    before = _shown.set(_of_index(table, asked) if asked.get("index_name") else _of_table(table, asked))
    try:
        return _usual_query(table, *args, **named)
    finally:
        _shown.reset(before)


def _items(table: Any) -> list[Any]:
    shown = _shown.get()
    return _usual_items(table) if shown is None else shown


def _of_table(table: Any, asked: dict[str, Any]) -> list[Any] | None:
    return list(table.items.get(asked["hash_key"], {}).values()) if table.range_key_attr else None


def _of_index(table: Any, asked: dict[str, Any]) -> list[Any]:
    wanted = asked.get("hash_key_conditions") or ()
    rows = (
        row
        for partition in table.items.values()
        for row in (partition.values() if table.range_key_attr else (partition,))
    )
    return [
        row for row in rows if all(name in row.attrs and row.attrs[name] == value for name, value in wanted)
    ]
