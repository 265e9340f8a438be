"""Operate a job: pause, resume, skip the next, tune. What is set here survives every deploy.

Timing of a job that code declares is code's: nothing here edits it. EventBridge follows within a minute (see `attend`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from duetime import ids, instant
from duetime.clock import Clock
from duetime.errors import BackendUnavailable, InvalidTime, JobConflict, truncate
from duetime.ids import TenantId
from duetime.instant import When
from duetime.jobs.claim_policy import is_first
from duetime.jobs.lookup import JobLookup
from duetime.jobs.maintain import changed, resumed
from duetime.jobs.plan import Plan
from duetime.jobs.upcoming import upcoming
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.job import WHOLE_JOB, Job, Pause
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.retry import Duration, RetryPolicy, Tuning, back_offs
from duetime.settings import Settings

LONGEST_REASON = 200
"""Characters of why somebody paused a job."""

_RACES = 10
_SKIP = "skip the next run of"
_LOOKED_AT = 100
"""Runs to come of which one may be skipped; those before it are skipped already."""


class JobOperations(JobLookup):
    """What operators do to a job, in one actor's name."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        *,
        tenant_id: TenantId,
        actor: str,
        clock: Clock,
        settings: Settings,
        sees_system: bool = True,
    ) -> None:
        super().__init__(
            actions, jobs, tenant_id=tenant_id, clock=clock, settings=settings, sees_system=sees_system
        )
        self._actor = actor
        self._plan = Plan(actions, jobs, clock=clock, settings=settings)

    def pause(
        self, name: str, *, reason: str = "", until: When | None = None, cadence: str | None = None
    ) -> Job:
        """Run nothing of it from now on: what runs ends, a retry of it too; what comes is skipped, and explained.

        Args:
            name: the job.
            reason: why, in at most 200 characters.
            until: when the pause ends by itself.
            cadence: only this one of its stacked cadences, by name.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no such cadence, or it is dropped.
            InvalidTime: `until` is naive or not in the future.
        """
        now = self._clock.now()
        ends_at = None if until is None else instant.resolve(until, now=now)
        if ends_at is not None and ends_at <= now:
            raise InvalidTime(instant.text(ends_at), "has passed; a pause ends in the future")
        pause = Pause(since=now, by=self._actor, reason=truncate(reason, LONGEST_REASON), until=ends_at)

        def paused(job: Job) -> Job:
            self._refuse_dropped(job, "pause")
            which = self._cadence(job, cadence, "pause")
            standing = job.pauses.get(which)
            told = replace(pause, since=standing.since) if standing else pause
            return changed(replace(job, pauses={**job.pauses, which: told}), now)

        self._plan_up_to_now(name)
        return self._change(name, paused)

    def resume(self, name: str, *, cadence: str | None = None) -> Job:
        """End a pause; what comes next is planned at once, what the pause passed over is not made up for.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is not paused, or has no such cadence.
        """
        self._plan_up_to_now(name)
        for _ in range(_RACES):
            job, now = self.get(name), self._clock.now()
            which = cadence or WHOLE_JOB
            if which not in job.pauses:
                self._cadence(job, cadence, "resume")
                others = ", ".join(filter(None, job.pauses))
                hint = f"; paused are its cadences {others}" if others else ""
                raise JobConflict(name, asked="resume", problem=f"it is not paused{hint}")
            after, spans = resumed(job, [which], now)
            if self._jobs.change(job, after, spans=spans):
                self._plan(job.ref)
                return self.get(name)
        raise BackendUnavailable("the jobs table", f"job {name} kept changing")

    def skip_next(self, name: str, *, cadence: str | None = None) -> Action:
        """Skip the next occurrence that would run, be it planned or not; the one after it runs.

        Args:
            name: the job.
            cadence: the next that is run for this one of its stacked cadences, by name.

        Returns:
            The skipped one.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: none is to come, as things stand, or it has no such cadence.
        """
        self._plan(self.get(name).ref)
        for _ in range(_RACES):
            job, now = self.get(name), self._clock.now()
            self._refuse_dropped(job, _SKIP)
            which = self._cadence(job, cadence, _SKIP)
            row = self._next_row(job, which, now)
            if row is None:
                raise JobConflict(name, asked=_SKIP, problem=_why_none(job, which, now))
            ended = transition.skipped(
                row,
                SkipReason.ASKED,
                note=f"skipped by {self._actor}",
                by=self._actor,
                at=now,
                expires_at=max(now, row.nominal_at) + self._settings.retention,
            )
            if self._jobs.end_pending(row, ended, job.ref):
                return ended
        raise BackendUnavailable("the jobs table", f"the next run of {name} kept changing")

    def set(
        self,
        name: str,
        *,
        attempts: int | None = None,
        backoff: Duration | Sequence[Duration] | None = None,
        jitter: float | None = None,
        cadence: str | None = None,
    ) -> Job:
        """Set how runs are retried, on top of what code says; it survives every deploy. What is left out goes by code again.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no such cadence.
            DeclarationError: a value is out of its range.
        """
        spans = (
            None if backoff is None else tuple(back_off.total_seconds() for back_off in back_offs(backoff))
        )
        tuning = Tuning(attempts=attempts, backoff=spans, jitter=jitter)
        tuning.applied(RetryPolicy())

        def tuned(job: Job) -> Job:
            which = self._cadence(job, cadence, "set")
            others = {key: each for key, each in job.tuning.items() if key != which}
            return replace(job, tuning=others if tuning == Tuning() else {**others, which: tuning})

        return self._change(name, tuned)

    def _next_row(self, job: Job, cadence: str, now: datetime) -> Action | None:
        """The next that is still to run; its row is put here where nobody has planned it yet."""
        if job.definition.self_scheduled:
            return None
        for due in islice(upcoming(job, now, cadence), _LOOKED_AT):
            ref = ActionRef(job.ref.tenant_id, ids.occurrence_id(job.name, job.version, due.at))
            row = self._actions.get(ref) or self._plan.ahead(job, due)
            if is_first(row):
                return row
        return None

    def _change(self, name: str, change: Callable[[Job], Job]) -> Job:
        for _ in range(_RACES):
            job = self.get(name)
            after = change(job)
            if self._jobs.change(job, after):
                return self.get(name)
        raise BackendUnavailable("the jobs table", f"job {name} kept changing")

    def _plan_up_to_now(self, name: str) -> None:
        """Have all nominal times up to now accounted for, before a pause begins or ends."""
        job = self.get(name)
        if job.definition.self_scheduled:
            problem = "the clock runs it; DUETIME_ENABLED=false switches everything off"
            raise JobConflict(name, asked="pause", problem=problem)
        self._plan(job.ref)

    def _refuse_dropped(self, job: Job, asked: str) -> None:
        if job.removed_at is not None:
            since = instant.text(job.removed_at)
            raise JobConflict(job.name, asked=asked, problem=f"code no longer declares it, since {since}")

    def _cadence(self, job: Job, cadence: str | None, asked: str) -> str:
        if cadence is None:
            return WHOLE_JOB
        if cadence not in {*job.stacked.by_name, *job.pauses}:
            known = ", ".join(job.stacked.by_name)
            raise JobConflict(
                job.name, asked=asked, problem=f"it has no cadence {cadence!r}; its cadences are {known}"
            )
        return cadence


def _why_none(job: Job, cadence: str, now: datetime) -> str:
    """Why no run of it can be skipped, and what can be done instead."""
    if job.definition.self_scheduled:
        return "the clock runs it, and nothing of it is planned"
    if next(upcoming(job, now, cadence), None) is not None:
        return f"its next {_LOOKED_AT} are skipped already; pause it instead"
    if job.pauses:
        return "none is to come while it is paused; resume it first"
    return "none is to come; what a trigger or an event has started can be cancelled"
