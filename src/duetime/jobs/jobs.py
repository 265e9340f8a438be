"""Jobs for their operators: look up, pause, resume, trigger, skip the next run, set retries, and register.

This module needs the tables alone, and no EventBridge.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from duetime import ids
from duetime.errors import JobConflict, PayloadTooLarge, truncate
from duetime.ids import ActionId
from duetime.instant import When
from duetime.jobs.lookup import JobLookup
from duetime.jobs.operate import JobOperations, refuse_removed
from duetime.jobs.register import Register, Registered, Registration
from duetime.jobs.tenant_context import TenantContext
from duetime.model.action import Action, ActionRef, Status
from duetime.model.job import Job, Overlap
from duetime.model.new_action import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.ports.actions import Page
from duetime.ports.jobs import JobPage, JobPorts
from duetime.retry import Duration
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.jobs.explain import Explanation
    from duetime.payload import Payload


class Jobs:
    """The jobs of one tenant, and those that code declares, in one actor's name; `Scheduler.jobs` is one."""

    def __init__(self, context: TenantContext, ports: JobPorts) -> None:
        """Use the context's tenant and actor, and the back ends of jobs."""
        self._context, self._actions = context, context.store
        self._lookup = JobLookup(context, ports.jobs)
        self._operations = JobOperations(context, ports.jobs, self._lookup.get)
        self._register = Register(context.store, ports, clock=context.clock, settings=context.settings)

    def get(self, name: str) -> Job:
        """Return a job in its present state: this tenant's own, or code's.

        Raises:
            JobNotFound: there is no job of that name.
        """
        return self._lookup.get(name)

    def list(self, *, limit: int = 50, cursor: str | None = None) -> JobPage:
        """Return a page of jobs by name: code's first, removed ones included, then this tenant's own.

        Raises:
            InvalidCursor: the cursor belongs to another list.
        """
        return self._lookup.list(limit, cursor)

    def history(
        self,
        name: str,
        *,
        status: Status | str | Collection[Status | str] | None = None,
        nominal_after: When | None = None,
        nominal_until: When | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Return a page of a job's runs without their payloads, newest first.

        Executed, failed, skipped, planned.

        The filters apply to the runs read. A page may thus be short or empty, and still have a cursor.

        Args:
            name: the job.
            status: only runs with this status, or with one of these.
            nominal_after: only runs for a time after this one.
            nominal_until: only runs for a time at or before this one.
            limit: the most runs, 1 to 200.
            cursor: the `cursor` of the previous page, with the same filters.

        Raises:
            JobNotFound: there is no such job.
            InvalidCursor: the cursor belongs to another list.
            InvalidSelection: there is no such status, or the range ends before it begins.
            InvalidTime: a bound is naive, or lies outside the years 1970 to 2199.
        """
        return self._lookup.history(
            name,
            status=status,
            nominal_after=nominal_after,
            nominal_until=nominal_until,
            limit=limit,
            cursor=cursor,
        )

    def explain(self, name: str, start: When, end: When, *, limit: int = 500) -> Explanation:
        """Return the status of each nominal time in (start, end]: ran, skipped, missed, not yet due, and why.

        Raises:
            JobNotFound: there is no such job.
            InvalidTime: a bound is naive.
        """
        return self._lookup.explain(name, start, end, limit)

    def pause(
        self, name: str, *, reason: str = "", until: When | None = None, cadence: str | None = None
    ) -> Job:
        """Start no run from now on.

        A run in progress ends, and so do its retries; new occurrences are skipped.

        Args:
            name: the job.
            reason: the reason, of at most 200 characters.
            until: when the pause ends by itself.
            cadence: the name of the one cadence to pause.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no such cadence, or it is removed.
            InvalidTime: `until` is naive or not in the future.
        """
        return self._operations.pause(name, reason, until, cadence)

    def resume(self, name: str, *, cadence: str | None = None) -> Job:
        """End a pause. The next occurrence is planned at once; occurrences of the pause are not made up for.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is not paused, or has no such cadence.
        """
        return self._operations.resume(name, cadence)

    def skip_next(self, name: str, *, cadence: str | None = None) -> Action:
        """Skip the next occurrence that would run, planned or not; the one after it runs.

        Args:
            name: the job.
            cadence: the name of the one cadence whose next occurrence is skipped.

        Returns:
            The skipped one.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no next occurrence, or no such cadence.
        """
        return self._operations.skip_next(name, cadence)

    def set(
        self,
        name: str,
        *,
        attempts: int | None = None,
        backoff: Duration | Sequence[Duration] | None = None,
        jitter: float | None = None,
        cadence: str | None = None,
    ) -> Job:
        """Set how runs are retried, in place of code's values; every deploy keeps this.

        A value that is left out is code's again.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it has no such cadence.
            DeclarationError: a value is out of its range.
        """
        return self._operations.set(name, attempts, backoff, jitter, cadence)

    def register(self, job: Registration) -> Job:
        """Declare a job of this tenant's own, for a handler that code registered; it is planned at once.

        Raises:
            DeclarationError: its parts contradict each other, or this back end cannot honour it.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            InvalidTime: its key's time to live is out of range.
            UnknownType: no deployed worker has a handler of that name.
            JobNameTaken: the name is code's, or this tenant's and `replace` is not set.
        """
        return self._register(job, self._context.tenant_id, self._context.actor)

    def register_and_trigger(self, job: Registration) -> Registered:
        """Declare a job as `register` does, and run it now as `trigger` does.

        The same idempotency key again, while it holds, is the same registration and the same run. After a
        lost response, repeat the call; it does what is missing.

        Returns:
            The job and the run: the first one of its key, in its present state.

        Raises:
            JobConflict: the job is registered and not triggered, since a run of the replaced job has not
                ended.
            DuetimeError: see `register` and `trigger`.
        """
        registered, key = self.register(job), job.idempotency_key
        at = registered.registered_at
        if key is None or at is None or not registered.holds_key(key, self._context.clock.now()):
            return Registered(registered, self.trigger(registered.name))
        run_id = ids.registered_run_id(registered.name, registered.version, at, key)
        first = self._actions.get(ActionRef(registered.ref.tenant_id, run_id))
        return Registered(registered, first or self._trigger(registered.name, None, run_id))

    def unregister(self, name: str) -> None:
        """Remove a job that `register` declared: it runs no more; its history remains.

        Raises:
            JobNotFound: this tenant has registered no such job.
            JobConflict: code declares it.
        """
        self._register.unregister(name, self._context.tenant_id)

    def trigger(self, name: str, *, payload: Payload | None = None) -> Action:
        """Run a job now, paused or not; its overlap policy applies if another run has not ended.

        Returns:
            The pending action. With ``overlap="queue_one"`` or ``"cancel_running"`` it waits for the other's
                end.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is running, and its policy is to skip; or it is removed.
            PayloadTooLarge: the payload does not fit one DynamoDB item.
        """
        return self._trigger(name, payload)

    def _trigger(self, name: str, payload: Payload | None, run_id: ActionId | None = None) -> Action:
        with spans.span(spans.TRIGGER, lambda: self._attributes(name)) as span:
            job, now = self.get(name), self._context.clock.now()
            refuse_removed(job, "trigger")
            other = job.running if job.running and job.running.id != run_id else None
            if other is not None and job.definition.overlap is Overlap.SKIP and self._is_running(other):
                problem = f"{other.id} is running, and its overlap is 'skip'"
                raise JobConflict(name, operation="trigger", problem=problem)
            action = self._manual_run(job, payload, now, run_id)
            self._actions.put(action)
            span.about(action)
        return action

    def _attributes(self, name: str) -> spans.Attributes:
        return {
            spans.JOB: truncate(name, 100),
            spans.TENANT: self._context.tenant_id,
            spans.TRIGGERED_BY: self._context.actor,
        }

    def _is_running(self, ref: ActionRef) -> bool:
        holder = self._actions.get(ref)
        return holder is not None and not holder.status.is_final

    def _manual_run(
        self, job: Job, payload: Payload | None, now: datetime, run_id: ActionId | None
    ) -> Action:
        written = job.definition.payload if payload is None else payload.to_json()
        size = len((written or "").encode())
        if size > PAYLOAD_LIMIT:
            raise PayloadTooLarge(job.definition.type, size, PAYLOAD_LIMIT)
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
            payload_offloaded=size > IN_ROW_LIMIT,
            planned_at=now,
            trace=spans.carried(),
        )
