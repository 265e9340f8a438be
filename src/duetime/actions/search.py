"""Search the actions of a selection, in pages.

Each page reads a bounded part of one index, never the table.

========================  ==========================================  ===============
the selection has         reads                                       in the order of
========================  ==========================================  ===============
ids                       their rows                                  id
a correlation id          that id's partition of an index             age, oldest first
a job                     that job's partition                        nominal time, latest first
status failed             the tenant's partitions of an index         failure, latest first
a due range, if indexed   the tenant's partitions of an index         due time, soonest first
none of these             the tenant's one-shots created in the span  age, newest first
========================  ==========================================  ===============

The first matching line is used. The setting ``due_order`` indexes due ranges. The other filters apply to the
rows that were read, so a page may be short or empty and still have a cursor.

No index holds errors and payloads. A search for these is a scan of the same index, in larger steps: a page
reads at most 1,000 rows, or 500 with their payloads, and returns how far it came.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from duetime import ids
from duetime.errors import InvalidCursor
from duetime.model.action import Action, ActionRef
from duetime.model.marks import FailedMark
from duetime.model.redaction import read_payload
from duetime.model.selection import LARGEST_PAGE, Selection
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import Page, Scanned

MOST_READS = 5
"""The most pages of the index that fill one page."""
PAYLOADS_AT_ONCE = 100
"""The rows of one step of a scan that reads payloads; offloaded ones are read one by one."""

PayloadOf = Callable[[Action], Any]
"""Returns a row's payload as JSON, as the caller may see it."""


def stored_payload(row: Action) -> Any:
    """Return a row's payload as JSON; None if it is gone."""
    return None if row.payload is None else read_payload(row.payload)


class RunHistory(Protocol):
    """A page of a job's runs."""

    def __call__(self, name: str, /, *, limit: int, cursor: str | None) -> Page:
        """See `duetime.jobs.jobs.Jobs.history`."""
        ...


_Read = Callable[..., Page]


class Search:
    """Searches one tenant's actions; a search for failed ones includes those of `others`."""

    def __init__(
        self,
        store: ActionStore,
        history: RunHistory,
        tenant_id: ids.TenantId,
        others: Sequence[ids.TenantId] = (),
        *,
        due_order: bool = False,
        payload_of: PayloadOf = stored_payload,
        scan_steps: int = MOST_READS,
    ) -> None:
        self._payload_of, self._scan_steps = payload_of, scan_steps
        self._store, self._history = store, history
        self._tenant_id, self._others = tenant_id, others
        self._due_order = due_order

    def __call__(self, selection: Selection, *, limit: int, cursor: str | None) -> Page:
        """Return a page of the selection, without payloads.

        Raises:
            InvalidCursor: the cursor belongs to another query.
            NotFound: there is no such job.
        """
        if selection.is_scan:
            return self._scan(selection, limit, cursor)
        read, found = self._reader(selection), list[Action]()
        for _ in range(MOST_READS):
            page = read(limit=limit - len(found), cursor=cursor)
            found.extend(row for row in page if selection.admits(row))
            cursor = page.cursor
            if cursor is None or len(found) == limit:
                break
        return Page(tuple(found), cursor)

    def _scan(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        """Read large steps; one whose matches do not fit is left to the next page, or read again in part."""
        read, found, rows = self._reader(selection), list[Action](), 0
        size, last = PAYLOADS_AT_ONCE if selection.payload else LARGEST_PAGE, None
        for _ in range(self._scan_steps):
            page = read(limit=size, cursor=cursor)
            matching = self._matching(selection, page)
            if len(found) + len(matching) > limit:
                if found:
                    break
                page = read(limit=limit, cursor=cursor)
                matching = self._matching(selection, page)
            found.extend(matching)
            rows, cursor, last = rows + len(page), page.cursor, page.actions[-1] if len(page) else last
            if cursor is None or len(found) == limit:
                break
        until = None if last is None else self._place(selection, last)
        return Page(tuple(found), cursor, Scanned(rows, until))

    def _matching(self, selection: Selection, page: Page) -> Sequence[Action]:
        rows = [row for row in page if selection.admits(row)]
        if not selection.payload:
            return rows
        full = {row.ref: row for row in self._store.get_rows([row.ref for row in rows])}
        return [row for row in rows if selection.admits_payload(self._read_payload(full.get(row.ref)))]

    def _read_payload(self, row: Action | None) -> Any:
        if row is not None and row.payload_size:
            row = self._store.get(row.ref)
        return None if row is None else self._payload_of(row)

    def _place(self, selection: Selection, row: Action) -> datetime:
        """Return where a row stands in the order of the selection's list."""
        if selection.action_ids or selection.correlation_id is not None:
            return row.created_at
        if selection.job is not None:
            return row.nominal_at
        if selection.is_failed_only:
            return FailedMark.from_row(row).failed_at
        return row.due_at if self._due_order and selection.has_due_range else row.created_at

    def _reader(self, selection: Selection) -> _Read:
        if selection.action_ids:
            return partial(self._by_ids, selection.action_ids)
        if selection.correlation_id is not None:
            return partial(self._by_correlation, selection.correlation_id)
        if selection.job is not None:
            return partial(self._history, selection.job)
        if selection.is_failed_only:
            return partial(self._store.failed, [self._tenant_id, *self._others])
        if self._due_order and selection.has_due_range:
            after, until = selection.due_after, selection.due_until
            return partial(self._store.in_due_order, self._tenant_id, after=after, until=until)
        return partial(self._by_age, selection)

    def _by_ids(self, action_ids: Sequence[ids.ActionId], *, limit: int, cursor: str | None) -> Page:
        after = _checked(cursor)
        left = [one for one in action_ids if after is None or one > after]
        now, later = left[:limit], left[limit:]
        # Others own runs of jobs alone.
        refs = [ActionRef(self._tenant_id, one) for one in now] + [
            ActionRef(tenant, one) for tenant in self._others for one in now if not ids.is_one_shot(one)
        ]
        rows = sorted(self._store.get_rows(refs), key=lambda row: row.id)
        return Page(tuple(row.without_payload() for row in rows), now[-1] if later else None)

    def _by_correlation(self, correlation_id: str, *, limit: int, cursor: str | None) -> Page:
        return self._store.by_correlation(
            self._tenant_id, correlation_id, limit=limit, cursor=_checked(cursor)
        )

    def _by_age(self, selection: Selection, *, limit: int, cursor: str | None) -> Page:
        before, until, after = _checked(cursor), selection.created_until, selection.created_after
        if before is None and until is not None:
            before = ids.before_all_after(until)
        page = self._store.of_tenant(self._tenant_id, limit=limit, cursor=before)
        is_past = after is not None and any(row.created_at <= after for row in page)
        return Page(page.actions, None if is_past else page.cursor)


def _checked(cursor: str | None) -> str | None:
    if cursor is not None and not ids.is_action_id(cursor):
        raise InvalidCursor
    return cursor
