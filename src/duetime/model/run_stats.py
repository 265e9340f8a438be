"""The run statistics that a job's row stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duetime.model.action import Action, Trigger
from duetime.model.lease import Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStats:
    """The counts of a job's runs, and its last run."""

    executed: int = 0
    """Runs that succeeded."""
    failed: int = 0
    """Runs that ended as failed: the job's dead letters, redriven ones included."""
    consecutive_failures: int = 0
    """Since the last success."""
    last_started_at: datetime | None = None
    last_id: str | None = None
    last_status: str | None = None
    last_error: str | None = None
    """In at most 500 characters; stays until the next failure."""
    triggered_by: str | None = None
    """The actor of the last manual run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """The end of a run, for its job's statistics."""

    id: str
    status: str
    started_at: datetime
    error: str | None = None
    triggered_by: str | None = None
    """The actor of a manual run."""


def ended_run(action: Action, settlement: Settlement) -> EndedRun:
    """Return the end of a claimed run, which a settlement writes."""
    return EndedRun(
        id=action.id,
        status=settlement.status.value,
        started_at=action.attempts[-1].started_at,
        error=settlement.message,
        triggered_by=action.created_by if action.trigger is Trigger.MANUAL else None,
    )
