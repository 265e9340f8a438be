"""The depth of an event chain: how many events in a row led to an action.

If a job starts by an event that another job's run caused, and the reverse, they would start each other for
ever. A row stores its depth. A lifecycle event shows it, what a handler schedules inherits it, and a run that
an event starts is one deeper. `EVENT_DEPTH` limits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from duetime.ids import EVENT_SOURCE

EVENT_DEPTH = 8
"""The most events in a row that lead to a run; a run beyond is skipped as refused."""

DEPTH_FIELD = "duetime_depth"
"""The field of an event's detail in which a handler's own event has its depth."""

_depth_of_run: ContextVar[int] = ContextVar("depth of the run in progress", default=0)


def current_depth() -> int:
    """Return the depth of the run whose handler is calling; 0 outside a handler."""
    return _depth_of_run.get()


@contextmanager
def running_at(depth: int) -> Iterator[None]:
    """Run a handler at this depth."""
    token = _depth_of_run.set(depth)
    try:
        yield
    finally:
        _depth_of_run.reset(token)


def depth_of(event: Mapping[str, Any]) -> int:
    """Return the depth of the action that caused an event of the bus; 0 if the event has none."""
    found = event.get("detail")
    if event.get("source") == EVENT_SOURCE:
        found = found.get("action") if isinstance(found, Mapping) else None
        name = "depth"
    else:
        name = DEPTH_FIELD
    depth = found.get(name) if isinstance(found, Mapping) else None
    return max(depth, 0) if type(depth) is int else 0
