"""Undoes what a transaction that is refused half-way has written in moto.

moto itself copies each table whole, with its stream, before each transaction, and puts the copy in the table's place where one
fails: with thousands of rows a claim takes seconds, and whoever reads the stream has the former one. Here the few items that
the transaction names are put back instead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from moto.dynamodb import models
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table

_usual = models.DynamoDBBackend.transact_write_items


@contextmanager
def undoing() -> Iterator[None]:
    """Within the block, transactions in moto are undone in this way."""
    quick_copy = patch.object(models, "copy", SimpleNamespace(deepcopy=_copied))
    with quick_copy, patch.object(models.DynamoDBBackend, "transact_write_items", _transact):
        yield


def _copied(value: Any, *more: Any) -> Any:
    return value if isinstance(value, Table) else copy.deepcopy(value, *more)


def _transact(backend: Any, transact_items: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
    written = [each for entry in transact_items for each in entry.values()]
    undo = [back for each in written if (back := _as_it_is(backend, each))]
    try:
        _usual(backend, transact_items)  # type: ignore[arg-type]
    except Exception:
        for back in undo:
            back()
        raise


def _as_it_is(backend: Any, operation: Mapping[str, Any]) -> Callable[[], None] | None:
    """What puts an item and the table's stream back; None where the operation names none."""
    table = backend.tables.get(operation.get("TableName"))
    said = operation.get("Key") or operation.get("Item") or {}
    names = [] if table is None else [each for each in (table.hash_key_attr, table.range_key_attr) if each]
    if not names or any(name not in said for name in names):
        return None
    partition, *sort = (DynamoType(said[name]) for name in names)
    items, place = (table.items[partition], sort[0]) if sort else (table.items, partition)
    before, shard = copy.deepcopy(items.get(place)), table.stream_shard
    return partial(_put_back, items, place, before, shard, len(shard.items) if shard else 0)


def _put_back(items: Any, place: Any, before: Any, shard: Any, length: int) -> None:
    if before is None:
        items.pop(place, None)
    else:
        items[place] = before
    if shard is not None:
        del shard.items[length:]
