"""Operate a job: pause, resume, trigger, skip the next run, set retries. Every deploy keeps these changes.

Code alone sets the timing of a job that it declares. EventBridge follows a change within a minute; see
`maintain`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.errors import InvalidArgument, StateConflict, too_large, truncate
from duetime.ids import ActionId
from duetime.instant import When
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.claim_policy import is_first
from duetime.jobs.maintain import changed, resumed
from duetime.jobs.plan import Plan
from duetime.jobs.tenant_context import TenantContext
from duetime.jobs.upcoming import upcoming
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.event_chain import current_depth
from duetime.model.job import WHOLE_JOB, Job, Overlap, Pause
from duetime.model.new_action import PAYLOAD_LIMIT, offloaded
from duetime.model.row_parts import RunPlan
from duetime.model.work_pause import check_end
from duetime.ports.backends import JobTables
from duetime.retry import Duration, RetryPolicy, Tuning, back_offs
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.payload import Payload

LONGEST_REASON = 200
"""Characters of the reason for a pause."""

_SKIP = "skip the next run of"
# Upcoming runs that `skip_next` examines; those before the next one are skipped already.
_LOOKED_AT = 100


class JobOperations:
    """Changes a job in the name of one actor."""

    def __init__(self, context: TenantContext, tables: JobTables, get: Callable[[str], Job]) -> None:
        self._context, self._actions, self._jobs, self._get = context, tables.store, tables.jobs, get
        self._plan = Plan(tables, watches=False)

    def pause(self, name: str, reason: str, until: When | None, cadence: str | None) -> Job:
        """Pause a job; see `Jobs.pause`."""
        now = self._context.clock.now()
        ends_at = None if until is None else instant.resolve(until, now=now, field="until")
        if ends_at is not None and ends_at <= now:
            raise InvalidArgument(
                "has passed; a pause ends in the future", value=instant.text(ends_at), field="until"
            )
        check_end(ends_at, is_required=self._context.settings.pause_needs_end)
        pause = Pause(
            since=now, by=self._context.actor, reason=truncate(reason, LONGEST_REASON), until=ends_at
        )

        def paused(job: Job) -> Job:
            _refuse_removed(job, "pause")
            which = _cadence(job, cadence, "pause")
            current = job.pauses.get(which)
            new = current.beside(pause) if current and not current.is_over(now) else pause
            return changed(replace(job, pauses={**job.pauses, which: new}), now)

        self._plan_up_to_now(name)
        over = self._get(name).pauses.get(cadence or WHOLE_JOB)
        if over is not None and over.is_over(now):
            with suppress(StateConflict):  # maintenance has just ended it
                self.resume(name, cadence)
        return self._change(name, paused)

    def resume(self, name: str, cadence: str | None) -> Job:
        """End a pause; see `Jobs.resume`."""
        which = cadence or WHOLE_JOB

        def resume() -> Job | Conflict:
            job = self._get(name)
            if which not in job.pauses:
                _cadence(job, cadence, "resume")
                others = ", ".join(filter(None, job.pauses))
                hint = f"; paused are its cadences {others}" if others else ""
                raise StateConflict(
                    f"cannot resume job {name}", f"it is not paused{hint}", code="job-conflict"
                )
            after, paused = resumed(job, [which], self._context.clock.now())
            return job if self._jobs.change(job, after, spans=paused) else CHANGED

        self._plan_up_to_now(name)
        self._plan(change_with_retry(resume, f"job {name}").ref)
        return self._get(name)

    def skip_next(self, name: str, cadence: str | None) -> Action:
        """Skip the next run; see `Jobs.skip_next`."""

        def skip() -> Action | Conflict:
            job, now = self._get(name), self._context.clock.now()
            _refuse_removed(job, _SKIP)
            which = _cadence(job, cadence, _SKIP)
            row = self._next_row(job, which, now)
            if row is None:
                raise StateConflict(
                    f"cannot {_SKIP} job {name}", _why_none(job, which, now), code="job-conflict"
                )
            ended = transition.skipped(
                row,
                SkipReason.REQUESTED,
                note=f"skipped by {self._context.actor}",
                by=self._context.actor,
                at=now,
                kept_until=max(now, row.nominal_at) + self._context.settings.retention,
            )
            return ended if self._jobs.end_pending(row, ended, job.ref) else CHANGED

        return change_with_retry(skip, f"the next run of {name}")

    def set(
        self,
        name: str,
        attempts: int | None,
        backoff: Duration | Sequence[Duration] | None,
        jitter: float | None,
        cadence: str | None,
    ) -> Job:
        """Set how runs are retried; see `Jobs.set`."""
        waits = None if backoff is None else tuple(wait.total_seconds() for wait in back_offs(backoff))
        tuning = Tuning(attempts=attempts, backoff=waits, jitter=jitter)
        tuning.applied(RetryPolicy())

        def tuned(job: Job) -> Job:
            which = _cadence(job, cadence, "set")
            others = {key: value for key, value in job.tuning.items() if key != which}
            return replace(job, tuning=others if tuning == Tuning() else {**others, which: tuning})

        return self._change(name, tuned)

    def trigger(self, name: str, payload: Payload | None, run_id: ActionId | None = None) -> Action:
        """Run a job now; see `Jobs.trigger`."""
        attributes: spans.Attributes = {
            spans.JOB: truncate(name, 100),
            spans.TENANT: self._context.tenant_id,
            spans.TRIGGERED_BY: self._context.actor,
        }
        with spans.span(spans.TRIGGER, lambda: attributes) as span:
            job, now = self._get(name), self._context.clock.now()
            _refuse_removed(job, "trigger")
            if job.running and job.running.id != run_id and job.definition.overlap is Overlap.SKIP:
                self._refuse_running(job, job.running)
            action = self._manual_run(job, payload, now, run_id)
            self._actions.put(action)
            span.about(action)
        return action

    def _refuse_running(self, job: Job, ref: ActionRef) -> None:
        holder = next(iter(self._actions.get_rows([ref])), None)
        if holder is not None and not holder.status.is_final:
            problem = f"{ref.id} is running, and its overlap is 'skip'"
            raise StateConflict(f"cannot trigger job {job.name}", problem, code="job-conflict")

    def _manual_run(
        self, job: Job, payload: Payload | None, now: datetime, run_id: ActionId | None
    ) -> Action:
        written = job.definition.payload if payload is None else payload.to_json()
        size = len((written or "").encode())
        if size > PAYLOAD_LIMIT:
            raise too_large(job.definition.type, size, PAYLOAD_LIMIT)
        action_id = run_id or ids.manual_run_id(job.name, job.version, now, self._context.random_bytes)
        return Action(
            tenant_id=job.ref.tenant_id,
            id=action_id,
            type=job.definition.type,
            due_at=now,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=self._context.actor,
            payload=written,
            payload_version=job.definition.payload_version if payload is None else payload.type_version,
            payload_size=offloaded(size),
            planned=RunPlan(now),
            trace=spans.carried(),
            depth=current_depth(),
        )

    def _next_row(self, job: Job, cadence: str, now: datetime) -> Action | None:
        """Return the next run that is not skipped; write its row if it is not planned."""
        if job.definition.self_scheduled:
            return None
        for due in islice(upcoming(job, now, cadence), _LOOKED_AT):
            ref = ActionRef(job.ref.tenant_id, ids.occurrence_id(job.name, job.version, due.at))
            row = self._actions.get(ref) or self._plan.ahead(job, due)
            if is_first(row):
                return row
        return None

    def _change(self, name: str, change: Callable[[Job], Job]) -> Job:
        def write() -> Job | Conflict:
            job = self._get(name)
            return self._get(name) if self._jobs.change(job, change(job)) else CHANGED

        return change_with_retry(write, f"job {name}")

    def _plan_up_to_now(self, name: str) -> None:
        """Record all nominal times up to now, before a pause begins or ends."""
        job = self._get(name)
        if job.definition.self_scheduled:
            problem = "the clock runs it; DUETIME_ENABLED=false switches everything off"
            raise StateConflict(f"cannot pause job {name}", problem, code="job-conflict")
        self._plan(job.ref)


def _refuse_removed(job: Job, operation: str) -> None:
    """Reject an operation on a job that code no longer declares.

    Raises:
        StateConflict: the job is removed.
    """
    if job.removed_at is not None:
        problem = f"code no longer declares it, since {instant.text(job.removed_at)}"
        raise StateConflict(f"cannot {operation} job {job.name}", problem, code="job-conflict")


def _cadence(job: Job, cadence: str | None, operation: str) -> str:
    if cadence is None:
        return WHOLE_JOB
    if cadence not in {*job.cadence_set.by_name, *job.pauses}:
        known = ", ".join(job.cadence_set.by_name)
        problem = f"it has no cadence {cadence!r}; its cadences are {known}"
        raise StateConflict(f"cannot {operation} job {job.name}", problem, code="job-conflict")
    return cadence


def _why_none(job: Job, cadence: str, now: datetime) -> str:
    if job.definition.self_scheduled:
        return "the clock runs it, and its runs are not planned"
    if next(upcoming(job, now, cadence), None) is not None:
        return f"its next {_LOOKED_AT} are skipped already; pause it instead"
    if job.pauses:
        return "it has no next run while it is paused; resume it first"
    return "it has no next run; cancel a run that a trigger or an event has started"
