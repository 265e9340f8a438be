"""Search: the actions that a selection means, in pages.

Each page reads a bounded part of one index, never the table.

========================  ==========================================  ===============
the selection says        is read                                     in the order of
========================  ==========================================  ===============
a correlation id          that id's partition of an index             age, oldest first
a job                     that job's partition                        nominal time, latest first
status failed             the tenant's partitions of an index         failure, latest first
a due range, if indexed   the tenant's partitions of an index         due time, soonest first
none of these             the tenant's one-shots created in the span  age, newest first
========================  ==========================================  ===============

The first line that fits is what is read; a due range is indexed with the setting ``due_order``. Whatever else
it says is looked up in the rows that were read: then a page may be short, or empty, and have a cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from duetime import ids
from duetime.errors import InvalidCursor
from duetime.model.action import Action, Status
from duetime.model.selection import Selection
from duetime.ports.actions import ActionStore, Page

MOST_LOOKS = 5
"""A page is filled from so many pages of the index at most."""


class RunHistory(Protocol):
    """A page of a job's runs."""

    def __call__(self, name: str, /, *, limit: int, cursor: str | None) -> Page:
        """See `duetime.jobs.jobs.Jobs.history`."""
        ...


_Look = Callable[[int, str | None], Page]


class Search:
    """Searches one tenant's actions; those of `others` besides, where failed ones are asked for."""

    def __init__(
        self,
        store: ActionStore,
        history: RunHistory,
        tenant_id: ids.TenantId,
        others: Sequence[ids.TenantId] = (),
        *,
        due_order: bool = False,
    ) -> None:
        self._store, self._history = store, history
        self._tenant_id, self._others = tenant_id, others
        self._due_order = due_order

    def __call__(self, selection: Selection, *, limit: int, cursor: str | None) -> Page:
        """A page of what is meant, without payloads.

        Raises:
            InvalidCursor: the cursor belongs to another query.
            JobNotFound: there is no such job.
        """
        look, found = self._look(selection), list[Action]()
        for _ in range(MOST_LOOKS):
            page = look(limit - len(found), cursor)
            found.extend(row for row in page if selection.admits(row))
            cursor = page.cursor
            if cursor is None or len(found) == limit:
                break
        return Page(tuple(found), cursor)

    def _look(self, selection: Selection) -> _Look:
        """How the next rows are read that may be meant."""
        if selection.correlation_id is not None:
            return partial(self._by_correlation, selection.correlation_id)
        if selection.job is not None:
            return partial(self._by_job, selection.job)
        if selection.statuses == _FAILED:
            return self._by_failure
        if self._due_order and selection.has_due_range:
            return partial(self._by_due, selection)
        return partial(self._by_age, selection)

    def _by_correlation(self, correlation_id: str, limit: int, cursor: str | None) -> Page:
        after = _checked(cursor)
        return self._store.by_correlation(self._tenant_id, correlation_id, limit=limit, cursor=after)

    def _by_job(self, job: ids.JobName, limit: int, cursor: str | None) -> Page:
        return self._history(job, limit=limit, cursor=cursor)

    def _by_failure(self, limit: int, cursor: str | None) -> Page:
        return self._store.failed([self._tenant_id, *self._others], limit=limit, cursor=cursor)

    def _by_due(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        after, until = selection.due_after, selection.due_until
        return self._store.in_due_order(self._tenant_id, after=after, until=until, limit=limit, cursor=cursor)

    def _by_age(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        before, until, after = _checked(cursor), selection.created_until, selection.created_after
        if before is None and until is not None:
            before = ids.before_all_after(until)
        page = self._store.of_tenant(self._tenant_id, limit=limit, cursor=before)
        is_past = after is not None and any(row.created_at <= after for row in page)
        return Page(page.actions, None if is_past else page.cursor)


def _checked(cursor: str | None) -> str | None:
    """A cursor that is an action's id.

    Raises:
        InvalidCursor: it is none.
    """
    if cursor is not None and not ids.is_action_id(cursor):
        raise InvalidCursor
    return cursor


_FAILED = frozenset({Status.FAILED})
