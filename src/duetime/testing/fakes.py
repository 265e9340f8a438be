"""A run without a scheduler: call a handler as the plain function that it is."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from duetime.ids import TenantId, new_action_id
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
) -> Run:
    """Make a run without a scheduler.

    ``apply_plan_change(payload, fake_run(now=…))`` calls a handler as the plain function that it is.
    """
    run = Run(
        id=new_action_id(now),
        type="fake",
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
        stop=threading.Event(),
    )
    if cancelled:
        run.stop.set()
    return run
