"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.sqlite.client import TABLES, publish
from duetime.sqlite.database import Database, Images
from duetime.sqlite.store import SqliteJobStore, SqliteStore
from duetime.sqlite.streamed import StreamedCloud
from duetime.wakeups.wheel import BOOKMARK

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.jobs.reconcile import Reconciled
    from duetime.settings import Settings

log = logging.getLogger(__name__)

_GRACE = timedelta(minutes=1)
"""How late the rows of a process that ended are sent by another one."""
_LOOK = 0.02
"""Seconds between two looks for writes of other processes."""


def by_the_wheel(settings: Settings) -> Settings:
    """Return the settings for a file, whose rows each process finds by the wheel."""
    return replace(settings, timers="wheel", grace=min(settings.grace, _GRACE))


class SqliteCloud(StreamedCloud):
    """The cloud whose tables are in a file.

    Args:
        app: as for `InProcessCloud`, like `settings` and `options`.
        path: of the file.

    Raises:
        BackendMisconfigured: the file is no database of duetime.
    """

    store: SqliteStore

    def __init__(self, app: App, *, path: Path, settings: Settings, **options: Any) -> None:
        self._database, self._is_changed = Database(path, TABLES), True
        try:
            super().__init__(app, settings=by_the_wheel(settings), **options)
        except BaseException:
            self._database.close()
            raise
        # The first turn of the wheel sends all rows that are due, for an earlier process may have left some.
        self.sweep_at, first = self.clock.now(), instant.text(instant.EARLIEST)
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, first))
        self.watch(self._look, _LOOK)

    def _look(self) -> bool:
        self._is_changed |= (found := self._database.is_changed())
        return found

    def take_changes(self) -> Iterable[Images]:
        """See `StreamedCloud`; only processes without steps have left some."""
        if not self._is_changed:
            return ()
        self._is_changed = False
        return self._database.take_changes()

    def deploy(self, app: App, settings: Settings | None = None) -> Reconciled:
        """See `InProcessCloud`; the file has the manifest, which other processes' schedulers read."""
        reconciled = super().deploy(app, None if settings is None else by_the_wheel(settings))
        publish(self._database, app.manifest)
        return reconciled

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        self.store = SqliteStore(
            self._database,
            due_shards=settings.due_shards,
            on_change=self._changed,
            on_write=self.take,
        )
        self.job_store, self.items = SqliteJobStore(self.store), self.store.items

    def remove_expired(self, now: datetime) -> None:
        """With their keys, and items of all kinds."""
        self.store.remove_expired(now)

    def close(self) -> None:
        """Close the file, after the looks have ended."""
        super().close()
        self._database.close()
