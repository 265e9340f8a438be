"""Jobs in memory, under the lock of the actions: a write of a job and one of its actions is one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from duetime import instant
from duetime.errors import InvalidCursor
from duetime.ids import TenantId
from duetime.memory.store import MemoryStore
from duetime.memory.table import is_as_read, is_claimable_as_read
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
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.ports.actions import Holder
from duetime.ports.jobs import JobPage, JobRunClaim, LockRequirement

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
        self.backfills_by_ref: dict[BackfillRef, Backfill] = {}
        self.reports_by_ref: dict[JobRef, dict[tuple[ReportKind, datetime], DeadlineReport]] = {}

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
                (_attention_of_backfill(backfill), backfill.ref)
                for backfill in self.backfills_by_ref.values()
                if backfill.needs_steps and backfill.begun_at <= until
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
            current = self.by_ref.get(old.ref)
            if current is None:
                return False
            after = current.changed_to(new, old.revision + 1)
            if current.revision != old.revision:
                return current == replace(
                    after,
                    cursor=current.cursor,
                    maintain_at=current.maintain_at,
                    maintain_failures=current.maintain_failures,
                    unlocked_since=current.unlocked_since,
                )
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
            current = self.by_ref.get(job.ref)
            if current is None or current.revision != job.revision:
                return False
            if current.cursor != job.cursor:
                return (current.cursor, current.maintain_at) == (cursor, maintain_at)
            self._keep_spans(job.ref, missed)
            self._put(replace(current, cursor=cursor, maintain_at=maintain_at))
            return True

    def postpone(self, job: Job, maintain_at: datetime, *, failures: int) -> bool:
        with self._store.lock:
            current = self.by_ref.get(job.ref)
            as_read = (job.revision, job.maintain_at)
            if current is None or (current.revision, current.maintain_at) != as_read:
                return False
            self._put(replace(current, maintain_at=maintain_at, maintain_failures=failures))
            return True

    def claim(self, taking: JobRunClaim) -> bool:
        with self._store.lock:
            row = self._store.get(taking.row.ref)
            if (
                row is None
                or not is_claimable_as_read(row, taking.row)
                or not self._meets_requirement(taking)
            ):
                return False
            self._store.write(row, _with_unread_fields(row, taking.claimed))
            if taking.hold is LockRequirement.LOCK:
                self._fence_off(taking)
                job = replace(self.by_ref[taking.job.ref], running=row.ref)
                self._put(job if taking.unlocked is None else replace(job, unlocked_since=None))
                self._stop_waiting(taking.job.ref, row.ref)
            return True

    def _fence_off(self, taking: JobRunClaim) -> None:
        """Raise the fence of dead runs, so that they hold nothing if their workers wake."""
        holder, lock = taking.dead, self.by_ref[taking.job.ref].running
        loses_lock = holder is not None and lock == holder.ref != taking.row.ref
        for dead in (*(taking.unlocked or ()), *((holder,) if holder and loses_lock else ())):
            row = self._store.get(dead.ref)
            if row is not None and dead.status is Status.PROCESSING:
                self._store.write(row, transition.fenced_off(row))

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        with self._store.lock:
            current = self.by_ref.get(job.ref)
            if current is None or current.waiting == waiting:
                return current is not None
            if _contention(current) != _contention(job):
                return False
            self._put(replace(current, waiting=waiting))
            return True

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
            if is_first_end and (not has_lock or self._unlock(ref, claimed.ref)):
                self.count(ref, ended)
            return result

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        with self._store.lock:
            current = self._store.get(row.ref)
            if current is None:
                return False
            if (current.status, current.generation) != (row.status, row.generation):
                return current == _with_unread_fields(current, ended)
            self._store.write(current, _with_unread_fields(current, ended))
            self._unlock(ref, row.ref)
            self._stop_waiting(ref, row.ref)
            return True

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        with self._store.lock:
            job = self.by_ref.get(ref)
            if job is not None:
                self._put(replace(job, tally=ended.counted(job.tally)))

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
            present = self.backfills_by_ref.get(backfill.ref)
            if present is not None:
                begun = (backfill.begun_at, backfill.begun_by)
                return (present.begun_at, present.begun_by) == begun
            current = self.by_ref.get(job.ref)
            if current is None or current.revision != job.revision:
                return False
            self.backfills_by_ref[backfill.ref] = backfill
            self._on_change(BackfillChange(None, backfill))
            self._put(replace(current, revision=current.revision + 1))
            return True

    def find_backfill(self, ref: BackfillRef) -> Backfill | None:
        return self.backfills_by_ref.get(ref)

    def backfills(self, ref: JobRef) -> Sequence[Backfill]:
        with self._store.lock:
            found = [backfill for backfill in self.backfills_by_ref.values() if backfill.ref.job == ref]
        return sorted(found, key=lambda backfill: (backfill.begun_at, backfill.id), reverse=True)

    def change_backfill(self, read: Backfill, changed: Backfill) -> bool:
        with self._store.lock:
            present = self.backfills_by_ref.get(read.ref)
            if present is None or present.revision != read.revision:
                return present == changed
            self.backfills_by_ref[read.ref] = changed
            self._on_change(BackfillChange(present, changed))
            return True

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
            steps = [found.begun_at for found in self.backfills_by_ref.values() if found.needs_steps]
        return min([*jobs, *steps], default=None)

    def _meets_requirement(self, taking: JobRunClaim) -> bool:
        if taking.hold is LockRequirement.NOTHING:
            return True
        job = self.by_ref.get(taking.job.ref)
        if job is None or job.revision != taking.job.revision:
            return False
        if not all(self._is_dead(dead.ref, dead) for dead in taking.unlocked or ()):
            return False
        if taking.hold is LockRequirement.UNCHANGED or job.running is None or job.running == taking.row.ref:
            return True
        return job.running == taking.dead_ref and self._is_dead(job.running, taking.dead)

    def _is_dead(self, holder: ActionRef, dead: Holder | None) -> bool:
        """Return whether the holder of the lock is still dead as read, or gone."""
        row = self._store.get(holder)
        return row is None if dead is None else row is not None and is_as_read(row, dead)

    def _unlock(self, ref: JobRef, holder: ActionRef) -> bool:
        job = self.by_ref.get(ref)
        if job is None or job.running != holder:
            return False
        self._put(replace(job, running=None))
        return True

    def _stop_waiting(self, ref: JobRef, waiting: ActionRef) -> None:
        job = self.by_ref.get(ref)
        if job is not None and job.waiting == waiting:
            self._put(replace(job, waiting=None))

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


def _contention(job: Job) -> tuple[object, ...]:
    """Return what a run reads before it waits."""
    return (job.waiting, job.running, job.unlocked_since)


def _with_unread_fields(current: Action, after: Action) -> Action:
    """Return `after` with the attributes that its reader may not have: payload and request to cancel."""
    return replace(
        after,
        payload=current.payload,
        cancel_requested_at=current.cancel_requested_at,
        cancel_requested_by=current.cancel_requested_by,
    )


def _attention(job: Job) -> _Attention:
    return (instant.text(job.maintain_at), job.ref.tenant_id, job.name, "")


def _attention_of_backfill(backfill: Backfill) -> _Attention:
    job = backfill.ref.job
    return (instant.text(backfill.begun_at), job.tenant_id, job.name, backfill.id)


def _from_cursor(cursor: str | None) -> _Attention | None:
    if cursor is None:
        return None
    try:
        maintain_at, tenant_id, name, backfill = cursor.split(" ")
    except ValueError:
        raise InvalidCursor from None
    return (maintain_at, tenant_id, name, backfill)
