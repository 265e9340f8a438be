"""Items that a reader found unreadable and left out: each is logged, and collected during an invocation.

A function that may send to the failure queue collects them, and reports them as undelivered at its end.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duetime.aws.keys import Item
from duetime.errors import truncate
from duetime.ports.actions import DamagedItem

log = logging.getLogger(__name__)

_FOUND: ContextVar[list[DamagedItem] | None] = ContextVar("unreadable items", default=None)


@contextmanager
def collecting() -> Iterator[list[DamagedItem]]:
    """Collect the items that this context notes."""
    found: list[DamagedItem] = []
    token = _FOUND.set(found)
    try:
        yield found
    finally:
        _FOUND.reset(token)


def note(kind: str, item: Item, error: BaseException) -> None:
    """Log an item with its key, and collect it.

    Args:
        kind: what the item is, in words: ``grant``.
        item: the item, or its key.
        error: why it cannot be read.
    """
    pk, sk = (str(item.get(name, {}).get("S", "")) for name in ("pk", "sk"))
    log.error("%s cannot be read", kind, extra={"pk": pk, "sk": sk}, exc_info=error)
    found = _FOUND.get()
    if found is not None:
        found.append(DamagedItem(kind, pk, sk, f"{type(error).__name__}: {truncate(error)}"))
