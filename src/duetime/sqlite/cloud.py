"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.aws.items import change_of
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.streams import subject_of
from duetime.embedded.cloud import InProcessCloud
from duetime.errors import DuetimeError, UnreadableRow
from duetime.model.batch import BatchRef
from duetime.ports.wakeups import Delivery
from duetime.sqlite.client import TABLES, publish
from duetime.sqlite.database import Database, Images
from duetime.sqlite.store import SqliteJobStore, SqliteStore
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


class SqliteCloud(InProcessCloud):
    """The cloud whose tables are in a file.

    Args:
        app: as for `InProcessCloud`, like `settings` and `options`.
        path: of the file.

    Raises:
        BackendMisconfigured: the file is no database of duetime.
    """

    def __init__(self, app: App, *, path: Path, settings: Settings, **options: Any) -> None:
        self._database, self._is_closed = Database(path, TABLES), threading.Event()
        try:
            super().__init__(app, settings=by_the_wheel(settings), **options)
        except BaseException:
            self._database.close()
            raise
        # The first turn of the wheel sends all rows that are due, for an earlier process may have left some.
        self.sweep_at, first = self.clock.now(), instant.text(instant.EARLIEST)
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, first))
        Thread(target=self._watch, name="duetime-file", daemon=True).start()

    def _watch(self) -> None:
        """Wake the engine when another process has written."""
        with suppress(DuetimeError):  # the file is closed
            while not self._is_closed.wait(_LOOK):
                if self._database.is_changed():
                    self._has_news = True
                    self._wake()

    _has_news = True

    def turn(self) -> Delivery | None:
        """See `InProcessCloud`; first take what processes without steps have written."""
        if self._has_news:
            self._has_news = False
            for images in self._database.take_changes():
                self._take(images)
        return super().turn()

    def _take(self, images: Images) -> None:
        try:
            change = change_of(images)
        except UnreadableRow:
            log.exception("a row is unreadable")
        else:
            self._item_written(images) if change is None else self._changed(change)

    def deploy(self, app: App, settings: Settings | None = None) -> Reconciled:
        """See `InProcessCloud`; the file has the manifest, which other processes' schedulers read."""
        reconciled = super().deploy(app, None if settings is None else by_the_wheel(settings))
        publish(self._database, app.manifest)
        return reconciled

    store: SqliteStore

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        self.store = SqliteStore(
            self._database,
            due_shards=settings.due_shards,
            on_change=self._changed,
            on_write=self._item_written,
        )
        self.job_store, self.items = SqliteJobStore(self.store), self.store.items

    def _item_written(self, images: Images) -> None:
        written = images.get("NewImage", {})
        if written and is_batch(written):
            ref = ref_of(written)
            self._batch_written(BatchRef(ref.tenant_id, ref.id))
            return
        try:
            fact = subject_of(images)
        except UnreadableRow:
            log.exception("an item is unreadable")
        else:
            if fact is not None:
                self._record_fact(fact)

    def use_due_shards(self, number: int) -> None:
        """Do nothing: the file's number stays."""

    def remove_expired(self, now: datetime) -> None:
        """With their keys, and items of all kinds."""
        self.store.remove_expired(now)

    def next_sweep_at(self) -> datetime | None:
        """Leave none out: another process may have written."""
        return self.sweep_at

    def close(self) -> None:
        """Close the file."""
        self._is_closed.set()
        self._database.close()
