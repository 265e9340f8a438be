"""The JSON views of a job's next, last and recent runs. Instants are as in `views`."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel

from duetime.api.views import Instant
from duetime.model.action import Action, Status, Trigger
from duetime.model.run_stats import RunStats


class NextRunView(BaseModel):
    """A nominal time to come, and which cadences have it."""

    at: Instant
    """The nominal time."""
    cadences: list[str]
    """Their names."""


class LastRunView(BaseModel):
    """The run that ended last."""

    id: str | None
    """The action."""
    status: str | None
    """How it ended."""
    started_at: Instant
    """When it began."""

    @classmethod
    def from_stats(cls, stats: RunStats) -> Self | None:
        """The last run, if there was one."""
        if stats.last_started_at is None:
            return None
        return cls(id=stats.last_id, status=stats.last_status, started_at=stats.last_started_at)


class RecentRunView(BaseModel):
    """One of a job's last runs, in few words."""

    id: str
    """The action."""
    status: Status
    """Where it stands; executed, failed, cancelled and skipped are final."""
    trigger: Trigger
    """What made it due."""
    nominal_at: Instant
    """When it was scheduled for."""
    started_at: Instant | None
    """When its last attempt began; null before the first."""
    finished_at: Instant | None
    """When that ended; null while it runs."""
    attempts: int
    """How many it has had."""

    @classmethod
    def from_action(cls, run: Action) -> Self:
        """Return the view of the run."""
        last = run.attempts[-1] if run.attempts else None
        return cls(
            id=run.id,
            status=run.status,
            trigger=run.trigger,
            nominal_at=run.nominal_at,
            started_at=last.started_at if last else None,
            finished_at=last.finished_at if last else None,
            attempts=run.attempt,
        )
