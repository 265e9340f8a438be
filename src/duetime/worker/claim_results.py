"""The results of a claim, of a one-shot or of a job's run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from duetime.declare.handler import LONGEST_RUN
from duetime.model.action import Action, ActionRef
from duetime.model.job import Job
from duetime.model.lease import ClaimTerms, LeaseHeld, MustBeAlone
from duetime.model.outcome import Outcome
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DamagedRow, Holder
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


def read_holders(
    actions: ActionStore, refs: Collection[ActionRef], terms: ClaimTerms
) -> dict[ActionRef, Holder]:
    """Return the rows by their keys; rows that are gone are left out.

    If the lease of a damaged row cannot be read, or ends later than any lease does, the read writes one into
    the row: what the row holds is free once that has ended.
    """
    damaged: list[DamagedRow] = []
    found = actions.get_rows([*refs], damaged=damaged) if refs else ()
    longest = terms.now + max(terms.lease_until - terms.now, LONGEST_RUN)
    for row in damaged:
        if row.may_run and (row.lease_until is None or row.lease_until > longest + terms.skew):
            actions.limit_lease(row, longest)
    rows: list[Holder] = [*found, *damaged]
    return {row.ref: row for row in rows}
