"""Search: the actions that a selection means, in pages. Each page reads a bounded part of one index, never the table.

========================  ==========================================  ===============
the selection says        is read                                     in the order of
========================  ==========================================  ===============
a correlation id          that id's partition of an index             age, oldest first
a job                     that job's partition                        nominal time, latest first
status failed             the tenant's partitions of an index         failure, latest first
none of these             the tenant's one-shots created in the span  age, newest first
========================  ==========================================  ===============

Whatever else it says is looked up in the rows that were read: then a page may be short, or empty, and have a cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Protocol

from duetime import ids
from duetime.action import Action, Status
from duetime.errors import InvalidCursor
from duetime.ports import ActionStore, Page
from duetime.selection import Selection

MOST_LOOKS = 5
"""A page is filled from so many pages of the index at most."""


class History(Protocol):
    """A page of a job's runs."""

    def __call__(self, name: str, /, *, limit: int, cursor: str | None) -> Page:
        """See `duetime.jobs.Jobs.history`."""
        ...


_List = Callable[[int, str | None], Page]


class Search:
    """Searches one tenant's actions; those of `others` besides, where failed ones are asked for."""

    def __init__(
        self,
        store: ActionStore,
        history: History,
        tenant_id: ids.TenantId,
        others: Sequence[ids.TenantId] = (),
    ) -> None:
        self._store, self._history = store, history
        self._tenant_id, self._others = tenant_id, others

    def __call__(self, selection: Selection, *, limit: int, cursor: str | None) -> Page:
        """A page of what is meant, without payloads.

        Raises:
            InvalidCursor: the cursor belongs to another query.
            JobNotFound: there is no such job.
        """
        listed, found = self._listed(selection), list[Action]()
        for _ in range(MOST_LOOKS):
            page = listed(limit - len(found), cursor)
            found.extend(row for row in page if selection.admits(row))
            cursor = None if self._is_past(selection, page) else page.cursor
            if cursor is None or len(found) == limit:
                break
        return Page(tuple(found), cursor)

    def _listed(self, selection: Selection) -> _List:
        store, tenant_id = self._store, self._tenant_id
        if selection.correlation_id is not None:
            by_id = partial(store.by_correlation, tenant_id, selection.correlation_id)
            return lambda limit, cursor: by_id(limit=limit, cursor=_checked(cursor))
        if selection.job is not None:
            of_job = partial(self._history, selection.job)
            return lambda limit, cursor: of_job(limit=limit, cursor=cursor)
        if selection.statuses == _FAILED:
            failed = partial(store.failed, [tenant_id, *self._others])
            return lambda limit, cursor: failed(limit=limit, cursor=cursor)
        return partial(self._by_age, selection)

    def _by_age(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        if cursor is None and selection.created_until is not None:
            cursor = ids.before_all_after(selection.created_until)
            return self._store.of_tenant(self._tenant_id, limit=limit, cursor=cursor)
        return self._store.of_tenant(self._tenant_id, limit=limit, cursor=_checked(cursor))

    def _is_past(self, selection: Selection, page: Page) -> bool:
        """Whether nothing that follows the page was created in the span."""
        is_by_age = (selection.correlation_id, selection.job) == (None, None)
        if not is_by_age or selection.statuses == _FAILED or selection.created_after is None:
            return False
        return any(row.created_at < selection.created_after - _MILLISECOND for row in page)


def _checked(cursor: str | None) -> str | None:
    """A cursor that is an action's id.

    Raises:
        InvalidCursor: it is none.
    """
    if cursor is not None and not ids.is_action_id(cursor):
        raise InvalidCursor
    return cursor


_FAILED = frozenset({Status.FAILED})
_MILLISECOND = timedelta(milliseconds=1)
"""What an id tells its age to."""
