"""End a handed-over action by one write; of a job's run, free the lock and count the run too."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from duetime.model.action import Action, Ending, Status, Trigger
from duetime.model.built_in import retention_of
from duetime.model.job import job_ref_of
from duetime.model.lease import Settlement, SettleResult
from duetime.model.outcome import Outcome, settlement
from duetime.model.run_stats import ended_run
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings


class EndHandOver:
    """Ends handed-over actions. The table's stream then frees what their runs held."""

    def __init__(
        self, store: ActionStore, jobs: Callable[[], JobStore] | None, *, settings: Settings
    ) -> None:
        self._store, self._jobs, self._settings = store, jobs, settings

    def __call__(
        self,
        row: Action,
        outcome: Outcome,
        policy: RetryPolicy,
        *,
        now: datetime,
        result: str | None = None,
        jitter_draw: float = 0.0,
    ) -> SettleResult:
        """Settle a handed-over row as read.

        Args:
            row: the row.
            outcome: how it ends.
            policy: its retry policy.
            now: the time of its end.
            result: what its party returned, as JSON.
            jitter_draw: in [0, 1), draws the jitter of a retry.
        """
        settled = settlement(
            outcome,
            row,
            policy,
            now=now,
            retention=retention_of(row.type, self._settings.retention),
            jitter_draw=jitter_draw,
            expires_at=row.expires_at,
        )
        return self._settle(row, replace(settled, completion=secrets.token_urlsafe(9), result=result))

    def obey_cancel(self, row: Action, *, now: datetime) -> bool:
        """Cancel a hand-over without heartbeats after a request: nothing would return it to its party.

        Return whether this call ended the action; it leaves every other row as it is.
        """
        if row.handed_over is None or row.handed_over.beat_seconds or row.cancel_request is None:
            return False
        message = f"cancelled by {row.cancel_request.by} while it was handed over"
        return self(row, Outcome(Ending.CANCELLED, message), NEVER, now=now) is SettleResult.SETTLED

    def _settle(self, row: Action, settled: Settlement) -> SettleResult:
        owner = None if row.trigger is Trigger.BACKFILL else job_ref_of(row)
        job = None if owner is None or self._jobs is None else self._jobs().get(owner)
        if owner is None or self._jobs is None or job is None or settled.status is Status.PENDING:
            return self._store.settle(row, settled)
        has_lock = job.running == row.ref
        return self._jobs().settle(row, settled, owner, ended_run(row, settled), has_lock=has_lock)
