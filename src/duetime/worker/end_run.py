"""The last part of step 4: end a run, by its own commit or by a settle, and log its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.model.action import Action, Ending
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.model.built_in import retention_of
from duetime.model.lease import Settlement, SettleResult
from duetime.model.outcome import SUCCEEDED, Outcome, final_instead, settlement
from duetime.ports.actions import ActionStore
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings
from duetime.telemetry.run_log import RunLog
from duetime.worker.claim_results import ClaimWon
from duetime.worker.commit import CommitStage, RunCommit
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.settle import Settle

log = logging.getLogger(__name__)


class EndRun:
    """Ends the runs of one process."""

    def __init__(
        self,
        settle: Settle,
        heartbeat: Heartbeat,
        run_log: RunLog,
        store: ActionStore,
        *,
        clock: Clock,
        settings: Settings,
        jitter_draw: Callable[[], float],
    ) -> None:
        self._settle, self._heartbeat, self._run_log, self._store = settle, heartbeat, run_log, store
        self._clock, self._settings, self._jitter_draw = clock, settings, jitter_draw

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
