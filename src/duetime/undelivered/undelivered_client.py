"""List, show and redrive undelivered inputs: `Scheduler.undelivered` is such a client."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from duetime.errors import InvalidCursor, NotFound
from duetime.model.selection import LARGEST_PAGE, check_limit
from duetime.model.undelivered import Undelivered, UndeliveredKind, is_undelivered_id, request_for
from duetime.ports.undelivered import UndeliveredPage, UndeliveredPorts
from duetime.ports.wakeups import FAILURES

MOST_AT_ONCE = 1_000
"""The most inputs that one call redrives."""


class UndeliveredClient:
    """The undelivered inputs of a deployment, of all tenants."""

    def __init__(self, ports: UndeliveredPorts) -> None:
        self._store, self._queues = ports.store, ports.queues

    def list(self, *, limit: int = 50, cursor: str | None = None) -> UndeliveredPage:
        """Return a page of all, the newest first by their own time: due, written or happened.

        Args:
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the page before.

        Raises:
            InvalidCursor: the cursor belongs to another list.
        """
        check_limit(limit)
        if cursor is not None and not is_undelivered_id(cursor):
            raise InvalidCursor
        return self._store.list(limit=limit, cursor=cursor)

    def get(self, undelivered_id: str) -> Undelivered:
        """Return an undelivered input.

        Raises:
            NotFound: no such input is stored.
        """
        thing = self._store.get(undelivered_id) if is_undelivered_id(undelivered_id) else None
        if thing is None:
            raise NotFound("undelivered input", undelivered_id)
        return thing

    def redrive(self, undelivered_id: str) -> Undelivered:
        """Request a redrive; a success removes the input.

        After a failure it stays, with the new reason and its count one higher.

        Returns:
            The input before the redrive.

        Raises:
            NotFound: no such input is stored.
            BackendUnavailable: it is unknown whether the request arrived; call again.
        """
        thing = self.get(undelivered_id)
        self._queues.put(FAILURES, request_for(thing.id))
        return thing

    def redrive_many(
        self, kind: UndeliveredKind | str | None = None, *, limit: int = 100, dry_run: bool = False
    ) -> tuple[Undelivered, ...]:
        """Request redrives of many, the newest first.

        Args:
            kind: only inputs of this kind.
            limit: how many at most, 1 to 1,000.
            dry_run: only return them.

        Returns:
            The inputs before their redrives.

        Raises:
            BackendUnavailable: some requests may be missing; call again.
        """
        check_limit(limit, MOST_AT_ONCE)
        kind_filter = None if kind is None else UndeliveredKind(kind)
        chosen = tuple(islice((row for row in self._all() if kind_filter in {None, row.kind}), limit))
        for row in () if dry_run else chosen:
            self._queues.put(FAILURES, request_for(row.id))
        return chosen

    def _all(self) -> Iterator[Undelivered]:
        cursor = None
        while True:
            page = self._store.list(limit=LARGEST_PAGE, cursor=cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return
