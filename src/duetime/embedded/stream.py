"""A table's stream in memory: what changed waits in a queue until it is taken."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

_T = TypeVar("_T")


def taken_from(waiting: deque[_T]) -> list[_T]:
    """All that waits now, in order; taken one by one, since another thread may be adding."""
    taken = []
    while waiting:
        taken.append(waiting.popleft())
    return taken
