"""The end of a run, *settle*: write its result; for a job's run also free the lock and count the run.

A settle wakes the run that waits for the lock, and passes the slot of a concurrency key on. A run that will
be retried keeps the lock, but no slot. A commit settles in the same way, together with the handler's own
writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.jobs.known_region import KnownRegion
from duetime.model.action import Action, Status, Trigger
from duetime.model.job import JobRef, Overlap, job_ref_of
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run import Entry
from duetime.model.run_stats import ended_run
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore, LockRequirement
from duetime.ports.regions import NoRegions
from duetime.ports.wakeups import DueQueues, Routes
from duetime.wakeups.due_messages import message_of, send_wake
from duetime.worker.claim_results import ClaimWon
from duetime.worker.pass_slots import PassSlots

log = logging.getLogger(__name__)

_SettleRow = Callable[[Action, Settlement], SettleResult]
_SettleWithJob = Callable[..., SettleResult]


class Settle:
    """Settles claimed runs."""

    def __init__(
        self,
        actions: ActionStore,
        jobs: JobStore,
        queues: DueQueues,
        routes: Routes,
        region: KnownRegion | None = None,
        *,
        clock: Clock,
        pass_slots: PassSlots,
    ) -> None:
        self._actions, self._jobs, self._pass = actions, jobs, pass_slots
        self._queues, self._routes, self._clock = queues, routes, clock
        self._region = region or KnownRegion(NoRegions(), clock)

    def __call__(self, held: ClaimWon, settlement: Settlement) -> SettleResult:
        """Settle a run; the lease is lost if its epoch has ended.

        Raises:
            BackendUnavailable: it is unknown whether it has.
        """
        return self._end(held, settlement, self._actions.settle, self._jobs.settle)

    def commit(
        self, held: ClaimWon, settlement: Settlement, entries: Sequence[Entry], number: int
    ) -> SettleResult:
        """Settle a run and write its handler's entries; `number` counts the run's commits.

        Raises:
            CommitRejected: as `ActionStore.commit`, and its other errors.
        """
        row_alone = partial(self._actions.commit, entries=entries, number=number)
        with_job = partial(self._jobs.commit, entries=entries, number=number)
        return self._end(held, settlement, row_alone, with_job)

    def _end(
        self, held: ClaimWon, settlement: Settlement, row_alone: _SettleRow, with_job: _SettleWithJob
    ) -> SettleResult:
        action, job_ref = held.action, job_ref_of(held.action)
        if not self._region.is_current(action.fence):
            return SettleResult.LEASE_LOST
        if held.token is not None:
            return self._end_with_slot(action, held.token, settlement, row_alone)
        is_alone = job_ref is None or action.trigger is Trigger.BACKFILL
        if is_alone or job_ref is None or held.job is None or settlement.status is Status.PENDING:
            return row_alone(action, settlement)
        ended = ended_run(action, settlement)
        if held.hold is LockRequirement.LOCK:
            result = with_job(action, settlement, job_ref, ended)
            if held.job.definition.overlap in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}:
                _attempt(partial(self._wake_next, job_ref), action)
            return result
        # without the lock: thousands of event runs a second must not all write to their job's row
        is_news = ended.status != Status.EXECUTED or held.job.tally.consecutive_failures > 0
        if is_news or held.hold is LockRequirement.UNCHANGED:
            return with_job(action, settlement, job_ref, ended, has_lock=False)
        return row_alone(action, settlement)

    def _end_with_slot(
        self, action: Action, token: int, settlement: Settlement, row_alone: _SettleRow
    ) -> SettleResult:
        """Settle the row, then pass its slot on: never the other way round, which lets two run at once."""
        result = row_alone(action, settlement)
        if result is SettleResult.SETTLED:
            _attempt(partial(self._pass.free, action, token), action)
        return result

    def _wake_next(self, ref: JobRef) -> None:
        """Wake the run that waits for the lock; without this wake it claims again by itself."""
        job = self._jobs.get(ref)
        waiting = self._actions.get(job.waiting) if job and job.waiting else None
        if waiting is not None:
            send_wake(message_of(waiting), self._queues, self._routes, self._clock)


def _attempt(step: Callable[[], None], action: Action) -> None:
    """Run a step after a settle: its error must not bring the message back."""
    try:
        step()
    except DuetimeError as error:
        log.warning(
            "left for later",
            extra={"action": action.id, "tenant": action.tenant_id, "reason": truncate(error)},
        )
