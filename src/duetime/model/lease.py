"""The lease: the terms and results of a claim, and how a run ends it. Facts only.

A claim is one conditional write on the row. Its winner holds a lease with a fence. Every later write of that
run is conditional on the fence, so a run that was taken over changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from duetime.ids import ActionId
from duetime.model.action import Action, Ending, Status
from duetime.model.active_region import epoch_of

FENCE_STEP = 1
"""How much a claim, and the loss of a lock or a slot by a dead run, increases the fence of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTerms:
    """The terms of a worker's claim."""

    now: datetime
    lease_until: datetime
    skew: timedelta
    """A lease counts as ended only this long after its end: machines' clocks differ."""
    nonce: str
    """Unique to each claim: it identifies a claim whose response was lost."""
    instance: str
    queued_at: datetime
    retry: str
    """The handler's retry policy; the first claim stores it in the row."""
    epoch: int = 0
    """The epoch of the active region; 0 without a standby region."""
    fence: int = 0
    """The row's fence as read; only a claim with an epoch compares it."""

    def is_fenced_off(self, row: Action) -> bool:
        """Return whether another region has claimed the row at a later epoch."""
        return self.epoch > 0 and epoch_of(row.fence) > self.epoch

    def may_take_over(self, row: Action) -> bool:
        """Return whether the lease of a processing row ended longer ago than the skew: its worker died."""
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
    """The row has a concurrency key: its claim must also take a slot of that key."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A guarded change happened, now or in an earlier try with a lost response.

    `action` is the row after it.
    """

    action: Action


@dataclass(frozen=True, slots=True)
class Rejected:
    """A guarded change did not happen; `action` is the present row, None if there is no row."""

    action: Action | None
    taken_by: ActionId | None = None
    """Of a redrive: the action that now holds the row's idempotency key."""


def applied_if_mine(
    outcome: Applied | Rejected, status: Status, *, by: str, at: datetime
) -> Applied | Rejected:
    """Return `Applied` if the row is as this call leaves it.

    Its first attempt changed the row without a response.
    """
    row = outcome.action
    is_mine = row is not None and (row.status, row.changed_by, row.changed_at) == (status, by, at)
    return Applied(row) if row is not None and is_mine else outcome


@dataclass(frozen=True, slots=True)
class Renewed:
    """This run still holds the lease; `cancel_requested` is True after a request to stop."""

    cancel_requested: bool


class SettleResult(Enum):
    """The result of a settle."""

    SETTLED = "settled"
    """By this call, or by an earlier try whose response was lost."""
    CANCEL_REQUESTED = "cancel requested"
    """A retry was due, but a cancel was requested meanwhile; nothing was changed."""
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
        """Return whether the row is in the state that this settlement of the run `claimed` writes."""
        if row is None or (row.fence, row.status) != (claimed.fence, self.status):
            return False
        return row.attempts[-1].finished_at == self.finished_at
