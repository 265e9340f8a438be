"""The last part of step 4: end a run, by its own commit or by a settle, and log its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import Enum
from functools import partial

from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action, Ending, Status, Trigger
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.model.built_in import retention_of
from duetime.model.checkpoint import Checkpoint
from duetime.model.job import JobRef, Overlap, job_ref_of
from duetime.model.lease import Settlement, SettleResult
from duetime.model.outcome import SUCCEEDED, Outcome, final_instead, of_continue, settlement
from duetime.model.run import Entry, RunCancelled, already_committed
from duetime.model.run_stats import ended_run
from duetime.ports.action_store import ActionStore
from duetime.ports.backends import Backends
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER, RetryPolicy
from duetime.telemetry.run_log import RunLog
from duetime.wakeups.due_messages import message_of, send_wake
from duetime.worker.claim_results import ClaimWon
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.pass_slots import PassSlots

log = logging.getLogger(__name__)


_SettleRow = Callable[[Action, Settlement], SettleResult]
_SettleWithJob = Callable[..., SettleResult]


class Settle:
    """Writes the results of claimed runs; for a job's run also frees the lock and counts the run.

    A settle wakes the run that waits for the lock, and passes the slot of a concurrency key on. A run that
    will be retried keeps the lock, but no slot. A commit settles in the same way, together with the handler's
    own writes.
    """

    def __init__(self, backends: Backends, region: KnownRegion) -> None:
        self._actions, self._jobs, self._pass = backends.store, backends.jobs, PassSlots(backends)
        self._queues, self._routes, self._clock = backends.queues, backends.routes, backends.clock
        self._region = region

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
        is_alone = action.trigger is Trigger.BACKFILL or settlement.status is Status.PENDING
        if is_alone or job_ref is None or held.job is None:
            return row_alone(action, settlement)
        ended = ended_run(action, settlement)
        if held.hold is LockRequirement.LOCK:
            result = with_job(action, settlement, job_ref, ended)
            if held.job.definition.overlap in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}:
                _attempt(partial(self._wake_next, job_ref), action)
            return result
        # without the lock: thousands of event runs a second must not all write to their job's row
        is_news = ended.status != Status.EXECUTED or held.job.tally.consecutive_failures > 0
        if is_news or action.trigger in {Trigger.CADENCE, Trigger.CATCH_UP}:
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


class CommitStage(Enum):
    """How far a run's commit has come."""

    OPEN = "open"
    """Nothing was committed."""
    IN_DOUBT = "in doubt"
    """The result is unknown: the row must be left alone."""
    COMMITTED = "committed"
    """The action is executed."""
    LOST = "lost"
    """The run was taken over; there is nothing to settle."""


class RunCommit:
    """The callable behind `Run.commit`, one for each run. Calls of several threads wait for one another.

    One transaction writes the handler's own entries and settles the action::

                 ┌──────────── rejected: beats resume ────────────────┐
                 ▼                                                    │
               open ── commit: beats stop ── in doubt ── a response, or the row
                                                 │                    │
                     no response: still in doubt ◄┘                   ├─ committed: the action is executed
                                                                      └─ lost: another run has it; stop

    A run in doubt may have written all or nothing, and its worker leaves the row alone. Either the row is
    settled, or the lease ends and the attempt is repeated under the next fence. That fence rejects a late
    write.
    """

    def __init__(
        self,
        held: ClaimWon,
        stop: threading.Event,
        *,
        settle: Settle,
        heartbeat: Heartbeat,
        executed: Callable[[], Settlement],
    ) -> None:
        """Make one for a run.

        Args:
            held: the run's claim.
            stop: set to stop the run.
            settle: settles the run.
            heartbeat: keeps the run's lease.
            executed: returns the settlement of a run that succeeds now.
        """
        self._held, self.stop = held, stop
        self._settle, self._heartbeat, self._executed = settle, heartbeat, executed
        self._lock = threading.Lock()
        self._number = 0
        self._doubt: BackendUnavailable | None = None
        self.stage = CommitStage.OPEN
        self.entries: Sequence[Entry] | None = None
        self.settlement: Settlement | None = None

    def __call__(self, entries: Sequence[Entry]) -> None:
        """See `duetime.model.run.Run.commit`."""
        with self._lock:
            if self.stage is CommitStage.COMMITTED:
                raise already_committed(self._held.action.id)
            if self.stage is CommitStage.LOST:
                raise RunCancelled
            if self._doubt is not None:
                raise self._doubt  # the result of the first commit is still unknown
            self._heartbeat.rest(self._held.action)
            self.stage = CommitStage.IN_DOUBT
            self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> None:
        self._number += 1
        settlement = self._executed()
        try:
            result = self._settle.commit(self._held, settlement, entries, self._number)
        except BackendUnavailable as doubt:
            self._doubt = doubt
            raise
        except Exception:
            self.stage = CommitStage.OPEN
            self._heartbeat.resume(self._held.action)
            raise
        if result is not SettleResult.SETTLED:
            self.stage = CommitStage.LOST
            self.stop.set()
            raise RunCancelled
        self.stage, self.entries, self.settlement = CommitStage.COMMITTED, entries, settlement


class RunCheckpoints:
    """The callable behind `Run.checkpoint`, one for each run. Its calls wait for one another.

    Checkpoints are stored under the run's fence, and order themselves by number.
    """

    def __init__(self, action: Action, store: ActionStore, commit: RunCommit) -> None:
        """Make one for a run.

        Args:
            action: the row as claimed.
            store: has the row.
            commit: the run's.
        """
        self._action, self._store, self._commit = action, store, commit
        self._lock, self._number = threading.Lock(), 0
        self.latest = action.checkpoint
        """See `duetime.model.run.Checkpointing`."""

    def __call__(self, text: str) -> None:
        """See `duetime.model.run.Run.checkpoint`."""
        with self._lock:
            if self._commit.stage is CommitStage.LOST:
                raise RunCancelled
            if self._commit.stage is not CommitStage.OPEN:
                raise already_committed(self._action.id)
            self._number += 1
            checkpoint = Checkpoint(text, self._action.fence, self._number)
            held = self._store.checkpoint(self._action, checkpoint)
            if held is None:
                self._commit.stop.set()
                raise RunCancelled
            if held.cancel_requested:
                self._commit.stop.set()
            self.latest = checkpoint

    def outcome_of_continue(self) -> Outcome:
        """Return the outcome of the run if its handler raises `Continue`."""
        began = self._action.checkpoint
        has_advanced = self.latest is not None and (began is None or began.text != self.latest.text)
        return of_continue(self._action, has_advanced=has_advanced)


class EndRun:
    """Ends the runs of one process."""

    def __init__(
        self,
        backends: Backends,
        settle: Settle,
        heartbeat: Heartbeat,
        run_log: RunLog,
        *,
        jitter_draw: Callable[[], float],
    ) -> None:
        self._store, self._clock, self._settings = backends.store, backends.clock, backends.settings
        self._settle, self._heartbeat, self._run_log = settle, heartbeat, run_log
        self._jitter_draw = jitter_draw

    def commit_of(self, held: ClaimWon) -> RunCommit:
        """Return the commit of a run, by which its handler may end it."""

        def executed() -> Settlement:
            now, retention = self._clock.now(), self._retention_of(held.action)
            return settlement(SUCCEEDED, held.action, NEVER, now=now, retention=retention, jitter_draw=0)

        return RunCommit(
            held, threading.Event(), settle=self._settle, heartbeat=self._heartbeat, executed=executed
        )

    def __call__(self, held: ClaimWon, commit: RunCommit, outcome: Outcome) -> Settlement | None:
        """Settle a run without a commit, and log its end; return None if the lease was lost.

        Raises:
            BackendUnavailable: the settle got no response; the message must come again.
        """
        if commit.stage is CommitStage.OPEN:
            settled = self._settle_outcome(held, outcome)
        else:
            settled = commit.settlement
            if settled is not None and outcome.ending is not SUCCEEDED.ending:
                log.warning(
                    "raised after its commit, the action stays executed",
                    extra={
                        "action": held.action.id,
                        "tenant": held.action.tenant_id,
                        "reason": outcome.message,
                    },
                )
            outcome = SUCCEEDED
        if settled is None:
            self._run_log.lost(held.action)
        else:
            self._run_log.ended(held.action, outcome, settled)
            self._keep_traceback(held.action, outcome, settled)
        return settled

    def _keep_traceback(self, action: Action, outcome: Outcome, settled: Settlement) -> None:
        """Store the traceback of a failed attempt after its settle, which no error here undoes.

        It expires with the row that the settle left, as if a retry that follows ended it.
        """
        if outcome.traceback is None or settled.ending is Ending.CANCELLED:
            return
        again_at = settled.due_at or settled.finished_at
        kept_until = settled.kept_until or again_at + self._retention_of(action)
        traceback = AttemptTraceback(action.attempts[-1].started_at, outcome.traceback)
        try:
            self._store.put_traceback(action.ref, traceback, kept_until)
        except DuetimeError as error:
            log.warning(
                "traceback not stored",
                extra={"action": action.id, "tenant": action.tenant_id, "reason": truncate(error)},
            )

    def _retention_of(self, action: Action) -> timedelta:
        return retention_of(action.type, self._settings.retention)

    def _settle_outcome(self, held: ClaimWon, outcome: Outcome) -> Settlement | None:
        settled = settlement(
            outcome,
            held.action,
            RetryPolicy.parse(held.action.retry or NEVER.text()),
            now=self._clock.now(),
            retention=self._retention_of(held.action),
            jitter_draw=self._jitter_draw(),  # spreads retries
            expires_at=held.expires_at,
        )
        result = self._settle(held, settled)
        if result is SettleResult.CANCEL_REQUESTED:
            settled = final_instead(settled, retention=self._retention_of(held.action))
            result = self._settle(held, settled)
        return settled if result is SettleResult.SETTLED else None
