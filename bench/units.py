"""Units: DynamoDB's published rules for the cost of a write, for operations that the emulator meters wrongly.

An item's size is that of its attributes' names and values. A write takes one unit for each KB begun; in a
transaction two, for each of its items. A sparse index takes one more, outside of the transaction, for each KB
begun of its entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from duetime.aws.tables import ACTIONS, JOBS

KB = 1_024
Item = Mapping[str, Mapping[str, Any]]


def item_size(item: Item) -> int:
    """Return the bytes, by the rule."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def write_units(item: Item) -> int:
    """Return the units of a single write, without its indexes."""
    return max(1, math.ceil(item_size(item) / KB))


def transaction_units(
    entries: list[Mapping[str, Mapping[str, Any]]], item_at: Callable[[str, Item], Item]
) -> int:
    """Return the units of a ``TransactWriteItems``: two a begun KB of an item, one a changed index entry.

    The indexes' entries are far below a KB: they are keys only. `item_at` reads an item that is updated or
    checked, by its table and key, as the transaction has left it.
    """
    return sum(_entry_units(*next(iter(entry.items())), item_at) for entry in entries)


def _entry_units(kind: str, entry: Mapping[str, Any], item_at: Callable[[str, Item], Item]) -> int:
    item = entry["Item"] if kind == "Put" else item_at(entry["TableName"], entry["Key"])
    changed = item if kind == "Put" else entry.get("UpdateExpression", "")
    touched = sum(index.partition in changed or index.sort in changed for index in _INDEXES)
    return 2 * write_units(item) + touched


_INDEXES = (*ACTIONS.indexes, *JOBS.indexes)


def _size(value: Mapping[str, Any]) -> int:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            return (len(held.strip("-+0.")) + 1) // 2 + 1
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(value) for name, value in held.items())
        case "L":
            return 3 + sum(1 + _size(value) for value in held)
        case "BOOL" | "NULL":
            return 1
        case _:
            return len(held)
