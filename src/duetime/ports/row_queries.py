"""The indexes of actions' rows that back ends keep, and the parts of one that are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR
from duetime.model.action import Action, ActionRef
from duetime.ports.actions import DamagedRow

Key = tuple[str, ...]
LOWEST, HIGHEST = "", "~"
"""They sort before and after all ids and instants; an id and `HIGHEST` sort after what begins with the id."""


@dataclass(frozen=True, slots=True)
class RowIndex:
    """Rows in an order.

    Attributes:
        parts: the columns of a partition.
        key: the columns of the order within it.
        entry: returns a row's partition and key; None if the index leaves the row out.
        has_rows: whether each back end finds the rows with the entries.
    """

    parts: Key
    key: Key
    entry: Callable[[Action], tuple[Key, Key] | None]
    has_rows: bool = True


class Span(NamedTuple):
    """The entries of a partition between two keys, both left out.

    Attributes:
        by: the index.
        part: the partition.
        low: its entries come after this key.
        high: its entries come before this key.
        limit: the most entries.
        is_newest_first: whether the order is reversed.
    """

    by: RowIndex
    part: Key
    low: Key
    high: Key
    limit: int
    is_newest_first: bool = False


IndexEntry = tuple[Key, "Action | DamagedRow | ActionRef"]
"""A key, and the row; the reference alone where an index has no rows."""


def list_of(action_id: str) -> str:
    """Return the list of a row: all one-shots of a tenant are in one, a job's runs, its runs of events."""
    job = ids.job_of(action_id)
    if job is None:
        return ""
    return f"{job}{SEPARATOR}" if ids.is_event_run(action_id) else job


BY_ID = RowIndex(("tenant", "place"), ("id",), lambda row: ((row.tenant_id, list_of(row.id)), (row.id,)))
BY_CORRELATION = RowIndex(
    ("tenant", "correlation"),
    ("id",),
    lambda row: ((row.tenant_id, row.correlation_id), (row.id,)) if row.correlation_id else None,
)
BY_FAILURE = RowIndex(
    ("tenant",),
    ("failed_at", "id", "tenant"),
    lambda row: (
        ((row.tenant_id,), (instant.text(row.failed_at), row.id, row.tenant_id))
        if row.is_dead_letter
        else None
    ),
)
BY_DUE_TIME = RowIndex(
    ("tenant", "place"),
    ("due_at", "id"),
    lambda row: ((row.tenant_id, list_of(row.id)), (instant.text(row.due_at), row.id)),
)
BY_DUE_SHARD = RowIndex(
    ("due_shard",),
    ("due_at", "tenant", "id"),
    lambda row: ((row.due_shard,), (instant.text(row.due_at), row.tenant_id, row.id)),
    has_rows=False,
)
"""The due index: unsettled rows, and the batches that a sweep counts again."""


class Rows(Protocol):
    """The rows of a table."""

    def step(self, *, is_new: bool = False) -> AbstractContextManager[object]:
        """Keep other writers out within a block; steps may be nested. `is_new`: the step adds something."""

    def get(self, ref: ActionRef) -> Action | None:
        """Return a row.

        Raises:
            UnreadableRow: it is damaged.
        """

    def readable(self, ref: ActionRef) -> Action | DamagedRow | None:
        """Return a row, or what can be read of a damaged one."""

    def select(self, span: Span) -> Sequence[IndexEntry]:
        """Return a part of an index, in its order."""

    def write(self, old: Action | None, new: Action) -> Action:
        """Replace the row `old` by `new`, or add `new` if `old` is None, within a step."""

    def remove_expired(self, now: datetime) -> Sequence[Action]:
        """Remove the rows that have expired, as DynamoDB's time to live does, and return them."""


def cursor_parts(cursor: str) -> list[str]:
    """Return the texts of a cursor: a JSON list, because a forged key may hold any character.

    Raises:
        InvalidCursor: it is another text.
    """
    try:
        parts = json.loads(cursor)
    except (ValueError, RecursionError):
        raise InvalidCursor from None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise InvalidCursor
    return parts


def key_of_entry(entry: tuple[Key, object]) -> Key:
    """Return the key of an entry: the order of an index."""
    return entry[0]


def within(span: Span, rows: Iterable[Action]) -> list[tuple[Key, Action]]:
    """Return the entries of a span among all rows, by their own values."""
    placed = ((entry, row) for row in rows if (entry := span.by.entry(row)) is not None)
    found: list[tuple[Key, Action]] = [
        (key, row) for (part, key), row in placed if part == span.part and span.low < key < span.high
    ]
    return sorted(found, key=key_of_entry, reverse=span.is_newest_first)[: span.limit]
