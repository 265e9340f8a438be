"""The lists of actions' rows, over any back end: each reads a bounded part of an index."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from duetime import ids, instant
from duetime.errors import DuetimeError, InvalidCursor
from duetime.ids import SEPARATOR, JobName, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.marks import DueMark, FailedMark
from duetime.ports.actions import DamagedRow, DueEntry, DuePage, Page
from duetime.ports.keyed_items import Items
from duetime.ports.row_queries import (
    BY_CORRELATION,
    BY_DUE_SHARD,
    BY_DUE_TIME,
    BY_FAILURE,
    BY_ID,
    HIGHEST,
    LOWEST,
    Key,
    Span,
    cursor_parts,
    key_of_entry,
    within,
)

_LONGEST_CURSOR = 600
_INSTANT = 27
"""Characters of an instant's text."""


class RowLists:
    """The lists of rows, over any back end: each reads a bounded part of an index."""

    items: Items

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        """Return the current rows in no order, without offloaded payloads and without missing rows.

        Unreadable rows are left out, and appended to `damaged`.
        """
        found = [*self.items.rows([*dict.fromkeys(refs)])]
        if damaged is not None:
            damaged += [row for row in found if isinstance(row, DamagedRow)]
        rows = [row for row in found if isinstance(row, Action)]
        return [row.without_payload() if row.payload_size else row for row in rows]

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        """Return a tenant's actions with this correlation id, oldest first. The list may lag by a moment."""
        part, low = (tenant_id, correlation_id), (cursor or LOWEST,)
        return self._page([Span(BY_CORRELATION, part, low, (HIGHEST,), limit + 1)])

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        """Return a tenant's one-shots, newest first. `of_job` returns runs of jobs."""
        return self._page([_newest_first(tenant_id, "", cursor or HIGHEST, limit)])

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        """Return failed actions of some tenants, latest failure first, then highest id; runs of jobs too.

        The list may lag by a moment, but contains no action that was redriven or
        dismissed.

        Raises:
            InvalidCursor: the cursor is not from a list of these tenants.
        """
        mark = None if cursor is None else FailedMark.parse(cursor, tenants)
        before = (HIGHEST,) if mark is None else tuple(str(mark).split(" "))
        return self._page(
            [
                Span(BY_FAILURE, (tenant,), (LOWEST,), before, limit + 1, is_newest_first=True)
                for tenant in tenants
            ]
        )

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return a tenant's one-shots with ``after < due_at <= until``, soonest first, then by id.

        Settled ones are included.

        Callers use it only with the setting ``due_order``. It contains the actions scheduled since the
        setting is on. The list may lag by a moment. An action whose due time moves between two pages may
        occur twice or not at all.

        Raises:
            InvalidCursor: the cursor is not from a list in due order.
        """
        mark = (LOWEST,) if cursor is None else tuple(str(DueMark.parse(cursor)).split(" "))
        low = mark if after is None else max(mark, (instant.text(after), HIGHEST))
        high = (instant.text(until or instant.LATEST), HIGHEST)
        return self._page([Span(BY_DUE_TIME, (tenant_id, ""), low, high, limit + 1)])

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        """Return a tenant's runs of a job, newest first, by version and nominal time.

        This reads one partition.

        Runs that events started are in partitions of their own, which are read only if `has_events`. A
        triggered run has its payload, unless that is offloaded; other runs have none.
        """
        run, *others = _run_marks(job, cursor, has_events=has_events)
        if not others:
            return self._page([_newest_first(tenant_id, job, run, limit)], Action.as_listed)
        (event,) = others
        runs = self.items.select(_newest_first(tenant_id, job, run, limit))
        events = self.items.select(_newest_first(tenant_id, f"{job}{SEPARATOR}", event, limit))
        merged = heapq.merge(runs, events, key=lambda entry: ids.nominal_at(entry[0][-1]), reverse=True)
        found = [*islice(merged, limit + 1)]
        for (name,), _row in found[:limit]:
            run, event = (run, name) if ids.is_event_run(name) else (name, event)
        shown = tuple(row.as_listed() for _, row in found[:limit] if isinstance(row, Action))
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
        """Return rows of a job's version with a nominal time in (after, until], oldest first.

        Manual runs are included.
        """
        first = ids.occurrence_id(job, version, after) + HIGHEST
        high = ids.occurrence_id(job, version, until) + HIGHEST
        if cursor is not None and not (ids.job_of(cursor) == job and first < cursor < high):
            raise InvalidCursor
        return self._page([Span(BY_ID, (tenant_id, job), (cursor or first,), (high,), limit + 1)])

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        """Return entries of a due shard with ``after < due_at <= until``, soonest first; unsettled rows only.

        It reads only the entries that it returns, however many are stored.
        """
        low: Key = (LOWEST,) if after is None else (instant.text(after), HIGHEST)
        if cursor is not None:
            mark = tuple(cursor_parts(cursor))
            if len(mark) not in {2, 3}:
                raise InvalidCursor
            low = max(low, mark)
        found = [*self.items.select(Span(BY_DUE_SHARD, (shard,), low, (instant.text(until), HIGHEST), limit))]
        entries = tuple(DueEntry(ref, _due_at(key)) for key, ref in found if isinstance(ref, ActionRef))
        return DuePage(entries, _due_cursor(found[-1][0]) if len(found) == limit else None)

    def _page(
        self, spans: Sequence[Span], shown_as: Callable[[Action], Action] = Action.without_payload
    ) -> Page:
        """Return a page of all but the last entry that the spans have together.

        A damaged row is left out, but must not hide those behind it. An index may lag behind its rows.
        """
        limit, is_reversed = spans[0].limit - 1, spans[0].is_newest_first
        selected = (self.items.select(span) for span in spans)
        found = [*islice(heapq.merge(*selected, key=key_of_entry, reverse=is_reversed), limit + 1)]
        rows = [row for _, row in found[:limit] if isinstance(row, Action)]
        if refs := [row for _, row in found[:limit] if isinstance(row, ActionRef)]:
            read = self.get_rows(refs)
            current = (within(span, read) for span in spans)
            rows = [row for _, row in heapq.merge(*current, key=key_of_entry, reverse=is_reversed)]
        return Page(tuple(map(shown_as, rows)), " ".join(found[limit - 1][0]) if len(found) > limit else None)


def _newest_first(tenant_id: str, place: str, before: str, limit: int) -> Span:
    return Span(BY_ID, (tenant_id, place), (LOWEST,), (before,), limit + 1, is_newest_first=True)


def _run_marks(job: JobName, cursor: str | None, *, has_events: bool) -> Sequence[str]:
    """Return the last listed id of scheduled runs, and of runs of events, if they are listed.

    Raises:
        InvalidCursor: the cursor is not from such a list of this job.
    """
    kinds = (False, True)[: 1 + has_events]
    marks = [HIGHEST for _ in kinds] if cursor is None else cursor.split(" ")
    if len(marks) != len(kinds) or not all(map(partial(_is_mark, job), marks, kinds)):
        raise InvalidCursor
    return marks


def _is_mark(job: JobName, mark: str, is_event: bool) -> bool:
    is_run = ids.is_action_id(mark) and ids.job_of(mark) == job and ids.is_event_run(mark) == is_event
    return is_run or mark == HIGHEST


def _due_cursor(key: Key) -> str:
    """Return the cursor behind an entry, of bounded length: a bookmark has one for each shard."""
    cursor = json.dumps(key)
    if len(cursor) <= _LONGEST_CURSOR:
        return cursor
    return json.dumps([key[0][:_INSTANT], HIGHEST])  # other entries of this instant come in a later pass


def _due_at(key: Key) -> datetime:
    """Return the due time of an entry. One with a forged time comes too: its row is unreadable, or absent."""
    try:
        return instant.parse(key[0])
    except DuetimeError:
        return instant.EARLIEST
