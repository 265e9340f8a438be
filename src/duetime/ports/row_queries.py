"""The queries of a back end that keeps rows itself: each reads a bounded part of one index."""
# ruff: noqa: D102 - `duetime.ports.action_store.ActionStore` describes the methods

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR, JobName, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.marks import DueMark, FailedMark
from duetime.ports.actions import DamagedRow, Page

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
    """

    parts: Key
    key: Key
    entry: Callable[[Action], tuple[Key, Key] | None]


@dataclass(frozen=True, slots=True)
class Span:
    """The entries of a partition between two keys, both left out.

    Attributes:
        limit: the most entries.
        is_newest_first: whether the order is reversed.
    """

    index: RowIndex
    part: Key
    low: Key
    high: Key
    limit: int
    is_newest_first: bool = False


Entry = tuple[Key, Action | DamagedRow]


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

    def select(self, span: Span) -> Sequence[Entry]:
        """Return a part of an index, in its order."""

    def write(self, old: Action | None, new: Action) -> Action:
        """Replace the row `old` by `new`, or add `new` if `old` is None, within a step."""

    def remove_expired(self, now: datetime) -> Sequence[Action]:
        """Remove the rows that have expired, as DynamoDB's time to live does, and return them."""


class Queries:
    """The queries of the rows; a subclass adds `due`.

    See `duetime.ports.action_store.ActionStore`.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        found = [self._rows.readable(ref) for ref in dict.fromkeys(refs)]
        if damaged is not None:
            damaged += [row for row in found if isinstance(row, DamagedRow)]
        rows = [row for row in found if isinstance(row, Action)]
        return [row.without_payload() if row.payload_size else row for row in rows]

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        part, low = (tenant_id, correlation_id), (cursor or LOWEST,)
        return _page(self._rows.select(Span(BY_CORRELATION, part, low, (HIGHEST,), limit + 1)), limit)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        return _page(self._newest_first(tenant_id, "", cursor, limit), limit)

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        mark = None if cursor is None else FailedMark.parse(cursor, tenants)
        before = (HIGHEST,) if mark is None else tuple(str(mark).split(" "))
        found = (
            self._rows.select(Span(BY_FAILURE, (tenant,), (LOWEST,), before, limit + 1, is_newest_first=True))
            for tenant in tenants
        )
        return _page([*heapq.merge(*found, key=_key, reverse=True)], limit)

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        mark = (LOWEST,) if cursor is None else tuple(str(DueMark.parse(cursor)).split(" "))
        low = mark if after is None else max(mark, (instant.text(after), HIGHEST))
        high = (instant.text(until or instant.LATEST), HIGHEST)
        return _page(self._rows.select(Span(BY_DUE_TIME, (tenant_id, ""), low, high, limit + 1)), limit)

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        if not has_events:
            return _page(self._newest_first(tenant_id, job, cursor, limit), limit, Action.as_listed)
        run, _, event = (cursor or f"{HIGHEST} {HIGHEST}").partition(" ")
        if not event:
            raise InvalidCursor
        runs = self._newest_first(tenant_id, job, run, limit)
        events = self._newest_first(tenant_id, f"{job}{SEPARATOR}", event, limit)
        found = sorted((*runs, *events), key=lambda entry: ids.nominal_at(entry[0][-1]), reverse=True)
        for (name,), _ in found[:limit]:
            run, event = (run, name) if ids.is_event_run(name) else (name, event)
        page = _page(found, limit, Action.as_listed)
        return page if page.cursor is None else Page(page.actions, f"{run} {event}")

    def occurrences(
        self,
        tenant_id: TenantId,
        job: JobName,
        version: int,
        *,
        after: datetime,
        until: datetime,
        limit: int,
        cursor: str | None,
    ) -> Page:
        low = cursor or ids.occurrence_id(job, version, after) + HIGHEST
        high = ids.occurrence_id(job, version, until) + HIGHEST
        return _page(self._rows.select(Span(BY_ID, (tenant_id, job), (low,), (high,), limit + 1)), limit)

    def _newest_first(self, tenant_id: str, place: str, before: str | None, limit: int) -> Sequence[Entry]:
        high = (before or HIGHEST,)
        span = Span(BY_ID, (tenant_id, place), (LOWEST,), high, limit + 1, is_newest_first=True)
        return self._rows.select(span)


def _key(entry: Entry) -> Key:
    return entry[0]


def _page(
    found: Sequence[Entry], limit: int, shown_as: Callable[[Action], Action] = Action.without_payload
) -> Page:
    """Return a page without the damaged rows, which must not hide those behind them."""
    shown = tuple(shown_as(row) for _, row in found[:limit] if isinstance(row, Action))
    return Page(shown, " ".join(found[limit - 1][0]) if len(found) > limit else None)


def within(span: Span, rows: Iterable[Action]) -> list[Entry]:
    """Return the entries of a span among all rows, by their own values."""
    placed = ((entry, row) for row in rows if (entry := span.index.entry(row)) is not None)
    found: list[Entry] = [
        (key, row) for (part, key), row in placed if part == span.part and span.low < key < span.high
    ]
    return sorted(found, key=_key, reverse=span.is_newest_first)[: span.limit]
