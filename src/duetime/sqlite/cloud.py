"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duetime import instant
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.store import DynamoStore
from duetime.aws.streams import subject_of
from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.embedded.cloud import InProcessCloud
from duetime.errors import UnreadableRow, Unsupported
from duetime.memory.undelivered import MemoryBodies
from duetime.model.action import Action
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.model.idempotency import KeyTerms
from duetime.ports.rate_limits import SetLimits
from duetime.ports.run_counts import RunCounts
from duetime.ports.undelivered import UndeliveredPorts, UndeliveredStore
from duetime.ports.usage import UsageCounts
from duetime.ports.work_pauses import WorkPauses
from duetime.sqlite.client import SqliteClient
from duetime.sqlite.database import Database
from duetime.sqlite.tables import Change as Written
from duetime.wakeups.wheel import BOOKMARK

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.settings import Settings

log = logging.getLogger(__name__)

_GRACE = timedelta(minutes=1)
"""How late the rows of a process that ended are sent by another one."""

_ACTIONS, _JOBS = "actions", "jobs"


class SqliteStore(DynamoStore):
    """The actions in the file."""

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        """Reject the call: the file has no tables of a caller.

        Raises:
            Unsupported: always.
        """
        del action, terms
        raise Unsupported(
            "a transaction of your own needs DynamoDB; the SQLite file has only duetime's tables"
        )


class SqliteCloud(InProcessCloud):
    """The cloud whose tables are in a file.

    Args:
        app: as for `InProcessCloud`, like `settings` and `options`.
        path: of the file.

    Raises:
        BackendMisconfigured: the file is no database of duetime.
    """

    def __init__(self, app: App, *, path: Path, settings: Settings, **options: Any) -> None:
        self._database = Database(path)
        try:
            super().__init__(app, settings=replace(settings, timers="wheel", grace=_GRACE), **options)
        except BaseException:
            self._database.close()
            raise
        # The first turn of the wheel sends all rows that are due, for an earlier process may have left some.
        self.sweep_at, first = self.clock.now(), instant.text(instant.EARLIEST)
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, first))

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        client: Any = SqliteClient(self._database)
        for shape, name in ((ACTIONS, _ACTIONS), (JOBS, _JOBS)):
            client.create_table(**create_table_request(shape, name))
        client.on_change = self._written
        self._client, shards = client, settings.due_shards
        self.store = SqliteStore(client, _ACTIONS, due_shards=shards, at_once=client.at_once)
        self.job_store = DynamoJobStore(client, _ACTIONS, _JOBS, due_shards=shards)
        items = DynamoItems(client, _JOBS)
        self.undelivered_ports = UndeliveredPorts(UndeliveredStore(items), MemoryBodies())
        self.pauses = WorkPauses(items)
        self.limits, self.run_counts, self.usage_counts = (
            SetLimits(items),
            RunCounts(items),
            UsageCounts(items),
        )

    def _written(self, written: Written) -> None:
        images: Mapping[str, Any] = {
            name: image
            for name, image in (("OldImage", written.old), ("NewImage", written.new))
            if image is not None
        }
        if written.table == _ACTIONS and written.new is not None and is_batch(dict(written.new)):
            ref = ref_of(dict(written.new))
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
        """Do nothing: the settings of an embedded scheduler do not change."""

    def remove_expired(self, now: datetime) -> None:
        """Of both tables."""
        for name in (_ACTIONS, _JOBS):
            self._client.remove_expired(name, now.timestamp())

    def next_sweep_at(self) -> datetime | None:
        """Leave none out: another process may have written."""
        return self.sweep_at

    def close(self) -> None:
        """Close the file."""
        self._database.close()
