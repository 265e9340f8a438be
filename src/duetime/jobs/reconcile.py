"""*Reconcile*: on each deploy the code's jobs become rows, and rows that code dropped are disabled.

Timing always follows code; what operators set survives: pauses, tuning, tallies, history. A change of what is planned is a new
version, with a number that only grows, so that going back, and declaring again what was dropped, is a new version too::

    version 1  ─────────────┤ its rows up to here run, those after it are retired
    version 2               ├──────────────  its cursor begins at the change

Where nothing changed, nothing is written. A runtime job is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.cadence import parse
from duetime.clock import Clock
from duetime.declare.job_rules import TOO_FINE, is_too_fine, read_cadences
from duetime.errors import BackendUnavailable, DeclarationError
from duetime.ids import PLANNER, SYSTEM_TENANT
from duetime.jobs.maintain import Maintain, changed, resumed
from duetime.jobs.plan import STALE
from duetime.model.action import SkipReason, Status
from duetime.model.job import WHOLE_JOB, Definition, Job, JobRef, JobSpan, Origin, SpanKind
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore, JobWakes
from duetime.settings import Settings

_RACES = 10
_PAGE = 100
_KEPT_ENDS = 20


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What a reconcile changed, as lines to print, and how many jobs it left as they were."""

    changes: tuple[str, ...] = ()
    unchanged: int = 0


class Reconcile:
    """Brings one worker's declared jobs into the jobs table and EventBridge."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        wakes: JobWakes,
        attend: Maintain,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._actions, self._jobs, self._wakes, self._attend = actions, jobs, wakes, attend
        self._clock, self._settings = clock, settings

    def __call__(self, definitions: Iterable[Definition], *, worker: str) -> Reconciled:
        """Add, change, revive and drop until the rows are what `definitions` say.

        Raises:
            DeclarationError: a job asks for what this back end cannot honour; nothing was changed.
            BackendUnavailable: not all was reconciled; doing it again is safe.
        """
        declared = [self._localised(definition) for definition in definitions]
        self._refuse_precision(declared)
        standing = {job.name: job for job in self._listed()}
        lines = [line for each in declared if (line := self._declare(each, standing.get(each.name)))]
        names = {each.name for each in declared}
        dropped = [job for job in standing.values() if _is_of(job, worker) and job.name not in names]
        lines += [line for job in dropped if (line := self._drop(job))]
        return Reconciled(tuple(lines), len(declared) - sum(not line.startswith("dropped") for line in lines))

    def _localised(self, definition: Definition) -> Definition:
        read = read_cadences(definition.cadences, default_tz=self._settings.default_tz or None)
        return replace(definition, cadences=tuple(each.text for each in read))

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

    def _declare(self, definition: Definition, standing: Job | None) -> str | None:
        """Have one job as declared; what was changed, in a line, if anything was."""
        ref = JobRef(SYSTEM_TENANT, definition.name)
        for _ in range(_RACES):
            now = self._clock.now()
            if standing is None and self._jobs.add(_new(ref, definition, now)):
                self._attend(ref)
                return f"added {_told(definition)}"
            job = standing or self._jobs.get(ref)
            if job is not None and job.definition == definition and job.removed_at is None:
                return None
            if job is not None and (line := self._redefine(job, definition)):
                return line
            standing = self._jobs.get(ref)
        raise BackendUnavailable("the jobs table", f"job {definition.name} kept changing")

    def _redefine(self, job: Job, definition: Definition) -> str | None:
        """Write the change; None if the job has changed meanwhile."""
        if not definition.plans_like(job.definition) and job.removed_at is None:
            self._attend(job.ref)  # the old version accounts for its times up to now
            job = self._jobs.get(job.ref) or job
        now = self._clock.now()  # after that: what falls due meanwhile is the old version's
        after, spans = redefined(job, definition, now)
        if not self._jobs.change(job, after, spans=spans):
            return None
        if after.version != job.version:
            self._retire(job, now, SkipReason.RETIRED, f"version {after.version} has taken over")
        self._attend(job.ref)
        word = "revived" if job.removed_at else "changed"
        version = f", version {after.version}" if after.version != job.version else ""
        return f"{word} {_told(definition)}{version}"

    def _drop(self, job: Job) -> str | None:
        for _ in range(_RACES):
            now = self._clock.now()
            if self._jobs.change(job, replace(changed(job, now), removed_at=now)):
                self._retire(job, now, SkipReason.DISABLED, "it is no longer declared")
                self._attend(job.ref)
                return f"dropped {job.name}: it is disabled, its history is kept"
            read = self._jobs.get(job.ref)
            if read is None or read.removed_at is not None:
                return None
            job = read
        raise BackendUnavailable("the jobs table", f"job {job.name} kept changing")

    def _retire(self, job: Job, after: datetime, reason: SkipReason, note: str) -> None:
        retire(self._actions, job, after=after, reason=reason, note=note, settings=self._settings)


def retire(
    actions: ActionStore, job: Job, *, after: datetime, reason: SkipReason, note: str, settings: Settings
) -> None:
    """Skip the planned rows of a job's version whose nominal time lies after an instant. What this misses, the claim refuses."""
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
    """The job as declared anew: in a new version if what is planned has changed, or if it was dropped.

    What was planned before the drop is retired, and would be found under the same ids.
    """
    over = [name for name, pause in job.pauses.items() if pause.is_over(now)]
    job, spans = resumed(job, over, now)
    after = replace(job, definition=definition, removed_at=None)
    if job.removed_at is None and definition.plans_like(job.definition):
        return changed(after, now), spans
    ends = {**job.ends, job.version: job.removed_at or now}
    kept = dict(sorted(ends.items())[-_KEPT_ENDS:])
    after = replace(after, version=job.version + 1, since=now, cursor=now, ends=kept)
    return changed(after, now), (*spans, *_passed_over(job, now))


def _passed_over(job: Job, now: datetime) -> Iterator[JobSpan]:
    """What explains the times of a version that end unplanned at `now`."""
    if job.removed_at is not None:
        by = "deploy" if job.origin is Origin.CODE else ""
        yield JobSpan(kind=SpanKind.DISABLED, start=job.removed_at, end=now, by=by)
    whole = job.pauses.get(WHOLE_JOB)
    until = min(each for each in (now, job.removed_at, whole and whole.since) if each)
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
        wakes=STALE,
        registered_by="deploy",
    )


def anchor_of(definition: Definition, now: datetime) -> datetime:
    """What a job's intervals count from: the second, or the minute, in which it was first added."""
    whole = now.replace(microsecond=0)
    return whole.replace(second=0) if definition.precision == "minute" else whole


def _is_of(job: Job, worker: str) -> bool:
    """Whether it is a job of this worker's code, and not dropped yet."""
    return job.origin is Origin.CODE and job.definition.worker == worker and job.removed_at is None


def _told(definition: Definition) -> str:
    said = " and ".join(parse(cadence).describe() for cadence in definition.cadences)
    return f"{definition.name}: {said}"
