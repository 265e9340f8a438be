"""The results of a claim, of a one-shot or of a job's run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from duetime.model.action import Action
from duetime.model.job import Job
from duetime.model.lease import LeaseHeld, MustBeAlone
from duetime.model.outcome import Outcome
from duetime.ports.jobs import LockRequirement
from duetime.worker.paused_work import Held


@dataclass(frozen=True, slots=True)
class ClaimWon:
    """A won claim: the row as this run holds it, and its job at the time of the claim."""

    action: Action
    job: Job | None
    hold: LockRequirement
    expires_at: datetime | None = None
    """Of a one-shot: from when on no attempt of it begins."""
    token: int | None = None
    """Under a concurrency key: the fence with which its action took its slot."""

    failure: Outcome | None = None
    """Of a one-shot: why it must end without its handler."""

    @property
    def is_expired(self) -> bool:
        """Whether it had expired at the claim: the run ends without its handler."""
        return self.expires_at is not None and self.expires_at <= self.action.attempts[-1].started_at


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run cannot begin yet: claim it again after `seconds`."""

    seconds: int


@dataclass(frozen=True, slots=True)
class LockFreed:
    """The run has ended, and another one waits for its job's lock."""

    waiting: Action


ClaimResult: TypeAlias = ClaimWon | LeaseHeld | MustBeAlone | Waiting | LockFreed | Held | None
"""What a claim returns; None if there is nothing left to claim."""
