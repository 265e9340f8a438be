"""The reference.

The port's sentences over plain rows, as simply as they can be said, with no thought for how.
"""

from dataclasses import dataclass, field
from datetime import datetime

from duetime.ids import TenantId
from duetime.model.action import KEPT_ATTEMPTS, Action, ActionRef, Ending, Status
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import ClaimTerms, Settlement, SettleResult


@dataclass
class ReferenceRow:
    """What a row should look like."""

    due_at: datetime
    nominal_at: datetime
    status: Status = Status.PENDING
    generation: int = 1
    fence: int = 0
    attempt: int = 0
    recoveries: int = 0
    redriven_after: int = 0
    lease_until: datetime | None = None
    nonce: str | None = None
    retry: str | None = None
    cancel_requested_by: str | None = None
    kept_until: datetime | None = None
    endings: list[Ending | None] = field(default_factory=list)

    def claim(self, terms: ClaimTerms) -> str:
        """What should come of a claim: claimed, held or nothing."""
        if self.status is Status.PENDING and self.due_at <= terms.now:
            self.attempt += 1
        elif self.status is not Status.PROCESSING:
            return "nothing"
        elif self.nonce == terms.nonce:
            return "claimed"
        elif self.lease_until + terms.skew < terms.now:
            self.recoveries += 1
        else:
            return "held"
        self.status, self.fence = Status.PROCESSING, self.fence + 1
        self.lease_until, self.nonce, self.retry = terms.lease_until, terms.nonce, self.retry or terms.retry
        self.endings.append(None)
        return "claimed"

    def renew(self, fence: int, until: datetime) -> bool:
        """Whether the lease should have moved."""
        is_mine = self.status is Status.PROCESSING and self.fence == fence
        if is_mine:
            self.lease_until = max(until, self.lease_until or until)
        return is_mine

    def settle(self, fence: int, settlement: Settlement) -> SettleResult:
        """What should come of a settle."""
        if self.fence != fence:
            return SettleResult.LEASE_LOST
        if self.status is not Status.PROCESSING:
            return SettleResult.SETTLED
        if settlement.status is Status.PENDING and self.cancel_requested_by:
            return SettleResult.CANCEL_REQUESTED
        self.status, self.kept_until = settlement.status, settlement.kept_until
        self.lease_until = self.nonce = None
        self.endings = [*self.endings[:-1], settlement.ending][-KEPT_ATTEMPTS:]
        if settlement.due_at:
            self.due_at, self.generation = settlement.due_at, self.generation + 1
        return SettleResult.SETTLED

    def cancel(self, kept_until: datetime) -> bool:
        """Whether it should have been cancelled."""
        if self.status is not Status.PENDING:
            return False
        self.status, self.kept_until = Status.CANCELLED, kept_until
        return True

    def ask_to_cancel(self, by: str) -> bool:
        """Whether the request should have been left."""
        if self.status is not Status.PROCESSING:
            return False
        self.cancel_requested_by = self.cancel_requested_by or by
        return True

    def reschedule(self, due_at: datetime) -> bool:
        """Whether it should have another due time."""
        if self.status is not Status.PENDING:
            return False
        self.due_at = self.nominal_at = due_at
        self.generation += 1
        return True

    def redrive(self, due_at: datetime) -> bool:
        """Whether it should be pending again."""
        if self.status is not Status.FAILED:
            return False
        self.status, self.due_at, self.generation = Status.PENDING, due_at, self.generation + 1
        self.redriven_after, self.recoveries = self.attempt, 0
        self.cancel_requested_by = self.kept_until = None
        return True


@dataclass
class ReferenceKey:
    """Which action has an idempotency key."""

    ref: ActionRef
    payload: str
    until: datetime


@dataclass
class ReferenceKeys:
    """The idempotency keys, by tenant and text."""

    rows: dict[ActionRef, ReferenceRow]
    held: dict[tuple[TenantId, str], ReferenceKey] = field(default_factory=dict)
    key_of: dict[ActionRef, str] = field(default_factory=dict)

    def put_once(self, action: Action, terms: KeyTerms) -> ActionRef | None:
        """The action that the store should return; None for a conflict."""
        place = (action.tenant_id, action.idempotency_key)
        held = self.held.get(place)
        if held is not None and not self._is_free(held, terms.now):
            return held.ref if held.payload == action.payload else None
        self.held[place] = ReferenceKey(action.ref, action.payload, terms.until)
        self.key_of[action.ref] = action.idempotency_key
        self.rows[action.ref] = ReferenceRow(due_at=action.due_at, nominal_at=action.due_at)
        return action.ref

    def _is_free(self, held: ReferenceKey, now: datetime) -> bool:
        return held.until <= now and self.rows[held.ref].status.is_final

    def remove(self, ref: ActionRef) -> None:
        """An action's key is free, if it has one still."""
        place = (ref.tenant_id, self.key_of.get(ref))
        if place in self.held and self.held[place].ref == ref:
            del self.held[place]

    def take_again(self, ref: ActionRef, payload: str, at: datetime) -> ActionRef | None:
        """Give a failed action its key again; if another has it, which."""
        if ref not in self.key_of or self.rows[ref].status is not Status.FAILED:
            return None
        held = self.held.setdefault((ref.tenant_id, self.key_of[ref]), ReferenceKey(ref, payload, at))
        return None if held.ref == ref else held.ref


def as_reference(row: Action) -> ReferenceRow:
    """A row of a back end, for comparison."""
    return ReferenceRow(
        due_at=row.due_at,
        nominal_at=row.nominal_at,
        status=row.status,
        generation=row.generation,
        fence=row.fence,
        attempt=row.attempt,
        recoveries=row.recoveries,
        redriven_after=row.redriven_after,
        lease_until=row.lease_until,
        nonce=row.nonce,
        retry=row.retry,
        cancel_requested_by=row.cancel_request and row.cancel_request.by,
        kept_until=row.kept_until,
        endings=[attempt.ending for attempt in row.attempts],
    )
