"""*Reconcile*.

Each deploy writes the code's jobs as rows, and disables rows whose jobs code no longer declares.

Timing always follows code. What operators set survives: pauses, tuning, statistics, history. A change of the
plan makes a new version. Version numbers only grow: a return to an older definition, or to a removed job, is
a new version too::

    version 1  ─────────────┤ its rows up to here run, those after it are retired
    version 2               ├──────────────  its cursor begins at the change

A job without a change is not written. Runtime jobs are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.cadence import parse
from duetime.clock import Clock
from duetime.declare.job_rules import TOO_FINE, is_too_fine, read_cadences
from duetime.errors import DeclarationError
from duetime.ids import PLANNER, SYSTEM_TENANT
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.maintain import Maintain, changed, resumed
from duetime.model.action import SkipReason, Status
from duetime.model.job import WHOLE_JOB, Definition, Job, JobRef, JobSpan, Origin, SpanKind
from duetime.model.wake_state import WakeState
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore, JobWakes
from duetime.settings import Settings

_PAGE = 100
_MOST_ENDS = 20


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The changes, as lines to print, and the number of unchanged jobs."""

    changes: tuple[str, ...] = ()
    unchanged: int = 0


class Reconcile:
    """Writes the jobs that one worker declares to the jobs table and EventBridge."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        wakes: JobWakes,
        maintain: Maintain,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._actions, self._jobs, self._wakes, self._maintain = actions, jobs, wakes, maintain
        self._clock, self._settings = clock, settings

    def __call__(self, definitions: Iterable[Definition], *, worker: str) -> Reconciled:
        """Add, change, revive and remove jobs until the rows match `definitions`.

        Raises:
            DeclarationError: this back end cannot honour a job; nothing was changed.
            BackendUnavailable: some jobs were not reconciled; a repeat is safe.
        """
        declared = [self._localised(definition) for definition in definitions]
        self._refuse_precision(declared)
        stored = {job.name: job for job in self._listed()}
        lines = [
            line
            for definition in declared
            if (line := self._declare(definition, stored.get(definition.name)))
        ]
        names = {definition.name for definition in declared}
        removed = [job for job in stored.values() if _is_of(job, worker) and job.name not in names]
        lines += [line for job in removed if (line := self._remove(job))]
        return Reconciled(tuple(lines), len(declared) - sum(not line.startswith("dropped") for line in lines))

    def _localised(self, definition: Definition) -> Definition:
        read = read_cadences(definition.cadences, default_tz=self._settings.default_tz or None)
        return replace(definition, cadences=tuple(cadence.text for cadence in read))

    def _refuse_precision(self, definitions: Iterable[Definition]) -> None:
        fine = [
            definition.name for definition in definitions if is_too_fine(definition, self._wakes.precision)
        ]
        if fine:
            raise DeclarationError(f"{', '.join(fine)}: {TOO_FINE}")

    def _listed(self) -> Iterator[Job]:
        cursor = None
        while True:
            page = self._jobs.list(SYSTEM_TENANT, limit=_PAGE, cursor=cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _declare(self, definition: Definition, stored: Job | None) -> str | None:
        """Write one job as declared; return a line about the change, or None without one."""
        ref = JobRef(SYSTEM_TENANT, definition.name)
        job = stored

        def write() -> str | Conflict | None:
            nonlocal job
            if job is None and self._jobs.add(_new(ref, definition, self._clock.now())):
                self._maintain(ref)
                return f"added {_described(definition)}"
            job = job or self._jobs.get(ref)
            if job is not None and job.definition == definition and job.removed_at is None:
                return None
            if job is not None and (line := self._redefine(job, definition)):
                return line
            job = self._jobs.get(ref)
            return CHANGED

        return change_with_retry(write, f"job {definition.name}")

    def _redefine(self, job: Job, definition: Definition) -> str | None:
        """Write the change; return None if the job has changed meanwhile."""
        if not definition.plans_like(job.definition) and job.removed_at is None:
            self._maintain(job.ref)  # the old version plans its times up to now
            job = self._jobs.get(job.ref) or job
        now = self._clock.now()  # read later: what falls due meanwhile belongs to the old version
        after, spans = redefined(job, definition, now)
        if not self._jobs.change(job, after, spans=spans):
            return None
        if after.version != job.version:
            self._retire(job, now, SkipReason.RETIRED, f"version {after.version} has taken over")
        self._maintain(job.ref)
        word = "revived" if job.removed_at else "changed"
        version = f", version {after.version}" if after.version != job.version else ""
        return f"{word} {_described(definition)}{version}"

    def _remove(self, job: Job) -> str | None:
        current = job

        def write() -> str | Conflict | None:
            nonlocal current
            now = self._clock.now()
            if self._jobs.change(current, replace(changed(current, now), removed_at=now)):
                self._retire(current, now, SkipReason.DISABLED, "it is no longer declared")
                self._maintain(current.ref)
                return f"dropped {current.name}: it is disabled, its history is kept"
            read = self._jobs.get(current.ref)
            if read is None or read.removed_at is not None:
                return None
            current = read
            return CHANGED

        return change_with_retry(write, f"job {job.name}")

    def _retire(self, job: Job, after: datetime, reason: SkipReason, note: str) -> None:
        retire(self._actions, job, after=after, reason=reason, note=note, settings=self._settings)


def retire(
    actions: ActionStore, job: Job, *, after: datetime, reason: SkipReason, note: str, settings: Settings
) -> None:
    """Skip the planned rows of a job's version whose nominal time lies after an instant.

    The claim refuses the rest.
    """
    cursor = None
    while True:
        page = actions.occurrences(
            job.ref.tenant_id,
            job.name,
            job.version,
            after=after,
            until=max(job.cursor, after),
            limit=_PAGE,
            cursor=cursor,
        )
        for row in page:
            if row.status is Status.PENDING and row.attempt == 0:
                actions.skip(
                    row, reason, note=note, by=PLANNER, at=after, expires_at=after + settings.retention
                )
        cursor = page.cursor
        if cursor is None:
            return


def redefined(job: Job, definition: Definition, now: datetime) -> tuple[Job, Sequence[JobSpan]]:
    """Return the job with another definition: in a new version if its plan changes, or if it was removed.

    A removed job needs a new version because the ids of its retired rows are taken.
    """
    over = [name for name, pause in job.pauses.items() if pause.is_over(now)]
    job, spans = resumed(job, over, now)
    after = replace(job, definition=definition, removed_at=None)
    if job.removed_at is None and definition.plans_like(job.definition):
        return changed(after, now), spans
    ends = {**job.ends, job.version: job.removed_at or now}
    recent_ends = dict(sorted(ends.items())[-_MOST_ENDS:])
    after = replace(after, version=job.version + 1, since=now, cursor=now, ends=recent_ends)
    return changed(after, now), (*spans, *_passed_over(job, now))


def _passed_over(job: Job, now: datetime) -> Iterator[JobSpan]:
    """Return the spans that explain the unplanned times of a version that ends at `now`."""
    if job.removed_at is not None:
        by = "deploy" if job.origin is Origin.CODE else ""
        yield JobSpan(kind=SpanKind.DISABLED, start=job.removed_at, end=now, by=by)
    pause = job.pauses.get(WHOLE_JOB)
    until = min(end for end in (now, job.removed_at, pause and pause.since) if end)
    first = None if job.definition.self_scheduled else job.stacked.next_after(job.cursor)
    if first is not None and first <= until:
        yield JobSpan(kind=SpanKind.MISSED, start=job.cursor, end=until, by=PLANNER)


def _new(ref: JobRef, definition: Definition, now: datetime) -> Job:
    return Job(
        ref=ref,
        definition=definition,
        origin=Origin.CODE,
        since=now,
        anchor=anchor_of(definition, now),
        cursor=now,
        maintain_at=now,
        wakes=WakeState(is_stale=True),
        registered_by="deploy",
    )


def anchor_of(definition: Definition, now: datetime) -> datetime:
    """Return the start of a job's intervals: the second, or the minute, in which it was first added."""
    second = now.replace(microsecond=0)
    return second.replace(second=0) if definition.precision == "minute" else second


def _is_of(job: Job, worker: str) -> bool:
    """Return whether this worker's code declares the job."""
    return job.origin is Origin.CODE and job.definition.worker == worker and job.removed_at is None


def _described(definition: Definition) -> str:
    cadences = " and ".join(parse(cadence).describe() for cadence in definition.cadences)
    return f"{definition.name}: {cadences}"
