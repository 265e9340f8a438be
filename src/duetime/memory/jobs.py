"""Jobs in memory, under the lock of the actions: a write of a job and one of its actions is one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from duetime import instant
from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.backfill import Backfill, BackfillRef
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import (
    Job,
    JobRef,
    JobSpan,
    StoredDefinition,
    Version,
    current_definition,
    replaced_definition,
)
from duetime.model.job_events import BackfillChange, JobChange, ReportKept, SpanKept
from duetime.model.lease import Applied, Rejected, Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.model.swap import claimable
from duetime.ports import job_state
from duetime.ports.backfills import Backfills, backfill_put, ref_of, to_backfill
from duetime.ports.delegate import delegate
from duetime.ports.jobs import JobPage, JobRunClaim, LockRequirement
from duetime.ports.keyed_items import IS_NEW, Fields, Kind, Write
from duetime.ports.row_writes import RowStillDead

_Attention = tuple[str, str, str, str]
"""The sort key of jobs and backfills by their next maintenance: time, tenant, name, the backfill's id."""


class MemoryJobStore:
    """The jobs in memory.

    The store calls `on_change` with each change, in order: this is the jobs' stream.

    See `duetime.ports.jobs.JobStore`.
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        on_change: Callable[[JobChange | BackfillChange | SpanKept | ReportKept], None] = lambda _event: None,
    ) -> None:
        self._store, self._on_change = store, on_change
        self.by_ref: dict[JobRef, Job] = {}
        self.versions_by_ref: dict[JobRef, dict[int, Version]] = {}
        self.replaced_by_ref: dict[JobRef, list[StoredDefinition]] = {}
        self.spans_by_ref: dict[JobRef, dict[JobSpan, None]] = {}
        self.backfill_items = MemoryItems(self._backfill_written)
        self._backfills = Backfills(self.backfill_items)
        self.reports_by_ref: dict[JobRef, dict[tuple[ReportKind, datetime], DeadlineReport]] = {}

    find_backfill = delegate("_backfills", Backfills.find_backfill)
    backfills = delegate("_backfills", Backfills.backfills)
    change_backfill = delegate("_backfills", Backfills.change_backfill)

    def get(self, ref: JobRef) -> Job | None:
        with self._store.lock:
            return self.by_ref.get(ref)

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        with self._store.lock:
            mine = (job for job in self.by_ref.values() if job.ref.tenant_id == tenant_id)
            found = sorted(
                (job for job in mine if cursor is None or job.name > cursor), key=lambda job: job.name
            )
        return JobPage(tuple(found[:limit]), found[limit - 1].name if len(found) > limit else None)

    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        after = _from_cursor(cursor)
        with self._store.lock:
            entries: list[tuple[_Attention, JobRef | BackfillRef]] = [
                (_attention(job), job.ref) for job in self.by_ref.values() if job.maintain_at <= until
            ]
            entries += [
                ((instant.text(at), ref.job.tenant_id, ref.job.name, ref.id), ref)
                for at, ref in self._waiting_backfills()
                if at <= until
            ]
        waiting = sorted(entries, key=lambda entry: entry[0])
        found = list(islice((entry for entry in waiting if after is None or entry[0] > after), limit + 1))
        following = " ".join(found[limit - 1][0]) if len(found) > limit else None
        return [ref for _, ref in found[:limit]], following

    def add(self, job: Job) -> bool:
        with self._store.lock:
            if job.ref in self.by_ref:
                return False
            self._put(job)
            self._keep_version(job)
            return True

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        with self._store.lock:
            current, change = self.by_ref.get(old.ref), job_state.change(old, new)
            if current is None:
                return False
            after = job_state.applied(current, change)
            if after is None:
                return job_state.is_changed(current, new, change)
            after = replace(after, definition=new.definition)
            if after.version != current.version:
                versions = self.versions_by_ref[old.ref]
                versions[current.version] = replace(versions[current.version], until=after.since)
            if ended := replaced_definition(current, after):
                self.replaced_by_ref.setdefault(old.ref, []).append(ended)
            self._keep_version(after)
            self._keep_spans(old.ref, spans)
            self._put(after)
            return True

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        with self._store.lock:
            move = job_state.move_cursor(job, cursor, maintain_at)
            if not self._apply(job.ref, move):
                return self._has(job.ref, job_state.moved(job, move))
            self._keep_spans(job.ref, missed)
            return True

    def postpone(self, job: Job, maintain_at: datetime, *, failures: int) -> bool:
        return self._apply(job.ref, job_state.postpone(job, maintain_at, failures))

    def claim(self, taking: JobRunClaim) -> bool:
        with self._store.lock:
            row, claimed = taking.row, taking.claimed
            after = job = self.by_ref.get(taking.job.ref)
            if taking.hold is not LockRequirement.NOTHING:
                after = job and job_state.applied(job, job_state.claim(taking))
                if after is None:
                    return False
            dead = [RowStillDead(ref, read) for ref, read in taking.holders.items()]
            if not all(one.holds(self._store.get(one.ref)) for one in dead):
                return False
            if not isinstance(self._store.swap(row, claimed, claimable(row)), Applied):
                return False
            self._fence_off(taking)
            if after is not None and after != job:
                self._put(after)
            return True

    def _fence_off(self, taking: JobRunClaim) -> None:
        """Raise the fence of dead runs, so that they hold nothing if their workers wake."""
        for ref in taking.holders:
            row = self._store.get(ref)
            if row is not None and row.status is Status.PROCESSING:
                self._store.write(row, transition.fenced_off(row))

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        with self._store.lock:
            wait = job_state.wait(job, waiting)
            return self._apply(job.ref, wait) or self._has(job.ref, wait.sets)

    def settle(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        has_lock: bool = True,
    ) -> SettleResult:
        return self._end(claimed, ref, ended, partial(self._store.settle, claimed, settlement), has_lock)

    def commit(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        entries: Sequence[Mapping[str, Any]],
        number: int,
        has_lock: bool = True,
    ) -> SettleResult:
        commit = partial(self._store.commit, claimed, settlement, entries=entries, number=number)
        return self._end(claimed, ref, ended, commit, has_lock)

    def _end(
        self,
        claimed: Action,
        ref: JobRef,
        ended: EndedRun,
        settle: Callable[[], SettleResult],
        has_lock: bool,
    ) -> SettleResult:
        with self._store.lock:
            is_first_try = self._store.held(claimed) is not None
            result = settle()
            is_first_end = is_first_try and result is SettleResult.SETTLED
            if is_first_end:
                self._apply(ref, job_state.count(ref, ended, claimed.ref if has_lock else None))
            return result

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        with self._store.lock:
            if isinstance(self._store.end_pending(row, ended), Rejected):
                return False
            self._apply(ref, job_state.unlock(ref, row.ref))
            self._apply(ref, job_state.stop_waiting(ref, row.ref))
            return True

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        self._apply(ref, job_state.count(ref, ended))

    def versions(self, ref: JobRef) -> Sequence[Version]:
        with self._store.lock:
            versions = self.versions_by_ref.get(ref, {})
            return [versions[number] for number in sorted(versions)]

    def definitions(self, ref: JobRef) -> Sequence[StoredDefinition]:
        with self._store.lock:
            job = self.by_ref.get(ref)
            return [*self.replaced_by_ref.get(ref, ()), *([current_definition(job)] if job else [])]

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        with self._store.lock:
            found = [span for span in self.spans_by_ref.get(ref, ()) if span.start < end and span.end > start]
        return sorted(found, key=lambda span: span.start)

    def begin_backfill(self, job: Job, backfill: Backfill) -> bool:
        with self._store.lock:
            present = self.find_backfill(backfill.ref)
            if present is not None:
                begun = (backfill.begun_at, backfill.begun_by)
                return (present.begun_at, present.begun_by) == begun
            if not self._apply(job.ref, job_state.next_revision(job)):
                return False
            self.backfill_items.write(backfill_put(backfill, guard=IS_NEW))
            return True

    def _waiting_backfills(self) -> Iterator[tuple[datetime, BackfillRef]]:
        """Yield the backfills that need a step, and when they began."""
        items = (item for part in self.backfill_items.partitions.values() for item in part.values())
        return (
            (item["maintain_at"], ref_of(item["pk"], item["sk"])) for item in items if "maintain_at" in item
        )

    def _backfill_written(self, _kind: Kind, old: Fields | None, new: Fields | None) -> None:
        if new is not None:
            self._on_change(BackfillChange(to_backfill(old) if old else None, to_backfill(new)))

    def report(self, ref: JobRef, report: DeadlineReport) -> bool:
        with self._store.lock:
            reports = self.reports_by_ref.setdefault(ref, {})
            if (report.kind, report.nominal_at) in reports:
                return False
            reports[report.kind, report.nominal_at] = report
            self._on_change(ReportKept(ref, report))
            return True

    def reports(
        self, ref: JobRef, kind: ReportKind, start: datetime, end: datetime
    ) -> Sequence[DeadlineReport]:
        with self._store.lock:
            found = [
                report
                for (known, at), report in self.reports_by_ref.get(ref, {}).items()
                if known is kind and start < at <= end
            ]
        return sorted(found, key=lambda report: report.nominal_at)

    def earliest_maintenance(self) -> datetime | None:
        with self._store.lock:
            jobs = [job.maintain_at for job in self.by_ref.values()]
            steps = [at for at, _ in self._waiting_backfills()]
        return min([*jobs, *steps], default=None)

    def _apply(self, ref: JobRef, write: Write) -> bool:
        with self._store.lock:
            job = self.by_ref.get(ref)
            after = job and job_state.applied(job, write)
            if after is not None:
                self._put(after)
            return after is not None

    def _has(self, ref: JobRef, fields: Fields) -> bool:
        job = self.by_ref.get(ref)
        return job is not None and fields.items() <= job_state.fields_of(job).items()

    def _put(self, job: Job) -> None:
        old = self.by_ref.get(job.ref)
        self.by_ref[job.ref] = job
        self._on_change(JobChange(old, job, old is not None and old.definition != job.definition))

    def _keep_version(self, job: Job) -> None:
        version = Version(number=job.version, definition=job.definition, since=job.since)
        self.versions_by_ref.setdefault(job.ref, {})[job.version] = version

    def _keep_spans(self, ref: JobRef, spans: Sequence[JobSpan]) -> None:
        stored_spans = self.spans_by_ref.setdefault(ref, {})
        for span in spans:
            if span not in stored_spans:
                self._on_change(SpanKept(ref, span))
        stored_spans.update(dict.fromkeys(spans))


def _attention(job: Job) -> _Attention:
    return (instant.text(job.maintain_at), job.ref.tenant_id, job.name, "")


def _from_cursor(cursor: str | None) -> _Attention | None:
    if cursor is None:
        return None
    try:
        maintain_at, tenant_id, name, backfill = cursor.split(" ")
    except ValueError:
        raise InvalidCursor from None
    return (maintain_at, tenant_id, name, backfill)
