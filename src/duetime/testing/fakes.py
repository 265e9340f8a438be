"""Fake runs and batches, to call a handler as a plain function."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from duetime.declare.batch import Batch, BatchItem
from duetime.ids import ActionId, JobName, TenantId, event_run_id, manual_run_id, new_action_id, occurrence_id
from duetime.model.action import Trigger
from duetime.model.checkpoint import Checkpoint, checkpoint_text
from duetime.model.row_parts import Progress
from duetime.model.run import Entry, Run, already_committed
from duetime.payload import Payload
from duetime.ports.row_store import OnCommit
from duetime.testing.turned_clock import TurnedClock

P = TypeVar("P", bound=Payload)

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
    token: str = "token",  # noqa: S107 - no secret
    on_progress: Callable[[Progress], None] = lambda _progress: None,
    last_checkpoint: object = None,
) -> Run:
    """Make a run without a scheduler.

    ``apply_plan_change(payload, fake_run(now=…))`` calls a handler as a plain function. With `job` the run
    is that job's: due by its `cadence`, or triggered manually, unless `trigger` is set. `Run.committed`
    holds what it commits; `on_commit` receives it first, and may raise `CommitRejected`. `on_progress`
    receives what it reports. `last_checkpoint` is what an earlier run stored; `Run.last_checkpoint` holds
    what this one stores.
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
        external=_External(token, on_progress),
        checkpointing=_Checkpoints(last_checkpoint),
    )
    if cancelled:
        run.stop.set()
    return run


def fake_batch(*payloads: P, **options: Any) -> Batch[P]:
    """Make a batch of payloads, each with a `fake_run`, which gets the options.

    `Batch.failure_of` returns the error with which the handler failed a run.
    """
    return Batch(BatchItem(payload, fake_run(**options)) for payload in payloads)


class _Checkpoints:
    """The checkpoints of a run without a scheduler."""

    def __init__(self, former: object) -> None:
        self._number = 0
        self.latest = None if former is None else Checkpoint(checkpoint_text(former), 0, 0)

    def __call__(self, text: str) -> None:
        """See `duetime.model.run.Checkpointing`."""
        self._number += 1
        self.latest = Checkpoint(text, 1, self._number)


class _Recorder:
    def __init__(self, action_id: ActionId, on_commit: OnCommit | None) -> None:
        self._action_id, self._on_commit = action_id, on_commit
        self.entries: Sequence[Entry] | None = None

    def __call__(self, entries: Sequence[Entry]) -> None:
        if self.entries is not None:
            raise already_committed(self._action_id)
        if self._on_commit is not None and entries:
            self._on_commit(entries)
        self.entries = entries


@dataclass(frozen=True, slots=True)
class _External:
    token: str
    report: Callable[[Progress], None]


def _id(job: str | None, trigger: Trigger, now: datetime) -> ActionId:
    if job is None:
        return new_action_id(now)
    if trigger is Trigger.EVENT:
        return event_run_id(JobName(job), now, "fake")
    return (manual_run_id if trigger is Trigger.MANUAL else occurrence_id)(JobName(job), 1, now)
