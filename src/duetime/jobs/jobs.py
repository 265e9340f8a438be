"""Jobs as their operators see them: look, pause, resume, trigger, skip the next, tune, and register one's own.

Everything here needs the tables alone. How a job is looked up is told in `lookup`, how it is operated in `operate`.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from duetime import ids
from duetime.clock import Clock
from duetime.errors import JobConflict, PayloadTooLarge, truncate
from duetime.ids import ActionId, TenantId
from duetime.jobs.operate import JobOperations
from duetime.jobs.register import Register, Registered, Registration
from duetime.model.action import Action, ActionRef
from duetime.model.job import Job, Overlap
from duetime.model.new_action import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobPorts
from duetime.settings import Settings
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.payload import Payload


class Jobs(JobOperations):
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
        random_bytes: ids.Entropy = os.urandom,
    ) -> None:
        super().__init__(
            actions,
            ports.jobs,
            tenant_id=tenant_id,
            actor=actor,
            clock=clock,
            settings=settings,
            sees_system=sees_system,
        )
        self._entropy = random_bytes
        self._register = Register(actions, ports, clock=clock, settings=settings)

    def register(self, job: Registration) -> Job:
        """Declare a job of this tenant's own, for a handler that code registered; it is planned at once.

        Raises:
            DeclarationError: it cannot work as it was said, or asks for what this back end cannot honour.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            InvalidTime: its key's time to live is none.
            UnknownType: no deployed worker has a handler of that name.
            JobNameTaken: the name is code's, or this tenant's and `replace` was not said.
        """
        return self._register(job, self._tenant_id, self._actor)

    def register_and_trigger(self, job: Registration) -> Registered:
        """Declare a job as `register` does, and run it now as `trigger` does.

        The same idempotency key again, while it holds, is the same registration and the same run. So a call that got no
        answer is repeated, and does what is missing.

        Returns:
            The job and the run: the first one of its key, as it is then.

        Raises:
            JobConflict: it was registered, and not triggered: a run of the job whose place it took has not ended.
            DuetimeError: as `register`, and as `trigger`.
        """
        registered, key = self.register(job), job.idempotency_key
        at = registered.registered_at
        if key is None or at is None or not registered.holds_key(key, self._clock.now()):
            return Registered(registered, self.trigger(registered.name))
        run_id = ids.registered_run_id(registered.name, registered.version, at, key)
        first = self._actions.get(ActionRef(registered.ref.tenant_id, run_id))
        return Registered(registered, first or self._trigger(registered.name, None, run_id))

    def unregister(self, name: str) -> None:
        """Take back a job that `register` declared: nothing of it runs any more; its history is kept.

        Raises:
            JobNotFound: this tenant has registered no such job.
            JobConflict: code declares it.
        """
        self._register.unregister(name, self._tenant_id)

    def trigger(self, name: str, *, payload: Payload | None = None) -> Action:
        """Run it now, paused or not; its overlap policy decides where another run has not ended.

        Returns:
            The pending action. With ``overlap="queue_one"`` or ``"cancel_running"`` it waits for the other's end.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is running, and its policy is to skip; or it is dropped.
            PayloadTooLarge: the payload does not fit one DynamoDB item.
        """
        return self._trigger(name, payload)

    def _trigger(self, name: str, payload: Payload | None, run_id: ActionId | None = None) -> Action:
        with spans.span(spans.TRIGGER, lambda: self._asked(name)) as told:
            job, now = self.get(name), self._clock.now()
            self._refuse_dropped(job, "trigger")
            other = job.running if job.running and job.running.id != run_id else None
            if other is not None and job.definition.overlap is Overlap.SKIP and self._is_running(other):
                raise JobConflict(
                    name, asked="trigger", problem=f"{other.id} is running, and its overlap is 'skip'"
                )
            action = self._manual_run(job, payload, now, run_id)
            self._actions.put(action)
            told.about(action)
        return action

    def _asked(self, name: str) -> spans.Attributes:
        return {
            spans.JOB: truncate(name, 100),
            spans.TENANT: self._tenant_id,
            spans.TRIGGERED_BY: self._actor,
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
        action_id = run_id or ids.manual_run_id(job.name, job.version, now, self._entropy)
        return Action(
            tenant_id=job.ref.tenant_id,
            id=action_id,
            type=job.definition.type,
            due_at=now,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=self._actor,
            payload=written,
            payload_version=job.definition.payload_version if payload is None else payload.type_version,
            payload_offloaded=size > IN_ROW_LIMIT,
            planned_at=now,
            trace=spans.carried(),
        )
