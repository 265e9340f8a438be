"""*Attend* to a job: end a pause that is over, plan, and have EventBridge wake it as its row says.

Each minute the sweep does it for each job whose `maintain_at` has come, every six hours the catch-up: because something was changed, because
a pause ends, or because two wakes in a row were lost. So what callers change needs the tables alone; EventBridge follows
within a minute, and what it wakes meanwhile is judged by the row.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.jobs.desired_wakes import former_wakes, short_of, wakes_of
from duetime.jobs.plan import LEAD, STALE, Plan, Planned, attend_at_of
from duetime.model.job import WHOLE_JOB, Job, JobRef, JobSpan, Pause, SpanKind
from duetime.ports.jobs import JobStore, JobWakes
from duetime.settings import Settings

log = logging.getLogger(__name__)

_RACES = 5
_PAGE = 100


class Maintain:
    """Looks after one job at a time."""

    def __init__(
        self, plan: Plan, jobs: JobStore, wakes: JobWakes, *, clock: Clock, settings: Settings
    ) -> None:
        self._plan, self._jobs, self._wakes = plan, jobs, wakes
        self._clock, self._settings = clock, settings

    def __call__(self, ref: JobRef) -> Planned:
        """Do what there is to do; nothing for a job that nobody knows.

        Raises:
            BackendUnavailable: something is left to do; the next pass does it.
        """
        self._end_pauses(ref)
        planned = self._plan(ref)
        self._set_wakes(ref)
        return planned

    def _end_pauses(self, ref: JobRef) -> None:
        for _ in range(_RACES):
            job, now = self._jobs.get(ref), self._clock.now()
            over = [] if job is None else [name for name, pause in job.pauses.items() if pause.is_over(now)]
            if job is None or not over:
                return
            if self._plan(ref).made:
                continue  # what was due before the pause is planned first
            after, spans = resumed(job, over, now)
            if self._jobs.change(job, after, spans=spans):
                return
        raise BackendUnavailable("the jobs table", f"job {ref.name} kept changing")

    def _set_wakes(self, ref: JobRef) -> None:
        for _ in range(_RACES):
            job = self._jobs.get(ref)
            if job is None or not job.wakes.startswith(STALE):
                return
            wanted = tuple(wakes_of(job, self._clock.now(), self._settings))
            for wake in wanted:
                self._wakes.put(wake)
            for kind, name in former_wakes(job, self._settings):
                if (kind, name) not in {(each.kind, each.name) for each in wanted}:
                    self._wakes.remove(kind, name)
            settled = replace(job, wakes=short_of(wanted))
            if self._jobs.change(job, replace(settled, maintain_at=attend_at_of(settled, settled.cursor))):
                return
        raise BackendUnavailable("the jobs table", f"job {ref.name} kept changing")


@dataclass(frozen=True, slots=True)
class MaintainResult:
    """What one pass did."""

    attended: int = 0
    planned: int = 0
    failed: tuple[str, ...] = ()
    """Names of jobs that are left for the next pass."""


class MaintainDueJobs:
    """Attends to all jobs whose time for that has come, soonest first.

    It reads the index of jobs by when they must be attended to, so it costs what is due and not what is stored. A job that cannot
    be attended to holds up no other; it stays in the index, and the next pass tries again.
    """

    def __init__(self, jobs: JobStore, attend: Maintain, *, clock: Clock, settings: Settings) -> None:
        self._jobs, self._attend = jobs, attend
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> MaintainResult:
        """Attend until done, or until `stop_at`; then the next pass finds the rest."""
        attended, planned, failed = 0, 0, list[str]()
        for ref in self._due():
            if self._clock.now() >= stop_at:
                break
            try:
                planned += self._attend(ref).made
                attended += 1
            except DuetimeError as error:
                log.warning("job not attended to", extra={"job": ref.name, "reason": truncate(error)})
                failed.append(ref.name)
        return MaintainResult(attended, planned, tuple(failed))

    def _due(self) -> list[JobRef]:
        """All that are due now, read before any is attended to: that moves them in the index."""
        found, cursor, until = list[JobRef](), None, self._clock.now() + LEAD
        while True:
            refs, cursor = self._jobs.to_attend(until, limit=_PAGE, cursor=cursor)
            found += refs
            if cursor is None:
                return found


def changed(job: Job, now: datetime) -> Job:
    """The job with its wakes to be set again: the next sweep attends to it."""
    return replace(job, wakes=STALE + job.wakes.removeprefix(STALE), maintain_at=now)


def resumed(job: Job, pauses: Sequence[str], now: datetime) -> tuple[Job, tuple[JobSpan, ...]]:
    """The job without these pauses, its cursor back at their end, and the spans that explain what was not planned."""
    ended = {name: min(now, job.pauses[name].until or now) for name in pauses}
    spans = [_span_of(name, job.pauses[name], end) for name, end in ended.items()]
    cursor = min([job.cursor, *ended.values()])
    if (whole := job.pauses.get(WHOLE_JOB)) and WHOLE_JOB in ended:
        cursor = ended[WHOLE_JOB]
        if job.cursor < whole.since:
            spans.append(JobSpan(kind=SpanKind.MISSED, start=job.cursor, end=whole.since, by=whole.by))
    left = {name: pause for name, pause in job.pauses.items() if name not in ended}
    return changed(replace(job, pauses=left, cursor=max(cursor, job.since)), now), tuple(spans)


def _span_of(cadence: str, pause: Pause, end: datetime) -> JobSpan:
    return JobSpan(
        kind=SpanKind.PAUSED,
        start=pause.since,
        end=end,
        cadence=cadence,
        by=pause.by,
        reason=pause.reason,
    )
