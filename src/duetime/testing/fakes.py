"""A run without a scheduler: call a handler as the plain function that it is."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from duetime.action import Trigger
from duetime.ids import ActionId, JobName, TenantId, event_run_id, manual_run_id, new_action_id, occurrence_id
from duetime.run import Run
from duetime.testing.simulated import TurnedClock

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def fake_run(
    *,
    now: datetime = _NOON,
    tenant_id: str = "acme",
    actor: str = "tester",
    correlation_id: str | None = None,
    attempt: int = 1,
    timeout: timedelta = timedelta(minutes=5),
    cancelled: bool = False,
    job: str | None = None,
    cadence: str | None = None,
    trigger: Trigger | None = None,
) -> Run:
    """Make a run without a scheduler.

    ``apply_plan_change(payload, fake_run(now=…))`` calls a handler as the plain function that it is. With `job` it is a
    run of that job, made due by its `cadence`, or else triggered by somebody, unless `trigger` says otherwise.
    """
    usual = Trigger.SCHEDULED if job is None else Trigger.CADENCE if cadence else Trigger.MANUAL
    run = Run(
        id=_id(job, trigger or usual, now),
        type=job or "fake",
        tenant_id=TenantId(tenant_id),
        actor=actor,
        correlation_id=correlation_id,
        attempt=attempt,
        fence=attempt,
        nominal_at=now,
        due_at=now,
        deadline=now + timeout,
        clock=TurnedClock(now),
        log=logging.LoggerAdapter(logging.getLogger("duetime.handlers"), {}),
        job=None if job is None else JobName(job),
        cadence=cadence,
        trigger=trigger or usual,
        stop=threading.Event(),
    )
    if cancelled:
        run.stop.set()
    return run


def _id(job: str | None, trigger: Trigger, now: datetime) -> ActionId:
    if job is None:
        return new_action_id(now)
    if trigger is Trigger.EVENT:
        return event_run_id(JobName(job), now, "fake")
    return (manual_run_id if trigger is Trigger.MANUAL else occurrence_id)(JobName(job), 1, now)
