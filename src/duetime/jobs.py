"""Jobs as their operators see them: look, pause, resume, trigger, skip the next, tune, and register one's own.

Everything here needs the tables alone; EventBridge follows within a minute (see `attend`). Timing of a job that code
declares is code's: nothing here edits it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duetime import ids, instant, transition
from duetime.action import Action, SkipReason, Status
from duetime.attend import changed, resumed
from duetime.clock import Clock
from duetime.errors import (
    BackendUnavailable,
    InvalidCursor,
    InvalidIdentifier,
    InvalidTime,
    JobConflict,
    JobNotFound,
    PayloadTooLarge,
    cut,
)
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.job import WHOLE_JOB, Job, JobRef, Origin, Overlap, Pause, Tuning
from duetime.job_ports import JobPage, JobPorts
from duetime.plan import Plan
from duetime.ports import ActionStore, Page
from duetime.register import Register, Registration
from duetime.retry import RetryPolicy
from duetime.schedule import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.explain import Explanation
    from duetime.payload import Payload

When = datetime | timedelta
"""An aware datetime, or a span from now."""

LARGEST_PAGE = 200
LONGEST_REASON = 200
"""Characters of why somebody paused a job."""

_RACES = 10
_OURS, _THEIRS = "own ", "system "


class Jobs:
    """The jobs of one tenant, and those that code declares, in one actor's name; `Scheduler.jobs` is one."""

    def __init__(
        self,
        actions: ActionStore,
        ports: JobPorts,
        *,
        tenant_id: TenantId,
        actor: str,
        clock: Clock,
        settings: Settings,
        sees_system: bool = True,
        entropy: ids.Entropy = os.urandom,
    ) -> None:
        self._actions, self._jobs, self._routes = actions, ports.jobs, ports.routes
        self._tenant_id, self._actor, self._sees_system = tenant_id, actor, sees_system
        self._clock, self._settings, self._entropy = clock, settings, entropy
        self._plan = Plan(actions, ports.jobs, clock=clock, settings=settings)
        self._register = Register(actions, ports.jobs, ports.routes, clock=clock, settings=settings)

    def register(self, job: Registration) -> Job:
        """Declare a job of this tenant's own, for a handler that code registered; it is planned at once.

        Raises:
            DeclarationError: it cannot work as it was said.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            UnknownType: no deployed worker has a handler of that name.
            JobNameTaken: the name is code's, or this tenant's and `replace` was not said.
        """
        return self._register(job, self._tenant_id, self._actor)

    def unregister(self, name: str) -> None:
        """Take back a job that `register` declared: nothing of it runs any more; its history is kept.

        Raises:
            JobNotFound: this tenant has registered no such job.
            JobConflict: code declares it.
        """
        self._register.unregister(name, self._tenant_id)

    def get(self, name: str) -> Job:
        """The job as of now: this tenant's own, or code's.

        Raises:
            JobNotFound: there is none of that name.
        """
        for ref in self._refs(name):
            job = self._jobs.get(ref)
            if job is not None and not (job.origin is Origin.RUNTIME and job.dropped_at):
                return job
        raise JobNotFound(name)

    def list(self, *, limit: int = 50, cursor: str | None = None) -> JobPage:
        """A page of jobs by name: code's first, dropped ones included, then this tenant's own.

        Raises:
            InvalidCursor: the cursor belongs to another list.
        """
        if not 1 <= limit <= LARGEST_PAGE:
            raise ValueError(f"limit is {limit}; allowed is 1 to {LARGEST_PAGE}")
        start = cursor or (_THEIRS if self._sees_system else _OURS)
        of_system = start.startswith(_THEIRS) and self._sees_system
        if not of_system and not start.startswith(_OURS):
            raise InvalidCursor
        kind, tenant = (_THEIRS, SYSTEM_TENANT) if of_system else (_OURS, self._tenant_id)
        after = start.removeprefix(kind)
        if after and not ids.is_job_name(after):
            raise InvalidCursor
        page = self._jobs.list(tenant, limit=limit, cursor=after or None)
        shown = tuple(each for each in page if each.origin is Origin.CODE or not each.dropped_at)
        following = kind + page.cursor if page.cursor else _OURS if of_system else None
        if of_system and page.cursor is None and len(shown) < limit:
            rest = self._own(limit - len(shown))
            return JobPage(shown + rest.jobs, rest.cursor)
        return JobPage(shown, following)

    def _own(self, limit: int) -> JobPage:
        page = self._jobs.list(self._tenant_id, limit=limit, cursor=None)
        return JobPage(
            tuple(each for each in page if not each.dropped_at), _OURS + page.cursor if page.cursor else None
        )

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
        pause = Pause(since=now, by=self._actor, reason=cut(reason, LONGEST_REASON), until=ends_at)

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

    def trigger(self, name: str, *, payload: Payload | None = None) -> Action:
        """Run it now, paused or not; its overlap policy decides where another run has not ended.

        Returns:
            The pending action. With ``overlap="queue_one"`` or ``"cancel_running"`` it waits for the other's end.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is running, and its policy is to skip; or it is dropped.
            PayloadTooLarge: the payload does not fit one DynamoDB item.
        """
        job, now = self.get(name), self._clock.now()
        self._refuse_dropped(job, "trigger")
        if job.running is not None and job.definition.overlap is Overlap.SKIP and self._is_running(job):
            raise JobConflict(
                name, asked="trigger", problem=f"{job.running.id} is running, and its overlap is 'skip'"
            )
        action = self._manual_run(job, payload, now)
        self._actions.put(action)
        return action

    def _is_running(self, job: Job) -> bool:
        holder = self._actions.get(job.running) if job.running else None
        return holder is not None and not holder.status.is_final

    def _manual_run(self, job: Job, payload: Payload | None, now: datetime) -> Action:
        written = job.definition.payload if payload is None else payload.to_json()
        size = len((written or "").encode())
        if size > PAYLOAD_LIMIT:
            raise PayloadTooLarge(job.definition.type, size, PAYLOAD_LIMIT)
        action_id = ids.manual_run_id(job.name, job.version, now, self._entropy)
        return Action(
            tenant_id=job.ref.tenant_id,
            id=action_id,
            type=job.definition.type,
            due_at=now,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=self._actor,
            payload=written,
            payload_version=job.definition.payload_version if payload is None else payload.type_version,
            payload_apart=size > IN_ROW_LIMIT,
            planned_at=now,
        )

    def skip_next(self, name: str, *, cadence: str | None = None) -> Action:
        """Skip the next planned occurrence; the one after it runs.

        Returns:
            The skipped one.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: nothing is planned, or it has no such cadence.
        """
        self._plan(self.get(name).ref)
        for _ in range(_RACES):
            job, now = self.get(name), self._clock.now()
            which = self._cadence(job, cadence, "skip the next run of")
            row = self._next_row(job, which, now)
            if row is None:
                raise JobConflict(name, asked="skip the next run of", problem="none is planned")
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

    def _next_row(self, job: Job, cadence: str, now: datetime) -> Action | None:
        cursor = None
        while True:
            page = self._actions.occurrences(
                job.ref.tenant_id,
                job.name,
                job.version,
                after=now,
                until=max(job.cursor, now),
                limit=LARGEST_PAGE,
                cursor=cursor,
            )
            for row in page:
                is_planned = row.status is Status.PENDING and not ids.is_manual_run(row.id)
                if is_planned and row.attempt == 0 and cadence in {WHOLE_JOB, row.cadence}:
                    return row
            cursor = page.cursor
            if cursor is None:
                return None

    def set(
        self,
        name: str,
        *,
        attempts: int | None = None,
        backoff: float | timedelta | Sequence[float] | None = None,
        jitter: float | None = None,
        cadence: str | None = None,
    ) -> Job:
        """Set how runs are retried, on top of what code says; it survives every deploy. What is left out goes by code again.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no such cadence.
            DeclarationError: a value is out of its range.
        """
        spans = _seconds(backoff)
        tuning = Tuning(attempts=attempts, backoff=spans, jitter=jitter)
        tuning.applied(RetryPolicy())

        def tuned(job: Job) -> Job:
            which = self._cadence(job, cadence, "set")
            others = {key: each for key, each in job.tuning.items() if key != which}
            return replace(job, tuning=others if tuning == Tuning() else {**others, which: tuning})

        return self._change(name, tuned)

    def history(self, name: str, *, limit: int = 50, cursor: str | None = None) -> Page:
        """A page of its runs, newest first, without their payloads: executed, failed, skipped, and those planned.

        Raises:
            JobNotFound: there is no such job.
            InvalidCursor: the cursor belongs to another list.
        """
        if not 1 <= limit <= LARGEST_PAGE:
            raise ValueError(f"limit is {limit}; allowed is 1 to {LARGEST_PAGE}")
        job = self._known(name)
        return self._actions.of_job(
            self._tenant_of_runs(job),
            job.name,
            limit=limit,
            cursor=cursor,
            has_events=bool(job.stacked.triggers),
        )

    def explain(self, name: str, start: When, end: When, *, limit: int = 500) -> Explanation:
        """Account for each nominal time in (start, end]: ran, skipped, missed, not yet due, and why.

        Raises:
            JobNotFound: there is no such job.
            InvalidTime: a bound is naive.
        """
        from duetime.explain import Explain  # noqa: PLC0415 - who does not ask loads nothing of it

        now = self._clock.now()
        explain = Explain(
            self._actions,
            self._jobs,
            clock=self._clock,
            retention=self._settings.retention,
            job_grace=self._settings.job_grace,
        )
        bounds = instant.resolve(start, now=now), instant.resolve(end, now=now)
        return explain(self._known(name).ref, *bounds, limit=limit)

    def _known(self, name: str) -> Job:
        """The job, an unregistered one too: its history is kept."""
        for ref in self._refs(name):
            if job := self._jobs.get(ref):
                return job
        raise JobNotFound(name)

    def _tenant_of_runs(self, job: Job) -> TenantId:
        return job.ref.tenant_id

    def _refs(self, name: str) -> Sequence[JobRef]:
        try:
            checked = ids.job_name(name)
        except InvalidIdentifier:
            raise JobNotFound(name) from None
        tenants = (SYSTEM_TENANT, self._tenant_id) if self._sees_system else (self._tenant_id,)
        return [JobRef(each, checked) for each in tenants]

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
        if job.definition.runs_itself:
            problem = "the clock runs it; DUETIME_ENABLED=false switches everything off"
            raise JobConflict(name, asked="pause", problem=problem)
        self._plan(job.ref)

    def _refuse_dropped(self, job: Job, asked: str) -> None:
        if job.dropped_at is not None:
            since = instant.text(job.dropped_at)
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


def _seconds(backoff: float | timedelta | Sequence[float] | None) -> tuple[float, ...] | None:
    if backoff is None:
        return None
    many = backoff if isinstance(backoff, Sequence) else (backoff,)
    return tuple(each.total_seconds() if isinstance(each, timedelta) else each for each in many)
