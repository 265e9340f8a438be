"""*Maintain* a job: end a pause that is over, plan, and set its wakes on EventBridge.

Each minute the sweep maintains each job whose `maintain_at` has passed; the catch-up does so every six hours.
The time comes when a job changes, when a pause ends, or when two wakes in a row were lost. Callers thus write
to the tables alone. EventBridge follows within a minute; until then, the row decides what a wake may run.

Tenants take turns. If the maintenance of a job fails, the job waits for longer after each failure. So a
tenant's jobs that cannot be maintained delay no other tenant's.

A pass plans all jobs before it sets any wake, since planning needs the tables alone. It stops calling an
EventBridge that fails several times in a row. The next pass begins with the jobs that it has not tried.

The index that a pass reads has the backfills that need steps, too. The pass advances them first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import TypeAlias

from duetime import instant
from duetime.errors import BackendUnavailable, DuetimeError, UnreadableRow, truncate
from duetime.ids import TenantId
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.desired_wakes import base_of, previous_wakes, state_of, wakes_of
from duetime.jobs.plan import LEAD, Plan, Planned, maintain_at_of
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.backfill import BackfillRef
from duetime.model.job import WHOLE_JOB, Job, JobRef, JobSpan, SpanKind
from duetime.ports.backends import Backends
from duetime.ports.circuit_breaker import CircuitBreaker
from duetime.ports.job_store import JobStore

log = logging.getLogger(__name__)

Advance: TypeAlias = Callable[[BackfillRef], object]
"""Advances a backfill; see `duetime.jobs.advance_backfill`."""

_PAGE = 200
_FIRST_DELAY, _LONGEST_DELAY, _DOUBLINGS = timedelta(minutes=1), timedelta(hours=1), 6


class Maintain:
    """Maintains one job at a time."""

    def __init__(self, backends: Backends, plan: Plan) -> None:
        self._plan, self._jobs, self._wakes = plan, backends.jobs, backends.job_wakes
        self._clock, self._settings = backends.clock, backends.settings

    def __call__(self, ref: JobRef) -> Planned:
        """Maintain a job; an unknown job is ignored.

        Raises:
            BackendUnavailable: some work is left; the next pass does it.
        """
        planned = self.plan(ref)
        self.set_wakes(ref)
        return planned

    def plan(self, ref: JobRef) -> Planned:
        """End the job's pauses that are over, and plan it.

        Raises:
            BackendUnavailable: some work is left; the next pass does it.
        """
        self._end_pauses(ref)
        return self._plan(ref)

    def _end_pauses(self, ref: JobRef) -> None:
        def end() -> Conflict | None:
            job, now = self._jobs.get(ref), self._clock.now()
            over = [] if job is None else [name for name, pause in job.pauses.items() if pause.is_over(now)]
            if job is None or not over:
                return None
            if self._plan(ref).made:
                return CHANGED  # what was due before the pause is planned first
            after, spans = resumed(job, over, now)
            return None if self._jobs.change(job, after, spans=spans) else CHANGED

        change_with_retry(end, f"job {ref.name}")

    def set_wakes(self, ref: JobRef) -> bool:
        """Bring the job's wakes on EventBridge up to date; return whether EventBridge was called.

        Raises:
            BackendUnavailable: EventBridge or the table did not respond; the next pass calls again.
        """
        is_called = False

        def set_wakes() -> Conflict | None:
            nonlocal is_called
            job = self._jobs.get(ref)
            if job is None or not job.wakes.is_stale:
                self._forget_failures(job)
                return None
            is_called = True
            desired = tuple(wakes_of(job, self._clock.now(), self._settings))
            for wake in desired:
                self._wakes.put(wake)
            names = {(wake.kind, wake.name) for wake in desired}
            for kind, name in previous_wakes(job, self._settings):
                if (kind, name) not in names:
                    self._wakes.remove(kind, name)
            settled = replace(job, wakes=state_of(desired), maintain_failures=0)
            after = replace(settled, maintain_at=maintain_at_of(settled, settled.cursor))
            return None if self._jobs.change(job, after) else CHANGED

        change_with_retry(set_wakes, f"job {ref.name}")
        return is_called

    def _forget_failures(self, job: Job | None) -> None:
        if job is not None and job.maintain_failures:
            self._jobs.postpone(job, maintain_at_of(job, job.cursor), failures=0)


@dataclass(frozen=True, slots=True)
class MaintainResult:
    """The result of one pass.

    Attributes:
        failed: names of the jobs that a later pass must maintain.
    """

    maintained: int = 0
    planned: int = 0
    failed: tuple[str, ...] = ()


class MaintainDueJobs:
    """Maintains all jobs whose `maintain_at` has passed: the soonest of each tenant, then the next of each.

    It reads an index by that time, so its cost depends on what is due, not on what is stored. A job that
    fails does not stop the others. It is tried again after a minute, and after twice as long each time. If it
    cannot be postponed, its calls may hang: later passes of this process come to it after all others. The
    first pass of a process, which knows none yet, begins with another job each minute, its wakes included.
    """

    def __init__(
        self,
        backends: Backends,
        maintain: Maintain,
        *,
        pauses: KnownPauses,
        advance: Advance = lambda _ref: None,
    ) -> None:
        self._jobs, self._clock, self._maintain = backends.jobs, backends.clock, maintain
        self._pauses, self._advance = pauses, advance
        self._breaker, self._not_postponed = CircuitBreaker(backends.clock), dict[JobRef, datetime]()
        self._is_first_pass = True

    def __call__(self, *, stop_at: datetime) -> MaintainResult:
        """Plan all jobs, then set their wakes, until `stop_at`; the next pass finds the rest.

        Jobs that could not be postponed follow one by one, the one that failed last at the end.
        """
        planned, failed = 0, list[str]()
        found = list(due_refs(self._jobs, self._clock.now() + LEAD))  # a change moves it in the index
        due = [ref for ref in found if isinstance(ref, JobRef)]
        self._advance_all([ref for ref in found if isinstance(ref, BackfillRef)], stop_at)
        mine = [ref for ref in in_turns(due) if self._pauses.of_tenant(ref.tenant_id) is None]
        stuck = self._not_postponed
        self._not_postponed = {ref: stuck[ref] for ref in mine if ref in stuck}
        maintained, last = 0, sorted(self._not_postponed, key=self._not_postponed.__getitem__)
        others = [ref for ref in mine if ref not in self._not_postponed]
        first = list[JobRef]()
        if self._is_first_pass and others:
            self._is_first_pass, turn = False, int(self._clock.now().timestamp() // 60) % len(others)
            first, others = [others[turn]], others[turn + 1 :] + others[:turn]
        for refs in (first, others, *([ref] for ref in last)):
            ready = list[JobRef]()
            for ref in refs:  # the first pass after a resume maintains a paused tenant's
                if self._clock.now() >= stop_at:
                    break
                try:
                    planned += self._maintain.plan(ref).made
                    ready.append(ref)
                except DuetimeError as error:
                    self._failed(ref, error, failed)
            maintained += self._set_wakes(ready, stop_at, failed)
        return MaintainResult(maintained, planned, tuple(failed))

    def _advance_all(self, refs: list[BackfillRef], stop_at: datetime) -> None:
        """Advance the backfills in half of the time, in another order each minute."""
        now = self._clock.now()
        half, turn = now + (stop_at - now) / 2, int(now.timestamp() // 60) % len(refs) if refs else 0
        for ref in [*refs[turn:], *refs[:turn]]:
            if self._clock.now() >= half:
                break
            if self._pauses.of_tenant(ref.tenant_id) is not None:
                continue
            try:
                self._advance(ref)
            except DuetimeError as error:
                extra = {"backfill": ref.id, "job": ref.job.name, "reason": truncate(error)}
                log.warning("backfill not advanced", extra=extra)

    def _set_wakes(self, refs: Iterable[JobRef], stop_at: datetime, failed: list[str]) -> int:
        maintained = 0
        for ref in refs:
            if self._clock.now() >= stop_at or self._breaker.is_open:
                break
            try:
                if self._maintain.set_wakes(ref):
                    self._breaker.succeeded()
                maintained += 1
                self._not_postponed.pop(ref, None)
            except DuetimeError as error:
                if isinstance(error, BackendUnavailable):
                    self._breaker.failed()
                self._failed(ref, error, failed)
        return maintained

    def _failed(self, ref: JobRef, error: DuetimeError, failed: list[str]) -> None:
        log.warning("job not maintained", extra={"job": ref.name, "reason": truncate(error)})
        failed.append(ref.name)
        self._back_off(ref)

    def _back_off(self, ref: JobRef) -> None:
        """Postpone a failed job, unless it has changed or cannot be read or written either."""
        try:
            if (job := self._jobs.get(ref)) is not None:
                failures = job.maintain_failures + 1
                delay = min(_FIRST_DELAY * 2 ** min(failures - 1, _DOUBLINGS), _LONGEST_DELAY)
                self._jobs.postpone(job, self._clock.now() + delay, failures=failures)
        except DuetimeError as error:
            self._not_postponed[ref] = self._clock.now()
            log.warning("job not postponed", extra={"job": ref.name, "reason": truncate(error)})


def in_turns(refs: Iterable[JobRef]) -> Iterator[JobRef]:
    """Yield one job of each tenant, then the next of each: no tenant waits for all jobs of another."""
    by_tenant: dict[TenantId, list[JobRef]] = {}
    for ref in refs:
        by_tenant.setdefault(ref.tenant_id, []).append(ref)
    for turn in zip_longest(*by_tenant.values()):
        yield from (ref for ref in turn if ref is not None)


def refs_until(jobs: JobStore, until: datetime) -> Iterator[JobRef]:
    """Yield all jobs whose `maintain_at` is at or before an instant, soonest first."""
    return (ref for ref in due_refs(jobs, until) if isinstance(ref, JobRef))


def due_refs(jobs: JobStore, until: datetime) -> Iterator[JobRef | BackfillRef]:
    """Yield the same jobs, and beside them all backfills that need steps."""
    cursor = None
    while True:
        refs, cursor = jobs.due_for_maintenance(until, limit=_PAGE, cursor=cursor)
        yield from refs
        if cursor is None:
            return


def changed(job: Job, now: datetime) -> Job:
    """Return the job with stale wakes: the next sweep maintains it."""
    return replace(job, wakes=job.wakes.stale(), maintain_at=now, maintain_failures=0)


def resumed(job: Job, pauses: Sequence[str], now: datetime) -> tuple[Job, tuple[JobSpan, ...]]:
    """Return the job without these pauses, its cursor at their end, and the spans of its unplanned times."""
    ended = {name: min(now, job.pauses[name].until or now) for name in pauses}
    spans = [
        JobSpan(kind=SpanKind.PAUSED, start=start, end=end, cadence=name, by=part.by, reason=part.reason)
        for name, pause in job.pauses.items()
        if name in ended
        for start, end, part in pause.stretches(ended[name])
    ]
    cursor = min([job.cursor, *ended.values()])
    if (pause := job.pauses.get(WHOLE_JOB)) and WHOLE_JOB in ended:
        cursor = ended[WHOLE_JOB]
        if job.cursor < pause.since:
            spans.append(JobSpan(kind=SpanKind.MISSED, start=job.cursor, end=pause.since, by=pause.by))
    left = {name: pause for name, pause in job.pauses.items() if name not in ended}
    return changed(replace(job, pauses=left, cursor=max(cursor, job.since)), now), tuple(spans)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The wakes removed and set.

    Attributes:
        removed: names of wakes without a job.
        set: jobs whose wakes were set again.
    """

    removed: tuple[str, ...] = ()
    set: tuple[str, ...] = ()


class Repair:
    """*Repairs* differences between the jobs' rows and EventBridge: unknown wakes, and missing ones.

    Reconcile does so on each deploy, the catch-up every six hours. It reads names only, until it finds a
    difference. The index of jobs may lag, so each job is read consistently before one of its wakes is
    removed. After a removal the job's wakes are set again if it wants the wake by then.
    """

    def __init__(self, backends: Backends, maintain: Maintain) -> None:
        self._jobs, self._wakes, self._maintain = backends.jobs, backends.job_wakes, maintain
        self._clock, self._settings = backends.clock, backends.settings

    def __call__(self, *, stop_at: datetime) -> RepairResult:
        """Compare until done, or until `stop_at`.

        Raises:
            BackendUnavailable: some differences are left.
        """
        known = set(self._wakes.known())
        by_base = {base_of(ref, self._settings): ref for ref in refs_until(self._jobs, instant.LATEST)}
        removed = tuple(sorted(name for _, name in self._remove(known, by_base)))
        again = tuple(
            ref.name
            for ref in by_base.values()
            if self._clock.now() < stop_at and self._set_if_readable(ref, known)
        )
        return RepairResult(removed, again)

    def _remove(
        self, known: Iterable[tuple[str, str]], by_base: dict[str, JobRef]
    ) -> Iterator[tuple[str, str]]:
        for kind, name in sorted(known):
            if name not in by_base and _without_number(name) not in by_base:
                owner = self._wakes.owner(kind, name)
                if not self._needs(owner, kind, name):
                    self._wakes.remove(kind, name)
                    yield kind, name
                    if owner is not None and self._needs(owner, kind, name):  # registered meanwhile
                        self._set_again(owner)

    def _needs(self, owner: JobRef | None, kind: str, name: str) -> bool:
        try:
            job = self._jobs.get(owner) if owner else None
        except UnreadableRow as error:
            log.warning("wake of a damaged job kept", extra={"wake": name, "reason": truncate(error)})
            return True
        return job is not None and (kind, name) in self._desired(job)

    def _desired(self, job: Job) -> set[tuple[str, str]]:
        return {(wake.kind, wake.name) for wake in wakes_of(job, self._clock.now(), self._settings)}

    def _set_if_readable(self, ref: JobRef, known: set[tuple[str, str]]) -> bool:
        """Set the wakes of a job. One that is damaged keeps its own, and stops no other."""
        try:
            return self._set(ref, known)
        except UnreadableRow as error:
            log.warning("job not repaired", extra={"job": ref.name, "reason": truncate(error)})
            return False

    def _set(self, ref: JobRef, known: set[tuple[str, str]]) -> bool:
        job = self._jobs.get(ref)
        if job is None:
            return False
        base, desired = base_of(ref, self._settings), self._desired(job)
        existing = {(kind, name) for kind, name in known if base in {name, _without_number(name)}}
        if desired == existing:
            return False
        for kind, name in sorted(existing - desired):
            self._wakes.remove(kind, name)
        self._set_again(ref)
        return True

    def _set_again(self, ref: JobRef) -> None:
        """Mark the job's wakes as stale, after all removals, and set them."""

        def mark() -> Conflict | None:
            job = self._jobs.get(ref)
            is_marked = job is None or self._jobs.change(job, changed(job, self._clock.now()))
            return None if is_marked else CHANGED

        change_with_retry(mark, f"job {ref.name}")
        self._maintain(ref)


def _without_number(name: str) -> str:
    base, _, number = name.rpartition(".")
    return base if number.isdigit() else name
