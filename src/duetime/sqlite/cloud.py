"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.streams import subject_of
from duetime.embedded.cloud import InProcessCloud
from duetime.errors import UnreadableRow
from duetime.model.batch import BatchRef
from duetime.model.change import Change
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


class StreamedCloud(InProcessCloud):
    """A cloud with threads that look for changes; its due shards stay, and no sweep is left out."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._is_closed, self._watchers = threading.Event(), list[Thread]()
        super().__init__(*args, **options)

    def watch(self, look: Callable[[], bool], pause: float) -> None:
        """Look in a thread every `pause` seconds; each finding wakes the cloud."""

        def work() -> None:
            while not self._is_closed.wait(pause):
                try:
                    if look():
                        self._wake()
                except Exception:  # the next look may succeed
                    log.debug("a look for changes failed", exc_info=True)

        self._watchers.append(Thread(target=work, name="duetime-watch", daemon=True))
        self._watchers[-1].start()

    @abstractmethod
    def take_changes(self) -> Iterable[Mapping[str, Any]]:
        """Take the images of the changes that were found, oldest first."""

    def turn(self) -> Delivery | None:
        """See `InProcessCloud`; first take the changes of others."""
        for images in self.take_changes():
            self.take(images)
        return super().turn()

    def take(self, images: Mapping[str, Any]) -> None:
        """Take one change."""
        new = images.get("NewImage", {})
        if new and is_batch(new):
            ref = ref_of(new)
            self._batch_written(BatchRef(ref.tenant_id, ref.id))
            return
        try:
            fact = subject_of(images)
        except UnreadableRow:
            log.exception("an item is unreadable")
            return
        if isinstance(fact, Change):
            self._changed(fact)
        elif fact is not None:
            self._record_fact(fact)

    def use_due_shards(self, number: int) -> None:
        """See `InProcessCloud`, here and below."""

    def next_sweep_at(self) -> datetime | None:
        """Return the time of the next one."""
        return self.sweep_at

    def close(self) -> None:
        """End the looks."""
        self._is_closed.set()
        for watcher in self._watchers:
            watcher.join()
        super().close()


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
        # The first turn does what an earlier process may have left: it sends all rows that are due.
        self.sweep_at = self._catch_up_at = self.clock.now()
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, instant.text(instant.EARLIEST)))
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
