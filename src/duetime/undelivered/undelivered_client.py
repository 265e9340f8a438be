"""What operators do with what is undelivered: list it, look at it, have it redriven.

`Scheduler.undelivered` is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from duetime.errors import InvalidCursor, UndeliveredNotFound
from duetime.model.selection import LARGEST_PAGE, check_limit
from duetime.model.undelivered import Undelivered, UndeliveredKind, is_undelivered_id, request_for
from duetime.ports.undelivered import UndeliveredPage, UndeliveredPorts
from duetime.ports.wakeups import FAILURES

MOST_AT_ONCE = 1_000
"""That one call has redriven."""


class UndeliveredClient:
    """What is undelivered in a deployment, of all tenants."""

    def __init__(self, ports: UndeliveredPorts) -> None:
        self._store, self._queues = ports.store, ports.queues

    def list(self, *, limit: int = 50, cursor: str | None = None) -> UndeliveredPage:
        """A page of all, the newest first.

        The time is the thing's own: when it was due, written, or happened.

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
        """The thing as of now.

        Raises:
            UndeliveredNotFound: it is not there, or not any more.
        """
        thing = self._store.get(undelivered_id) if is_undelivered_id(undelivered_id) else None
        if thing is None:
            raise UndeliveredNotFound(undelivered_id)
        return thing

    def redrive(self, undelivered_id: str) -> Undelivered:
        """Have it done again, soon.

        Then it is gone; if that fails it stays, with the new reason and its count one higher.

        Returns:
            The thing as it is before.

        Raises:
            UndeliveredNotFound: it is not there, or not any more.
            BackendUnavailable: it is unknown whether the request arrived; call again.
        """
        thing = self.get(undelivered_id)
        self._ask(thing)
        return thing

    def redrive_many(
        self, kind: UndeliveredKind | str | None = None, *, limit: int = 100, dry_run: bool = False
    ) -> tuple[Undelivered, ...]:
        """Have many done again, the newest first.

        Args:
            kind: only those of this kind.
            limit: how many at most, 1 to 1,000.
            dry_run: only say which.

        Returns:
            Those that are done again, as they are before.

        Raises:
            BackendUnavailable: some may not have been asked for; call again.
        """
        check_limit(limit, MOST_AT_ONCE)
        kind_filter = None if kind is None else UndeliveredKind(kind)
        chosen = list[Undelivered]()
        for entry in self._all():
            if len(chosen) == limit:
                break
            if kind_filter in {None, entry.kind}:
                chosen.append(entry)
        if not dry_run:
            for entry in chosen:
                self._ask(entry)
        return tuple(chosen)

    def _all(self) -> Iterator[Undelivered]:
        cursor = None
        while True:
            page = self._store.list(limit=LARGEST_PAGE, cursor=cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _ask(self, thing: Undelivered) -> None:
        self._queues.put(FAILURES, request_for(thing.id))
