"""Jobs in memory, under the lock of the actions: a write of a job and one of its actions is one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from duetime import instant
from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.backfill import BackfillRef
from duetime.model.job import Job, JobRef
from duetime.model.job_events import BackfillChange, JobChange, ReportKept, SpanKept
from duetime.ports.backfills import BACKFILL, ref_of, to_backfill
from duetime.ports.job_history import REPORT, SPAN, to_report, to_span
from duetime.ports.job_state import DEFINITION, JOB, STATE, job_ref, key_of
from duetime.ports.job_store import JobStore, to_job
from duetime.ports.jobs import JobPage
from duetime.ports.keyed_items import Fields, Key, Kind

_Attention = tuple[str, str, str, str]
"""The sort key of jobs and backfills by their next maintenance: time, tenant, name, the backfill's id."""
_Fact = JobChange | BackfillChange | SpanKept | ReportKept


class MemoryJobStore(JobStore):
    """The jobs in memory.

    The store calls `on_change` with each change, in order: this is the jobs' stream.

    See `duetime.ports.job_store.JobStore`.
    """

    def __init__(
        self, store: MemoryStore, *, on_change: Callable[[_Fact], None] = lambda _fact: None
    ) -> None:
        self.items, self._lock, self._on_change = (
            MemoryItems(self._written, store.table),
            store.lock,
            on_change,
        )
        super().__init__(self.items, store)
        self._made: dict[JobRef, tuple[Fields, Fields, Job]] = {}

    def get(self, ref: JobRef) -> Job | None:
        with self._lock:
            place = key_of(ref)
            state, defined = self.items.item_at(place), self.items.item_at(Key(place.partition, DEFINITION))
            if state is None or defined is None:
                return None
            made = self._made.get(ref)
            if made is None or made[0] is not state or made[1] is not defined:
                made = state, defined, to_job({STATE: state, DEFINITION: defined})
                self._made[ref] = made
            return made[2]

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        mine = (job for job in self._jobs() if job.ref.tenant_id == tenant_id)
        found = sorted((job for job in mine if cursor is None or job.name > cursor), key=lambda job: job.name)
        return JobPage(tuple(found[:limit]), found[limit - 1].name if len(found) > limit else None)

    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        after, entries = _from_cursor(cursor), list[tuple[_Attention, JobRef | BackfillRef]]()
        for at, ref in self._maintained():
            job, backfill = (ref.job, ref.id) if isinstance(ref, BackfillRef) else (ref, "")
            if at <= until:
                entries.append(((instant.text(at), job.tenant_id, job.name, backfill), ref))
        waiting = sorted(entries, key=lambda entry: entry[0])
        found = list(islice((entry for entry in waiting if after is None or entry[0] > after), limit + 1))
        following = " ".join(found[limit - 1][0]) if len(found) > limit else None
        return [ref for _, ref in found[:limit]], following

    def earliest_maintenance(self) -> datetime | None:
        """Return when the first job or backfill needs maintenance."""
        return min((at for at, _ in self._maintained()), default=None)

    def _jobs(self) -> Iterator[Job]:
        with self._lock:
            refs = [job_ref(place) for place, part in self.items.partitions.items() if STATE in part.items]
            return iter([job for ref in refs if (job := self.get(ref)) is not None])

    def _maintained(self) -> Iterator[tuple[datetime, JobRef | BackfillRef]]:
        """Yield the jobs, and the backfills that need a step, each with the time of its next maintenance."""
        with self._lock:
            items = [
                item
                for part in self.items.partitions.values()
                for item in part.items.values()
                if "maintain_at" in item
            ]
        for item in items:
            is_job = item["sk"] == STATE
            yield item["maintain_at"], job_ref(item["pk"]) if is_job else ref_of(item["pk"], item["sk"])

    def _written(self, kind: Kind, old: Fields | None, new: Fields | None) -> None:
        if new is None:
            return
        ref = job_ref(new["pk"])
        if kind is JOB and new["sk"] == STATE:
            before = self._made[ref][2] if old is not None and ref in self._made else None
            if (job := self.get(ref)) is not None:
                is_redefined = before is not None and before.definition != job.definition
                self._on_change(JobChange(before, job, is_redefined))
        elif kind is BACKFILL:
            self._on_change(BackfillChange(to_backfill(old) if old else None, to_backfill(new)))
        elif kind is SPAN and old is None:
            self._on_change(SpanKept(ref, to_span(new)))
        elif kind is REPORT:
            self._on_change(ReportKept(ref, to_report(new)))


def _from_cursor(cursor: str | None) -> _Attention | None:
    if cursor is None:
        return None
    try:
        maintain_at, tenant_id, name, backfill = cursor.split(" ")
    except ValueError:
        raise InvalidCursor from None
    return (maintain_at, tenant_id, name, backfill)
