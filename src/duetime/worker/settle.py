"""The end of a run, *settle*: of a one-shot one write; of a job's run the unlocking and the tally go with it.

The run that waits for the lock is woken at once. A run that will repeat keeps the lock. A run that commits
settles in the same way, and its handler's own writes go with that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.model.action import Action, Status, Trigger
from duetime.model.job import JobRef, Overlap
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run import Entry
from duetime.model.run_stats import EndedRun
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore, LockRequirement
from duetime.ports.wakeups import DueQueues, Routes
from duetime.wakeups.due_messages import message_of, send_wakes
from duetime.worker.claim_job_run import ClaimWon, job_ref_of

log = logging.getLogger(__name__)

_Alone = Callable[[Action, Settlement], SettleResult]
_Locked = Callable[[Action, Settlement, JobRef, EndedRun], SettleResult]


class Settle:
    """Settles what was claimed."""

    def __init__(
        self, actions: ActionStore, jobs: JobStore, queues: DueQueues, routes: Routes, *, clock: Clock
    ) -> None:
        self._actions, self._jobs = actions, jobs
        self._queues, self._routes, self._clock = queues, routes, clock

    def __call__(self, held: ClaimWon, settlement: Settlement) -> SettleResult:
        """Settle a run as `settlement` says."""
        return self._end(held, settlement, self._actions.settle, self._jobs.settle)

    def commit(
        self, held: ClaimWon, settlement: Settlement, entries: Sequence[Entry], number: int
    ) -> SettleResult:
        """Settle a run as `settlement` says, and write its handler's own entries with it.

        `number` counts its commits.

        Raises:
            CommitRefused: as `ActionStore.commit`, and the others.
        """
        alone = partial(self._actions.commit, entries=entries, number=number)
        locked = partial(self._jobs.commit, entries=entries, number=number)
        return self._end(held, settlement, alone, locked)

    def _end(self, held: ClaimWon, settlement: Settlement, alone: _Alone, locked: _Locked) -> SettleResult:
        """Settle a run in one of two ways: its row `alone`, or with the lock of its job."""
        action, ref = held.action, job_ref_of(held.action)
        if ref is None or held.job is None or settlement.status is Status.PENDING:
            return alone(action, settlement)
        ended = EndedRun(
            id=action.id,
            status=settlement.status.value,
            started_at=action.attempts[-1].started_at,
            error=settlement.message,
            triggered_by=action.created_by if action.trigger is Trigger.MANUAL else None,
        )
        if held.hold is not LockRequirement.LOCK:
            return self._count(held, alone(action, settlement), ref, ended)
        result = locked(action, settlement, ref, ended)
        if held.job.definition.overlap in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}:
            _try_to(lambda: self._wake_next(ref), action)
        return result

    def _count(self, held: ClaimWon, result: SettleResult, ref: JobRef, ended: EndedRun) -> SettleResult:
        """Count a run without the lock.

        Thousands of event runs a second must not all write to their job's row.
        """
        was_failing = held.job is not None and held.job.tally.consecutive_failures > 0
        is_telling = ended.status != Status.EXECUTED or was_failing or held.hold is LockRequirement.UNCHANGED
        if result is SettleResult.SETTLED and is_telling:
            _try_to(lambda: self._jobs.count(ref, ended), held.action)
        return result

    def _wake_next(self, ref: JobRef) -> None:
        """Wake the run that waits for the lock; if that fails, it looks again by itself."""
        job = self._jobs.get(ref)
        waiting = self._actions.get(job.waiting) if job and job.waiting else None
        if waiting is not None:
            send_wakes([message_of(waiting)], self._queues, self._routes, self._clock)


def _try_to(do: Callable[[], None], action: Action) -> None:
    """Do what is left after a settle: it must not make the message come again."""
    try:
        do()
    except DuetimeError as error:
        log.warning("left for later", extra={"action": action.id, "reason": truncate(error)})
