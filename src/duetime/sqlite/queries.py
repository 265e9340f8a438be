"""Queries of the rows in a file: each reads a bounded part of one index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

_Entry = tuple[str, str]
"""The cursor of the page that ends with a row, and the row's text."""


_LEFT = """
SELECT json_extract(row, '$.status.S') = 'processing', json_extract(row, '$.planned_at.S') IS NOT NULL,
    COUNT(*), MIN(due_at)
FROM rows WHERE due_shard IS NOT NULL GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Found:
    """The unsettled actions that an earlier process left in a file.

    Attributes:
        pending: the number of pending one-shots.
        planned: the number of pending runs of jobs.
        cut_short: the number of actions that ran when the process ended.
        next_due_at: when the first of the pending one-shots is or was due.
    """

    pending: int
    planned: int
    cut_short: int
    next_due_at: datetime | None


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

    def found(self) -> Found:
        """Count what an earlier process has left."""
        with self._database.reading() as connection:
            counted = connection.execute(_LEFT).fetchall()
        sums = {(is_cut_short, is_planned): number for is_cut_short, is_planned, number, _ in counted}
        firsts = [first for is_cut_short, is_planned, _, first in counted if not (is_cut_short or is_planned)]
        cut_short = sum(number for key, number in sums.items() if key[0])
        first = instant.parse(firsts[0]) if firsts else None
        return Found(sums.get((0, 0), 0), sums.get((0, 1), 0), cut_short, first)

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        where = "tenant = ? AND correlation = ? AND id > ? ORDER BY id LIMIT ?"
        return _page(self._select("id", where, tenant_id, correlation_id, cursor or "", limit + 1), limit)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        return _page(self._newest_first(tenant_id, "", cursor, limit), limit)

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        mark = None if cursor is None else FailedMark.parse(cursor, tenants)
        before = (_AFTER_ALL,) * 3 if mark is None else str(mark).split(" ")
        found = self._select(
            "failed_at || ' ' || id || ' ' || tenant",
            f"tenant IN ({_places(tenants)}) AND (failed_at, id, tenant) < (?, ?, ?)"
            " ORDER BY failed_at DESC, id DESC, tenant DESC LIMIT ?",
            *(*tenants, *before, limit + 1),
        )
        return _page(found, limit)

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
        found = self._select(
            "due_at || ' ' || id",
            "tenant = ? AND place = '' AND due_at > ? AND due_at <= ? AND (due_at, id) > (?, ?)"
            " ORDER BY due_at, id LIMIT ?",
            *(tenant_id, (after and instant.text(after)) or "", instant.text(until or instant.LATEST)),
            *(*mark, limit + 1),
        )
        return _page(found, limit)

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
        found = sorted((*runs, *events), key=lambda entry: ids.nominal_at(entry[0]), reverse=True)
        for name, _ in found[:limit]:
            run, event = (run, name) if ids.is_event_run(name) else (name, event)
        return replace(
            _page(found, limit, Action.as_listed), cursor=f"{run} {event}" if len(found) > limit else None
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
        last = ids.occurrence_id(job, version, until) + _AFTER_ALL
        where = "tenant = ? AND place = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?"
        return _page(self._select("id", where, tenant_id, job, first, last, limit + 1), limit)

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

    def _newest_first(self, tenant_id: str, place: str, before: str | None, limit: int) -> Sequence[_Entry]:
        where = "tenant = ? AND place = ? AND id < ? ORDER BY id DESC LIMIT ?"
        return self._select("id", where, tenant_id, place, before or _AFTER_ALL, limit + 1)

    def _select(self, cursor: str, where: str, *values: Any) -> Sequence[_Entry]:
        with self._database.reading() as connection:
            return connection.execute(f"SELECT {cursor}, row FROM rows WHERE {where}", values).fetchall()


_ROWS_DUE = (
    "SELECT due_at, tenant, id FROM rows WHERE due_shard = ? AND due_at <= ?"
    " AND (due_at, tenant, id) > (?, ?, ?) ORDER BY due_at, tenant, id LIMIT ?"
)


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _page(
    found: Sequence[_Entry], limit: int, shown_as: Callable[[Action], Action] = Action.without_payload
) -> Page:
    """Return a page without the damaged rows, which must not hide those behind them."""
    rows = (read_what_can_be(text) for _, text in found[:limit])
    shown = tuple(shown_as(row) for row in rows if isinstance(row, Action))
    return Page(shown, found[limit - 1][0] if len(found) > limit else None)
