"""Queries in memory: each reads a part of some partitions in the order of their ids, as in DynamoDB."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from duetime import ids
from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR, SHARDS, ActionId, JobName, TenantId
from duetime.memory.table import DueKey, MemoryTable
from duetime.model.action import Action, ActionRef
from duetime.model.marks import DueMark, FailedMark
from duetime.ports.actions import DamagedRow, DueEntry, DuePage, Page

_AFTER_ALL = "~"
"""Sorts after every id; appended to a prefix, it sorts after every id with this prefix."""


class MemoryQueries:
    """The queries of the actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table, self._rows = table, table.by_ref

    def get_rows(
        self,
        refs: Sequence[ActionRef],
        *,
        damaged: list[DamagedRow] | None = None,  # noqa: ARG002 - these rows are values, not items
    ) -> Sequence[Action]:
        with self._table.lock:
            found = [self._rows[ref] for ref in dict.fromkeys(refs) if ref in self._rows]
        return [row.without_payload() if row.payload_offloaded else row for row in found]

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        with self._table.lock:
            found = (
                row
                for row in self._rows.values()
                if (row.tenant_id, row.correlation_id) == (tenant_id, correlation_id)
                and (cursor is None or row.id > cursor)
            )
            return _page(sorted(found, key=lambda row: row.id), limit)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        with self._table.lock:
            return _page(self._newest_first(tenant_id, SHARDS, cursor or _AFTER_ALL), limit)

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        before = None if cursor is None else FailedMark.parse(cursor, tenants)
        with self._table.lock:
            rows = [row for row in self._rows.values() if row.tenant_id in tenants]
        failed = (row for row in rows if row.is_dead_letter)
        found = sorted(
            (row for row in failed if before is None or FailedMark.from_row(row) < before),
            key=FailedMark.from_row,
            reverse=True,
        )
        shown = tuple(row.without_payload() for row in found[:limit])
        return Page(shown, str(FailedMark.from_row(shown[-1])) if len(found) > limit else None)

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        last = None if cursor is None else DueMark.parse(cursor)
        with self._table.lock:
            rows = [
                row for row in self._rows.values() if row.tenant_id == tenant_id and ids.is_one_shot(row.id)
            ]
        found = [
            row
            for row in rows
            if (after is None or row.due_at > after) and (until is None or row.due_at <= until)
        ]
        left = sorted(
            (row for row in found if last is None or DueMark.from_row(row) > last), key=DueMark.from_row
        )
        shown = tuple(row.without_payload() for row in left[:limit])
        return Page(shown, str(DueMark.from_row(shown[-1])) if len(left) > limit else None)

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        if has_events:
            return self._of_job_with_events(tenant_id, job, limit, cursor or f"{_AFTER_ALL} {_AFTER_ALL}")
        with self._table.lock:
            return _page(self._newest_first(tenant_id, [job], cursor or _AFTER_ALL), limit, Action.as_listed)

    def _of_job_with_events(self, tenant_id: TenantId, job: JobName, limit: int, cursor: str) -> Page:
        """Merge two lists by nominal time. The cursor has a position in each."""
        run, _, event = cursor.partition(" ")
        if not event:
            raise InvalidCursor
        with self._table.lock:
            runs = self._newest_first(tenant_id, [job], run)
            events = self._newest_first(tenant_id, [f"{job}{SEPARATOR}{shard}" for shard in SHARDS], event)
            merged = heapq.merge(runs, events, key=lambda row: ids.nominal_at(row.id), reverse=True)
            found = tuple(islice(merged, limit + 1))
        for row in found[:limit]:
            run, event = (run, row.id) if ids.is_event_run(row.id) else (row.id, event)
        return Page(
            _page(found, limit, Action.as_listed).actions, f"{run} {event}" if len(found) > limit else None
        )

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
        first = cursor or ids.occurrence_id(job, version, after) + _AFTER_ALL
        with self._table.lock:
            partition = self._table.partitions.get((tenant_id, job), [])
            begin = bisect_right(partition, first)
            stop = bisect_right(partition, ids.occurrence_id(job, version, until) + _AFTER_ALL)
            return _page(
                [self._rows[ActionRef(tenant_id, row_id)] for row_id in partition[begin:stop]], limit
            )

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        if not (entries := self._table.due_index.get(shard, ())):
            return _NO_ENTRIES
        with self._table.lock:
            first = 0 if after is None else bisect_right(entries, (after, "\uffff", ""))
            if cursor is not None:
                first = max(first, bisect_right(entries, _from_cursor(cursor)))
            last = bisect_left(entries, (until, "\uffff", ""))
            found = entries[first : min(last, first + limit)]
        return DuePage(
            tuple(DueEntry(ActionRef(TenantId(tenant), row_id), due_at) for due_at, tenant, row_id in found),  # type: ignore[arg-type]
            _to_cursor(found[-1]) if first + limit < last else None,
        )

    def _newest_first(self, tenant_id: TenantId, places: Iterable[str], before: str) -> Iterator[Action]:
        """Return the rows of some partitions with ids below `before`, highest first.

        The caller holds the lock.
        """
        partitions = [self._table.partitions.get((tenant_id, place), []) for place in places]
        merged = heapq.merge(*(_downwards(partition, before) for partition in partitions), reverse=True)
        return (self._rows[ActionRef(tenant_id, row_id)] for row_id in merged)


_NO_ENTRIES = DuePage((), None)


def _downwards(partition: Sequence[ActionId], before: str) -> Iterator[ActionId]:
    below = bisect_left(partition, before)
    return (partition[at] for at in range(below - 1, -1, -1))


def _page(
    rows: Iterable[Action], limit: int, shown_as: Callable[[Action], Action] = Action.without_payload
) -> Page:
    found = tuple(islice(rows, limit + 1))
    shown = tuple(map(shown_as, found[:limit]))
    return Page(shown, shown[-1].id if len(found) > limit else None)


def _to_cursor(entry: DueKey) -> str:
    return " ".join((entry[0].isoformat(), *entry[1:]))


def _from_cursor(cursor: str) -> DueKey:
    try:
        due_at, tenant, row_id = cursor.split(" ")
        return (datetime.fromisoformat(due_at), tenant, row_id)
    except ValueError:
        raise InvalidCursor from None
