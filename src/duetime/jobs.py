"""Jobs as their operators see them: look, pause, resume, trigger, skip the next, tune, and register one's own.

Everything here needs the tables alone. How a job is looked up is told in `lookup`, how it is operated in `operate`.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from duetime import ids, trace
from duetime.action import Action
from duetime.action_ports import ActionStore
from duetime.clock import Clock
from duetime.errors import JobConflict, PayloadTooLarge, cut
from duetime.ids import TenantId
from duetime.job import Job, Overlap
from duetime.job_ports import JobPorts
from duetime.operate import JobOperations
from duetime.register import Register, Registration
from duetime.schedule import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.settings import Settings

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
        entropy: ids.Entropy = os.urandom,
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
        self._entropy = entropy
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

    def trigger(self, name: str, *, payload: Payload | None = None) -> Action:
        """Run it now, paused or not; its overlap policy decides where another run has not ended.

        Returns:
            The pending action. With ``overlap="queue_one"`` or ``"cancel_running"`` it waits for the other's end.

        Raises:
            JobNotFound: there is no such job.
            JobConflict: it is running, and its policy is to skip; or it is dropped.
            PayloadTooLarge: the payload does not fit one DynamoDB item.
        """
        with trace.span(trace.TRIGGER, lambda: self._asked(name)) as told:
            job, now = self.get(name), self._clock.now()
            self._refuse_dropped(job, "trigger")
            if job.running is not None and job.definition.overlap is Overlap.SKIP and self._is_running(job):
                raise JobConflict(
                    name, asked="trigger", problem=f"{job.running.id} is running, and its overlap is 'skip'"
                )
            action = self._manual_run(job, payload, now)
            self._actions.put(action)
            told.about(action)
        return action

    def _asked(self, name: str) -> trace.Attributes:
        return {trace.JOB: cut(name, 100), trace.TENANT: self._tenant_id, trace.TRIGGERED_BY: self._actor}

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
            trace=trace.carried(),
        )
