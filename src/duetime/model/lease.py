"""The lease: the terms and results of a claim, and how a run ends it. Facts only.

A claim is one conditional write on the row. Its winner holds a lease with a fence. Every later write of that
run is conditional on the fence, so a run that was taken over changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from duetime.ids import ActionId
from duetime.model.action import Action, Ending, Status
from duetime.model.active_region import epoch_of
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.quick_fields import quick_fields

LONGEST_ALONE = timedelta(minutes=15)
"""How long after its lease a dead run is left until a process can run it alone."""

FENCE_STEP = 1
"""How much a claim, and the loss of a lock or a slot by a dead run, increases the fence of a row."""


@quick_fields
@dataclass(frozen=True, kw_only=True)
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
    expiry: Expiry = NO_EXPIRY
    """When actions of its type expire, and their end then."""
    shares_process: bool = False
    """Other runs share the process, and would die with it."""
    held_by: str | None = None
    """The pause that held the action until now, for its history."""

    @property
    def length(self) -> timedelta:
        """How long a lease is."""
        return self.lease_until - self.now

    def is_expired(self, row: Action) -> bool:
        """Return whether no run of the action may begin any more."""
        expires_at = self.expiry.of(row)
        return expires_at is not None and expires_at <= self.now

    def may_claim(self, row: Action) -> bool:
        """Return whether the expiry permits a claim: of an expired action only to fail it."""
        return self.expiry.on_expiry == "fail" or not self.is_expired(row)

    def may_begin(self, row: Action) -> bool:
        """Return whether a run of the row may begin: it is due and not expired, or its worker has died."""
        if self.is_fenced_off(row):
            return False
        if row.status is Status.PROCESSING:
            return self.may_take_over(row)
        return row.status is Status.PENDING and row.due_at <= self.now and self.may_claim(row)

    def is_fenced_off(self, row: Action) -> bool:
        """Return whether another region has claimed the row at a later epoch."""
        return self.epoch > 0 and epoch_of(row.fence) > self.epoch

    def may_take_over(self, row: Action) -> bool:
        """Return whether the lease of a processing row ended longer ago than the skew: its worker died."""
        return row.lease_until is not None and row.lease_until + self.skew < self.now

    def must_be_alone(self, row: Action) -> bool:
        """Return whether the run waits for a process of its own: it may be what ended the one before."""
        is_dead = row.status is Status.PROCESSING and self.may_take_over(row)
        if not (self.shares_process and is_dead) or row.lease_until is None:
            return False
        return self.now < row.lease_until + LONGEST_ALONE


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim was won: `action` is the row as this run holds it."""

    action: Action


@dataclass(frozen=True, slots=True)
class LeaseHeld:
    """The claim was lost to a live lease, which ends at `until` unless its holder renews it."""

    until: datetime


@dataclass(frozen=True, slots=True)
class MustBeAlone:
    """The claim would take over a dead run while other runs share the process; nothing was written."""

    recoveries: int
    """How often it was taken over."""


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


@dataclass(frozen=True, slots=True)
class Renewed:
    """This run still holds the lease; `cancel_requested` is True after a request to stop."""

    cancel_requested: bool


def renewed_if(
    outcome: Applied | Rejected, claimed: Action, is_mine: Callable[[Action], bool] = lambda _row: False
) -> Renewed | None:
    """Return that the run holds its row after a write; None if it does not.

    Args:
        outcome: of the write.
        claimed: the run.
        is_mine: whether a rejected write's row is as an earlier try of this call leaves it, or better.
    """
    row = outcome.action
    if row is None or (row.status, row.fence) != (Status.PROCESSING, claimed.fence):
        return None
    if isinstance(outcome, Rejected) and not is_mine(row):
        return None
    return Renewed(cancel_requested=row.cancel_request is not None)


def outlasts(row: Action, until: datetime, now: datetime) -> bool:
    """Return whether a handed-over row lasts, and waits at least until then."""
    if row.lease_until is None or not row.is_handed_over:
        return False
    return now < row.lease_until and until <= row.lease_until


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
    kept_until: datetime | None = None
    """For a final status: when the row may be removed."""
    continues: bool = False
    """For a retry: the run goes on from its checkpoint, and uses up no attempt."""
    completion: str | None = None
    """Of a handed-over action: the name of the call that ends it. `finished_at` must be within its lease."""
    result: str | None = None
    """What the external party returned, as JSON."""

    def result_in(self, claimed: Action, row: Action | None) -> SettleResult:
        """Return what it did to the run `claimed`, whose row is this one now."""
        if self.has_ended(claimed, row):
            return SettleResult.SETTLED
        if row is None or row.fence != claimed.fence:
            return SettleResult.LEASE_LOST
        if row.status is Status.PROCESSING and self._is_in_time(row):
            return SettleResult.CANCEL_REQUESTED
        return SettleResult.SETTLED if self.completion is None else SettleResult.LEASE_LOST

    def _is_in_time(self, row: Action) -> bool:
        return self.completion is None or outlasts(row, self.finished_at, self.finished_at)

    def has_ended(self, claimed: Action, row: Action | None) -> bool:
        """Return whether the row is in the state that this settlement of the run `claimed` writes."""
        if row is None or (row.fence, row.status) != (claimed.fence, self.status) or not row.attempts:
            return False
        is_mine = self.completion is None or row.completion == self.completion
        return is_mine and row.attempts[-1].finished_at == self.finished_at
