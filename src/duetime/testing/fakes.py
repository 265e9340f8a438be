"""A fake run, to call a handler as a plain function."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from duetime.errors import AlreadyCommitted
from duetime.ids import ActionId, JobName, TenantId, event_run_id, manual_run_id, new_action_id, occurrence_id
from duetime.memory.store import OnCommit
from duetime.model.action import Trigger
from duetime.model.run import Entry, Run
from duetime.testing.turned_clock import TurnedClock

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
    on_commit: OnCommit | None = None,
) -> Run:
    """Make a run without a scheduler.

    ``apply_plan_change(payload, fake_run(now=…))`` calls a handler as a plain function. With `job` the run
    is that job's: due by its `cadence`, or triggered manually, unless `trigger` is set. `Run.committed`
    holds what it commits; `on_commit` receives it first, and may raise `CommitRejected`.
    """
    usual = Trigger.SCHEDULED if job is None else Trigger.CADENCE if cadence else Trigger.MANUAL
    run_id = _id(job, trigger or usual, now)
    run = Run(
        id=run_id,
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
        committing=_Recorder(run_id, on_commit),
    )
    if cancelled:
        run.stop.set()
    return run


class _Recorder:
    def __init__(self, action_id: ActionId, on_commit: OnCommit | None) -> None:
        self._action_id, self._on_commit = action_id, on_commit
        self.entries: Sequence[Entry] | None = None

    def __call__(self, entries: Sequence[Entry]) -> None:
        if self.entries is not None:
            raise AlreadyCommitted(self._action_id)
        if self._on_commit is not None and entries:
            self._on_commit(entries)
        self.entries = entries


def _id(job: str | None, trigger: Trigger, now: datetime) -> ActionId:
    if job is None:
        return new_action_id(now)
    if trigger is Trigger.EVENT:
        return event_run_id(JobName(job), now, "fake")
    return (manual_run_id if trigger is Trigger.MANUAL else occurrence_id)(JobName(job), 1, now)
