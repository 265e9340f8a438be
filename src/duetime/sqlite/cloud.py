"""All steps over the tables of one SQLite file, in one process or in several that share the file.

Actions, jobs and their history are in the file; messages are in memory. A process that starts, or that
outlasts another, finds the pending rows in the file. Each process sends messages for all of them; the claims
decide which process runs which action.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from duetime import instant
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.run_counts import DynamoRunCounts
from duetime.aws.store import DynamoStore
from duetime.aws.streams import subject_of
from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.aws.undelivered import DynamoUndelivered
from duetime.aws.usage import DynamoUsageCounts
from duetime.aws.work_pauses import DynamoWorkPauses
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import UnreadableRow, Unsupported
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.undelivered import MemoryBodies
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.model.idempotency import KeyTerms
from duetime.ports.undelivered import UndeliveredPorts
from duetime.sqlite.client import SqliteClient
from duetime.sqlite.database import Database
from duetime.sqlite.tables import Change as Written
from duetime.wakeups.wheel import BOOKMARK

if TYPE_CHECKING:
    from duetime.app import App
    from duetime.memory.jobs import MemoryJobStore
    from duetime.memory.store import MemoryStore
    from duetime.memory.work_pauses import MemoryWorkPauses
    from duetime.settings import Settings

log = logging.getLogger(__name__)

_GRACE = timedelta(minutes=1)
"""How late the rows of a process that ended are sent by another one."""

_FROM_THE_FIRST = instant.text(datetime(1970, 1, 1, tzinfo=UTC))
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


class SqliteCloud(MemoryCloud):
    """A `MemoryCloud` whose tables are in a file.

    Args:
        app: as for `MemoryCloud`, like `options`.
        path: of the file.

    Raises:
        BackendMisconfigured: the file is no database of duetime.
    """

    def __init__(self, app: App, *, path: Path, settings: Settings, **options: Any) -> None:
        self._database = Database(path)
        super().__init__(app, settings=replace(settings, timers="wheel", grace=_GRACE), **options)
        self.sweep_at = self.clock.now()  # the first turn of the wheel sends all rows that are due
        self.bookmarks.write(BOOKMARK, dict.fromkeys(self.store.due_shards, _FROM_THE_FIRST))

    def _open(self, settings: Settings) -> None:
        client: Any = SqliteClient(self._database)
        for shape, name in ((ACTIONS, _ACTIONS), (JOBS, _JOBS)):
            client.create_table(**create_table_request(shape, name))
        client.on_change = self._written
        self._client, shards = client, settings.due_shards
        self.store = cast(
            "MemoryStore", SqliteStore(client, _ACTIONS, due_shards=shards, at_once=client.at_once)
        )
        self.job_store = cast("MemoryJobStore", DynamoJobStore(client, _ACTIONS, _JOBS, due_shards=shards))
        self.bookmarks, self.routes = MemoryBookmarks(), MemoryRoutes()
        self.undelivered_ports = UndeliveredPorts(DynamoUndelivered(client, _JOBS), MemoryBodies())
        self.pauses = cast("MemoryWorkPauses", DynamoWorkPauses(client, _JOBS))
        self.run_counts, self._usage = DynamoRunCounts(client, _JOBS), DynamoUsageCounts(client, _JOBS)

    def _written(self, written: Written) -> None:
        images: Mapping[str, Any] = {
            name: image
            for name, image in (("OldImage", written.old), ("NewImage", written.new))
            if image is not None
        }
        try:
            fact = subject_of(images)
        except UnreadableRow:
            log.exception("an item is unreadable")
            return
        if isinstance(fact, Change):
            self._changed(fact)
        elif fact is not None:
            self._record_fact(fact)

    def _use_due_shards(self, number: int) -> None:
        """Keep the number with which the process began."""

    def _remove_expired(self, now: datetime) -> None:
        for name in (_ACTIONS, _JOBS):
            self._client.remove_expired(name, now.timestamp())

    def _next_sweep_at(self) -> datetime | None:
        """Sweep each time: another process may have written."""
        return self.sweep_at

    def close(self) -> None:
        """Close the file."""
        self._database.close()
