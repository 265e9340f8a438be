"""Step 3, *dispatch*: a fired timer, schedule or rule becomes a due message, a plan or a run.

An action's timer becomes a due message with the exact remaining delay. The timer fires early and up to a
minute late; the queue carries the rest. No row is read: a claim rejects the message of a stale timer. A job's
wake plans its next runs. An event that a job waits for becomes a run of that job.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime import ids, instant
from duetime.errors import InvalidArgument, too_large, truncate
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.jobs.desired_wakes import is_owner
from duetime.jobs.plan import Plan
from duetime.jobs.token_buckets import TokenBuckets
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action, SkipReason, Status
from duetime.model.event_chain import EVENT_DEPTH, depth_of
from duetime.model.job import Job, JobRef
from duetime.model.new_action import PAYLOAD_LIMIT, offloaded
from duetime.model.quota import Quota, limit_of
from duetime.model.row_parts import RunPlan
from duetime.ports.backends import Backends
from duetime.ports.wakeups import DueMessage
from duetime.wakeups.due_messages import PhaseSleep, delay_until, send_wake

if TYPE_CHECKING:
    from duetime.cadence.triggers import OnEvent

log = logging.getLogger(__name__)

_MINUTE = timedelta(minutes=1)

Event = Mapping[str, Any]
"""An event as EventBridge has it: ``id``, ``time``, ``source``, ``detail-type``, ``detail``."""


class Dispatch:
    """Turns fired timers into due messages. Holds no user code."""

    def __init__(self, backends: Backends, *, in_phase: bool = False) -> None:
        self._queues, self._routes, self._clock = backends.queues, backends.routes, backends.clock
        self._settings, self._in_phase = backends.settings, in_phase

    def __call__(self, message: DueMessage) -> int:
        """Send `message` to its worker's queue; return the remaining seconds.

        Raises:
            BackendUnavailable: the queue did not take it; the wake may be repeated.
        """
        start, fewest = self._settings.start, self._settings.made.sleeps_from
        sleep = PhaseSleep(self._clock, fewest=fewest) if self._in_phase else None
        send_wake(message, self._queues, self._routes, self._clock, start=start, sleep=sleep)
        return delay_until(message.due_at, self._clock.now(), start)


class DispatchJobs:
    """Turns the wakes and events of jobs into occurrences and runs.

    `wake` plans a job; it changes nothing for an unknown, paused or removed one.
    """

    def __init__(self, backends: Backends, plan: Plan, pauses: KnownPauses) -> None:
        self._actions, self._jobs, self.wake = backends.store, backends.jobs, plan
        self._clock, self._settings, self._pauses = backends.clock, backends.settings, pauses
        self._buckets = TokenBuckets(backends.clock, _MINUTE)

    def event(self, ref: JobRef, cadence: str, event: Event) -> Action | None:
        """Start a run of a job for an event, once, however often the event comes.

        Returns:
            The run, skipped while its tenant is paused; None if the job no longer waits for the event, or if
            a run that was refused for its depth caused the event.

        Raises:
            InvalidPayload: the event's detail does not fit one DynamoDB item.
            InvalidArgument: the event has no time.
            BackendUnavailable: it is unknown whether it was scheduled; the event may be repeated.
        """
        job = self._jobs.get(ref)
        if job is None or job.removed_at is not None or cadence not in job.cadence_set.by_name:
            log.info("event of no job", extra={"job": ref.name, "event": event.get("id")})
            return None
        if depth_of(event) > EVENT_DEPTH:
            log.warning("event of a refused run", extra={"job": ref.name, "event": event.get("id")})
            return None  # so the chain ends
        if ref.tenant_id != SYSTEM_TENANT and not is_owner(
            ref.tenant_id, _trigger_of(job, cadence), event, self._settings
        ):
            return None  # a tenant's own job is started by its own events alone
        run = self._unless_held(self._run_of(job, cadence, event))
        if run.status is Status.SKIPPED:
            self._actions.record(run)
        else:
            self._actions.put(run)
        return run

    def _unless_held(self, run: Action) -> Action:
        """Return the run; as skipped if its tenant is paused or beyond its quota: events must not pile up."""
        if run.status is Status.SKIPPED:
            return run
        if (pause := self._pauses.of_tenant(run.tenant_id)) is not None:
            note = f"the tenant {pause.name} was paused by {pause.by}: {pause.reason}"
            return self._skipped(run, SkipReason.PAUSED, note)
        limit = limit_of(self._settings, run.tenant_id, Quota.EVENTS)
        if not self._buckets.take(run.tenant_id, limit):
            note = f"events of {run.tenant_id} came too fast: its quota of events is {limit} a minute"
            return self._skipped(run, SkipReason.REFUSED, note)
        return run

    def _skipped(self, run: Action, reason: SkipReason, note: str) -> Action:
        return replace(
            run,
            status=Status.SKIPPED,
            skip_reason=reason,
            note=truncate(note),
            kept_until=run.due_at + self._settings.retention,
        )

    def _run_of(self, job: Job, cadence: str, event: Event) -> Action:
        now, tenant_id, refusal = self._clock.now(), *_tenant_of(job, cadence, event)
        depth, most = depth_of(event) + 1, EVENT_DEPTH
        if depth > most:
            refusal = f"{most} events in a row led to it; jobs that start each other must stop by then"
        written = json.dumps(event.get("detail") or {}, separators=(",", ":"))
        size = len(written.encode())
        if size > PAYLOAD_LIMIT:
            raise too_large(job.definition.type, size, PAYLOAD_LIMIT)
        if "time" not in event:
            raise InvalidArgument("is no time; an event of EventBridge has one", value=None)
        happened_at = instant.parse(event["time"])
        owner = None if tenant_id == job.ref.tenant_id else job.ref.tenant_id
        action_id = ids.event_run_id(job.name, happened_at, _id_of(event))
        return Action(
            tenant_id=tenant_id,
            id=action_id,
            type=job.definition.type,
            due_at=now,
            first_due_at=happened_at,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=truncate(f"event:{event.get('source', '')}", ids.KEY_LIMIT),
            payload=written,
            payload_version=job.definition.payload_version,
            payload_size=offloaded(size),
            planned=RunPlan(now, cadence, job_tenant=owner),
            depth=depth,
            status=Status.SKIPPED if refusal else Status.PENDING,
            skip_reason=SkipReason.REFUSED if refusal else None,
            note=refusal,
            kept_until=now + self._settings.retention if refusal else None,
        )


def _id_of(event: Event) -> str:
    """Return the event's id; for an own event, which may be published twice, the id of its transition."""
    detail = event.get("detail")
    if event.get("source") == ids.EVENT_SOURCE and isinstance(detail, Mapping) and "id" in detail:
        return str(detail["id"])
    return str(event["id"])


def _tenant_of(job: Job, cadence: str, event: Event) -> tuple[TenantId, str | None]:
    """Return the tenant of the event's run, and the reason if the run is refused.

    The bus has admitted the sender, so the sender names the tenant.
    """
    trigger = _trigger_of(job, cadence)
    if not trigger.tenant or job.ref.tenant_id != SYSTEM_TENANT:
        return job.ref.tenant_id, None
    try:
        return ids.tenant(trigger.tenant_of(event)), None
    except InvalidArgument as error:
        refusal = f"the event names no tenant at {trigger.tenant}: {error.problem}"
        return job.ref.tenant_id, truncate(refusal) if trigger.no_tenant == "refuse" else None


def _trigger_of(job: Job, cadence: str) -> OnEvent:
    return next(trigger for trigger in job.cadence_set.triggers if trigger.name == cadence)
