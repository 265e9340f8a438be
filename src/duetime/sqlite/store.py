"""Actions and jobs in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from duetime import instant
from duetime.aws import unreadable_items
from duetime.aws.job_items import job_key
from duetime.errors import InvalidCursor, UnreadableRow
from duetime.ids import TenantId
from duetime.model.backfill import BackfillRef
from duetime.model.change import Change
from duetime.model.job import Job, JobRef
from duetime.ports.backfills import PREFIX, ref_of
from duetime.ports.delegate import delegate
from duetime.ports.job_state import CURRENT, job_ref
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import JobPage
from duetime.ports.row_store import RowStore
from duetime.settings import DUE_SHARDS
from duetime.sqlite.database import Database, Images
from duetime.sqlite.items import JOBS, MAINTAINED, SqliteItems
from duetime.sqlite.rows import SqliteRows


class SqliteStore(RowStore):
    """The actions in a file.

    Args:
        database: the file.
        on_change: is called with each change of a row by this process, in order: this is the table's stream.
        on_write: the same for each change of another item.
    """

    where = "the SQLite file"
    table: SqliteRows
    items: SqliteItems

    def __init__(
        self,
        database: Database,
        *,
        due_shards: int = DUE_SHARDS,
        on_change: Callable[[Change], None] = lambda _change: None,
        on_write: Callable[[Images], None] = lambda _images: None,
    ) -> None:
        rows = SqliteRows(database, on_change)
        super().__init__(rows, SqliteItems(database, rows, on_write), due_shards=due_shards)

    found = delegate("table", SqliteRows.found)


class SqliteJobStore(JobStore):
    """The jobs in a file.

    See `duetime.ports.job_store.JobStore`.
    """

    def __init__(self, store: SqliteStore) -> None:
        super().__init__(store.items, store)
        self._database = store.items.database

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        with self._database.reading() as connection:
            found = connection.execute(JOBS, (tenant_id, cursor or "", limit + 1)).fetchall()
        refs = [job_ref(place) for (place,) in found]
        jobs = [job for ref in refs[:limit] if (job := self._readable(ref)) is not None]
        return JobPage(tuple(jobs), refs[limit - 1].name if len(refs) > limit else None)

    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        mark = (cursor or "  ").split(" ")
        if len(mark) != len(("maintain_at", "pk", "sk")):
            raise InvalidCursor
        with self._database.reading() as connection:
            found = connection.execute(MAINTAINED, (instant.text(until), *mark, limit + 1)).fetchall()
        refs = [ref_of(pk, sk) if sk.startswith(PREFIX) else job_ref(pk) for _, pk, sk in found[:limit]]
        return refs, " ".join(found[limit - 1]) if len(found) > limit else None

    def _readable(self, ref: JobRef) -> Job | None:
        try:
            return self.get(ref)
        except UnreadableRow as error:
            unreadable_items.note("job", job_key(ref, CURRENT), error)
            return None
