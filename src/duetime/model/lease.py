"""The lease: what a claim asks for, what comes of it, and how a run ends it. Facts only.

A claim is decided by one conditional write on the row. Who gets it holds a lease with a fence; every later write of
that run is conditional on the fence, so a run that was taken over changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from duetime.ids import ActionId
from duetime.model.action import Action, Ending, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTerms:
    """What a worker asks for when it claims."""

    now: datetime
    lease_until: datetime
    skew: timedelta
    """A lease counts as ended only this long after its end: machines' clocks differ."""
    nonce: str
    """Fresh for each claim: a claim whose answer was lost is recognised by it."""
    instance: str
    queued_at: datetime
    retry: str
    """The handler's retry policy; kept in the row unless an earlier claim has."""

    def may_take_over(self, row: Action) -> bool:
        """Whether a row that is processing was left by its worker: its lease ended longer ago than the skew."""
        return row.lease_until is not None and row.lease_until + self.skew < self.now


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim was won: `action` is the row as this run holds it."""

    action: Action


@dataclass(frozen=True, slots=True)
class LeaseHeld:
    """The claim was lost to a live lease, which ends at `until` unless its holder renews it."""

    until: datetime


@dataclass(frozen=True, slots=True)
class NeedsSlot:
    """The row has a concurrency key: whoever claims it takes a slot of that key with it."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A guarded change happened (now, or by an earlier try whose answer was lost); `action` is the row after it."""

    action: Action


@dataclass(frozen=True, slots=True)
class Rejected:
    """A guarded change did not happen; `action` is the row that stood in its way, None if there is no row."""

    action: Action | None
    taken_by: ActionId | None = None
    """Of a redrive: the action that has the row's idempotency key by now."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """The lease is this run's still; `cancel_requested` tells whether somebody wants it to stop."""

    cancel_requested: bool


class SettleResult(Enum):
    """What became of a settle."""

    SETTLED = "settled"
    """By this call, or by its first try whose answer was lost."""
    CANCEL_REQUESTED = "cancel requested"
    """It would have run again, but somebody asked to cancel it meanwhile; nothing was changed."""
    LEASE_LOST = "lease lost"
    """Another run has taken it over, or has settled it; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a run ends: the status that the row takes, and what its attempt records."""

    status: Status
    ending: Ending
    finished_at: datetime
    message: str | None = None
    due_at: datetime | None = None
    """For a retry (status pending): when it is due again."""
    expires_at: datetime | None = None
    """For a final status: when the row may be removed."""

    def has_ended(self, claimed: Action, row: Action | None) -> bool:
        """Whether the row stands as this very settlement of the run `claimed` has left it, and no other of its tries."""
        if row is None or (row.fence, row.status) != (claimed.fence, self.status):
            return False
        return row.attempts[-1].finished_at == self.finished_at
