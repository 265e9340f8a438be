"""Queries of the rows in a file: each reads a bounded part of one index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from duetime import ids, instant
from duetime.errors import InvalidCursor
from duetime.ids import SEPARATOR, ActionId, JobName, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.batch import COUNTED_AT, COUNTING_SHARD
from duetime.model.marks import DueMark, FailedMark
from duetime.ports.actions import DamagedRow, DueEntry, DuePage, Page
from duetime.sqlite.database import Database
from duetime.sqlite.items import COUNTED
from duetime.sqlite.rows import SqliteRows, read_what_can_be

_AFTER_ALL = "~"
"""Sorts after every id; appended to a prefix, it sorts after every id with this prefix."""
_COUNTED_AT = instant.text(COUNTED_AT)


class SqliteQueries:
    """The queries of the rows.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, database: Database, rows: SqliteRows) -> None:
        self._database, self._rows = database, rows

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        with self._database.reading():
            found = [self._rows.readable(ref) for ref in dict.fromkeys(refs)]
        if damaged is not None:
            damaged += [row for row in found if isinstance(row, DamagedRow)]
        rows = [row for row in found if isinstance(row, Action)]
        return [row.without_payload() if row.payload_offloaded else row for row in rows]

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        where = "tenant = ? AND correlation = ? AND id > ? ORDER BY id LIMIT ?"
        return _page(self._select(where, tenant_id, correlation_id, cursor or "", limit + 1), limit)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        return _page(self._newest_first(tenant_id, "", cursor, limit), limit)

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        mark = None if cursor is None else FailedMark.parse(cursor, tenants)
        before = (_AFTER_ALL,) * 3 if mark is None else str(mark).split(" ")
        texts = self._select(
            f"tenant IN ({_places(tenants)}) AND (failed_at, id, tenant) < (?, ?, ?)"
            " ORDER BY failed_at DESC, id DESC, tenant DESC LIMIT ?",
            *(*tenants, *before, limit + 1),
        )
        return _page(texts, limit, cursor_of=lambda row: str(FailedMark.from_row(row)))

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        mark = ("", "") if cursor is None else str(DueMark.parse(cursor)).split(" ")
        texts = self._select(
            "tenant = ? AND place = '' AND due_at > ? AND due_at <= ? AND (due_at, id) > (?, ?)"
            " ORDER BY due_at, id LIMIT ?",
            *(tenant_id, (after and instant.text(after)) or "", instant.text(until or instant.LATEST)),
            *(*mark, limit + 1),
        )
        return _page(texts, limit, cursor_of=lambda row: str(DueMark.from_row(row)))

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
        run, _, event = (cursor or f"{_AFTER_ALL} {_AFTER_ALL}").partition(" ")
        if not event:
            raise InvalidCursor
        runs = self._newest_first(tenant_id, job, run, limit)
        events = self._newest_first(tenant_id, f"{job}{SEPARATOR}", event, limit)
        found = sorted(_readable((*runs, *events)), key=lambda row: ids.nominal_at(row.id), reverse=True)
        for row in found[:limit]:
            run, event = (run, row.id) if ids.is_event_run(row.id) else (row.id, event)
        shown = tuple(row.as_listed() for row in found[:limit])
        return Page(shown, f"{run} {event}" if len(found) > limit else None)

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
        last = ids.occurrence_id(job, version, until) + _AFTER_ALL
        where = "tenant = ? AND place = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?"
        return _page(self._select(where, tenant_id, job, first, last, limit + 1), limit)

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        mark = tuple((cursor or "  ").split(" "))
        if len(mark) != len(("due", "tenant", "id")):
            raise InvalidCursor
        first, last = max(mark, (instant.text(after) if after else "", _AFTER_ALL, "")), instant.text(until)
        with self._database.reading() as connection:
            found = connection.execute(_ROWS_DUE, (shard, last, *first, limit + 1)).fetchall()
            if shard == COUNTING_SHARD and last >= _COUNTED_AT:
                batches = [
                    (_COUNTED_AT, pk.partition(SEPARATOR)[0], sk) for pk, sk in connection.execute(COUNTED)
                ]
                found = sorted([*found, *(entry for entry in batches if entry > first)])
        entries = tuple(
            DueEntry(ActionRef(TenantId(tenant), ActionId(name)), instant.parse(at))
            for at, tenant, name in found[:limit]
        )
        return DuePage(entries, " ".join(found[limit - 1]) if len(found) > limit else None)

    def _newest_first(self, tenant_id: str, place: str, before: str | None, limit: int) -> Sequence[str]:
        where = "tenant = ? AND place = ? AND id < ? ORDER BY id DESC LIMIT ?"
        return self._select(where, tenant_id, place, before or _AFTER_ALL, limit + 1)

    def _select(self, where: str, *values: Any) -> Sequence[str]:
        with self._database.reading() as connection:
            found = connection.execute(f"SELECT row FROM rows WHERE {where}", values).fetchall()
        return [text for (text,) in found]


_ROWS_DUE = (
    "SELECT due_at, tenant, id FROM rows WHERE due_shard = ? AND due_at <= ?"
    " AND (due_at, tenant, id) > (?, ?, ?) ORDER BY due_at, tenant, id LIMIT ?"
)


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _readable(texts: Iterable[str]) -> Sequence[Action]:
    """Return the rows without the damaged ones, which must not block the others."""
    return [row for row in map(read_what_can_be, texts) if isinstance(row, Action)]


def _page(
    texts: Sequence[str],
    limit: int,
    shown_as: Callable[[Action], Action] = Action.without_payload,
    cursor_of: Callable[[Action], str] = lambda row: row.id,
) -> Page:
    found = _readable(texts)
    shown = tuple(map(shown_as, found[:limit]))
    return Page(shown, cursor_of(shown[-1]) if len(found) > limit else None)
