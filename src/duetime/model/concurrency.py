"""Concurrency keys: of the actions that share one, only so many run at once. Facts only; who takes a slot is told in `slots`.

A key has as many slots as the action that asks says: actions with different limits may share a key, and each begins while
fewer than its own limit are held. A slot is held while its action is processing, and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from duetime import ids
from duetime.errors import InvalidIdentifier

MOST_SLOTS = 100


@dataclass(frozen=True, slots=True)
class Concurrency:
    """What an action shares with others, and how many of them may run beside it, itself included."""

    key: str
    limit: int


def concurrency_of(key: object, limit: object) -> Concurrency | None:
    """Check what an order says; None without a key.

    Raises:
        InvalidIdentifier: the key cannot be part of a key, or the limit is none.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_SLOTS:
        raise InvalidIdentifier("concurrency_limit", limit, f"must be a whole number from 1 to {MOST_SLOTS}")
    if key is None:
        if limit != 1:
            raise InvalidIdentifier("concurrency_limit", limit, "limits no key; say concurrency_key as well")
        return None
    return Concurrency(ids.concurrency_key(key), limit)
