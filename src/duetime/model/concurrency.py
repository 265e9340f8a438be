"""Concurrency keys: a limited number of actions with one key run at once. Facts only.

Actions with different limits may share a key. An action begins while fewer slots than its own limit are held.
Only a processing action holds a slot.
"""

from __future__ import annotations

from dataclasses import dataclass

from duetime import ids
from duetime.errors import InvalidIdentifier

MOST_SLOTS = 100


@dataclass(frozen=True, slots=True)
class Concurrency:
    """A shared key, and how many of its actions may run at once."""

    key: str
    limit: int


def concurrency_of(key: object, limit: object) -> Concurrency | None:
    """Check an order's key and limit; return None without a key.

    Raises:
        InvalidIdentifier: the key cannot be part of a table key, or the limit is out of range.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_SLOTS:
        raise InvalidIdentifier("concurrency_limit", limit, f"must be a whole number from 1 to {MOST_SLOTS}")
    if key is None:
        if limit != 1:
            raise InvalidIdentifier("concurrency_limit", limit, "limits no key; pass concurrency_key as well")
        return None
    return Concurrency(ids.concurrency_key(key), limit)
