"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.streams import subject_of
from duetime.embedded.cloud import InProcessCloud
from duetime.errors import UnreadableRow
from duetime.memory.notes import MemoryBodies
from duetime.model.batch import BatchRef
from duetime.ports.rate_limits import SetLimits
from duetime.ports.run_counts import RunCounts
from duetime.ports.undelivered import UndeliveredPorts, UndeliveredStore
from duetime.ports.usage import UsageCounts
from duetime.ports.work_pauses import WorkPauses
from duetime.sqlite import items, rows
from duetime.sqlite.database import Database
from duetime.sqlite.items import Images
from duetime.sqlite.store import SqliteJobStore, SqliteStore
from duetime.wakeups.wheel import BOOKMARK

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.settings import Settings

log = logging.getLogger(__name__)

_GRACE = timedelta(minutes=1)
"""How late the rows of a process that ended are sent by another one."""


class SqliteCloud(InProcessCloud):
    """The cloud whose tables are in a file.

    Args:
        app: as for `InProcessCloud`, like `settings` and `options`.
        path: of the file.

    Raises:
        BackendMisconfigured: the file is no database of duetime.
    """

    def __init__(self, app: App, *, path: Path, settings: Settings, **options: Any) -> None:
        self._database = Database(path, rows.TABLE + items.TABLE)
        try:
            super().__init__(app, settings=replace(settings, timers="wheel", grace=_GRACE), **options)
        except BaseException:
            self._database.close()
            raise
        # The first turn of the wheel sends all rows that are due, for an earlier process may have left some.
        self.sweep_at, first = self.clock.now(), instant.text(instant.EARLIEST)
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, first))

    store: SqliteStore

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        self.store = SqliteStore(
            self._database,
            due_shards=settings.due_shards,
            on_change=self._changed,
            on_write=self._item_written,
        )
        self.job_store, keyed = SqliteJobStore(self.store), self.store.items
        self.undelivered_ports = UndeliveredPorts(UndeliveredStore(keyed), MemoryBodies())
        self.pauses, self.limits = WorkPauses(keyed), SetLimits(keyed)
        self.run_counts, self.usage_counts = RunCounts(keyed), UsageCounts(keyed)

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
        """Do nothing: the settings of an embedded scheduler do not change."""

    def remove_expired(self, now: datetime) -> None:
        """With their keys, and items of all kinds."""
        self.store.remove_expired(now)

    def next_sweep_at(self) -> datetime | None:
        """Leave none out: another process may have written."""
        return self.sweep_at

    def close(self) -> None:
        """Close the file."""
        self._database.close()
