"""Jobs in memory, under the lock of the rows: what concerns a job and one of its actions is one step."""

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
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.job import Job, JobRef, JobSpan, Version
from duetime.model.job_events import JobChange, SpanKept
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.ports.jobs import JobPage, JobRunClaim, LockRequirement

_Attention = tuple[str, str, str]
"""A job in the order of attention: when, and then its tenant and name."""


class MemoryJobStore:
    """The jobs, in dictionaries beside the rows of `store`. `on_change` is called with each change: it is their stream."""

    def __init__(
        self, store: MemoryStore, *, on_change: Callable[[JobChange | SpanKept], None] = lambda _told: None
    ) -> None:
        self._store, self._on_change = store, on_change
        self._jobs: dict[JobRef, Job] = {}
        self._versions: dict[JobRef, dict[int, Version]] = {}
        self._spans: dict[JobRef, dict[JobSpan, None]] = {}

    def get(self, ref: JobRef) -> Job | None:
        """See `duetime.ports.jobs.JobStore`, here and below."""
        with self._store.lock:
            return self._jobs.get(ref)

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        with self._store.lock:
            mine = (job for job in self._jobs.values() if job.ref.tenant_id == tenant_id)
            found = sorted(
                (job for job in mine if cursor is None or job.name > cursor), key=lambda job: job.name
            )
        shown = tuple(found[:limit])
        return JobPage(shown, shown[-1].name if len(found) > limit else None)

    def to_attend(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef], str | None]:
        after = _from_cursor(cursor)
        with self._store.lock:
            waiting = sorted(
                (_attention(job), job.ref) for job in self._jobs.values() if job.maintain_at <= until
            )
        found = list(islice((each for each in waiting if after is None or each[0] > after), limit + 1))
        more = len(found) > limit
        return [ref for _, ref in found[:limit]], " ".join(found[limit - 1][0]) if more else None

    def add(self, job: Job) -> bool:
        with self._store.lock:
            if job.ref in self._jobs:
                return False
            self._put(job)
            self._keep_version(job)
            return True

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        with self._store.lock:
            standing = self._jobs.get(old.ref)
            if standing is None:
                return False
            after = _changed(standing, new, old.revision + 1)
            if standing.revision != old.revision:
                return standing == replace(after, cursor=standing.cursor, maintain_at=standing.maintain_at)
            if after.version != standing.version:
                self._end_version(standing, after.since)
            self._keep_version(after)
            self._keep_spans(old.ref, spans)
            self._put(after)
            return True

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        with self._store.lock:
            standing = self._jobs.get(job.ref)
            if standing is None or standing.revision != job.revision:
                return False
            if standing.cursor != job.cursor:
                return (standing.cursor, standing.maintain_at) == (cursor, maintain_at)
            self._keep_spans(job.ref, missed)
            self._put(replace(standing, cursor=cursor, maintain_at=maintain_at))
            return True

    def claim(self, taking: JobRunClaim) -> bool:
        with self._store.lock:
            row = self._store.get(taking.row.ref)
            if row is None or not _stands_as(row, taking.row) or not self._has_what_it_asks_for(taking):
                return False
            self._store.write(row, _kept(row, taking.claimed))
            if taking.hold is LockRequirement.LOCK:
                self._fence_off(taking)
                self._put(replace(self._jobs[taking.job.ref], running=row.ref))
                self._wait_no_more(taking.job.ref, row.ref)
            return True

    def _fence_off(self, taking: JobRunClaim) -> None:
        """A run whose lock is taken from it holds nothing any more, should its worker wake."""
        dead, lock = taking.dead, self._jobs[taking.job.ref].running
        if dead is not None and lock == dead.ref != taking.row.ref and dead.status is Status.PROCESSING:
            row = self._store.get(dead.ref)
            if row is not None:
                self._store.write(row, transition.fenced_off(row))

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        with self._store.lock:
            standing = self._jobs.get(job.ref)
            if standing is None or standing.waiting not in (job.waiting, waiting):
                return False
            self._put(replace(standing, waiting=waiting))
            return True

    def settle(self, claimed: Action, settlement: Settlement, ref: JobRef, ended: EndedRun) -> SettleResult:
        return self._end(claimed, ref, ended, partial(self._store.settle, claimed, settlement))

    def commit(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        entries: Sequence[Mapping[str, Any]],
        number: int,
    ) -> SettleResult:
        commit = partial(self._store.commit, claimed, settlement, entries=entries, number=number)
        return self._end(claimed, ref, ended, commit)

    def _end(
        self, claimed: Action, ref: JobRef, ended: EndedRun, settle: Callable[[], SettleResult]
    ) -> SettleResult:
        with self._store.lock:
            is_first_try = self._store.held(claimed) is not None
            result = settle()
            if is_first_try and result is SettleResult.SETTLED and self._unlock(ref, claimed.ref):
                self.count(ref, ended)
            return result

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        with self._store.lock:
            standing = self._store.get(row.ref)
            if standing is None:
                return False
            if (standing.status, standing.generation) != (row.status, row.generation):
                return standing == _kept(standing, ended)
            self._store.write(standing, _kept(standing, ended))
            self._unlock(ref, row.ref)
            self._wait_no_more(ref, row.ref)
            return True

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        with self._store.lock:
            job = self._jobs.get(ref)
            if job is not None:
                self._put(replace(job, tally=ended.counted(job.tally)))

    def versions(self, ref: JobRef) -> Sequence[Version]:
        with self._store.lock:
            kept = self._versions.get(ref, {})
            return [kept[number] for number in sorted(kept)]

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        with self._store.lock:
            found = [each for each in self._spans.get(ref, ()) if each.start < end and each.end > start]
        return sorted(found, key=lambda span: span.start)

    def earliest_attend_at(self) -> datetime | None:
        """When a job must be attended to first."""
        with self._store.lock:
            return min([job.maintain_at for job in self._jobs.values()], default=None)

    def _has_what_it_asks_for(self, taking: JobRunClaim) -> bool:
        if taking.hold is LockRequirement.NOTHING:
            return True
        job = self._jobs.get(taking.job.ref)
        if job is None or job.revision != taking.job.revision:
            return False
        if taking.hold is LockRequirement.UNCHANGED or job.running is None or job.running == taking.row.ref:
            return True
        return job.running == taking.dead_ref and self._is_dead(job.running, taking.dead)

    def _is_dead(self, holder: ActionRef, dead: Action | None) -> bool:
        """Whether the lock's holder still stands as it was read: dead, or gone."""
        row = self._store.get(holder)
        return row is None if dead is None else row is not None and _stands_as(row, dead)

    def _unlock(self, ref: JobRef, holder: ActionRef) -> bool:
        """Free the lock if it is `holder`'s; whether it was."""
        job = self._jobs.get(ref)
        if job is None or job.running != holder:
            return False
        self._put(replace(job, running=None))
        return True

    def _wait_no_more(self, ref: JobRef, waiting: ActionRef) -> None:
        job = self._jobs.get(ref)
        if job is not None and job.waiting == waiting:
            self._put(replace(job, waiting=None))

    def _put(self, job: Job) -> None:
        old = self._jobs.get(job.ref)
        self._jobs[job.ref] = job
        is_redefined = old is not None and old.definition != job.definition
        self._on_change(JobChange(old, job, is_redefined))

    def _keep_version(self, job: Job) -> None:
        version = Version(number=job.version, definition=job.definition, since=job.since)
        self._versions.setdefault(job.ref, {})[job.version] = version

    def _end_version(self, job: Job, at: datetime) -> None:
        kept = self._versions[job.ref]
        kept[job.version] = replace(kept[job.version], until=at)

    def _keep_spans(self, ref: JobRef, spans: Sequence[JobSpan]) -> None:
        kept = self._spans.setdefault(ref, {})
        for span in spans:
            if span not in kept:
                self._on_change(SpanKept(ref, span))
        kept.update(dict.fromkeys(spans))


def _changed(standing: Job, new: Job, revision: int) -> Job:
    """The job after a change: who runs, the tally, and where it comes from are not the change's to write."""
    return replace(
        new,
        revision=revision,
        origin=standing.origin,
        anchor=standing.anchor,
        running=standing.running,
        waiting=standing.waiting,
        tally=standing.tally,
    )


def _stands_as(row: Action, read: Action) -> bool:
    return (row.status, row.fence, row.generation, row.lease_until) == (
        read.status,
        read.fence,
        read.generation,
        read.lease_until,
    )


def _kept(standing: Action, after: Action) -> Action:
    """What a row becomes, with what its reader may not have seen: its payload, and a request to cancel."""
    return replace(
        after,
        payload=standing.payload,
        cancel_requested_at=standing.cancel_requested_at,
        cancel_requested_by=standing.cancel_requested_by,
    )


def _attention(job: Job) -> _Attention:
    return (instant.text(job.maintain_at), job.ref.tenant_id, job.name)


def _from_cursor(cursor: str | None) -> _Attention | None:
    if cursor is None:
        return None
    try:
        maintain_at, tenant_id, name = cursor.split(" ")
    except ValueError:
        raise InvalidCursor from None
    return (maintain_at, tenant_id, name)
