"""Transitions: the row after a change. Pure; the ports define the condition of each write."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duetime.model.action import KEPT_ATTEMPTS, Action, Attempt, SkipReason, Status
from duetime.model.active_region import next_fence
from duetime.model.lease import FENCE_STEP, ClaimTerms, Settlement


def started(row: Action, terms: ClaimTerms) -> Action:
    """Return the row under a new lease. A processing row is taken over, and repeats the lost attempt."""
    is_take_over = row.status is Status.PROCESSING
    attempt = Attempt(queued_at=terms.queued_at, started_at=terms.now, instance=terms.instance)
    return replace(
        row,
        fence=next_fence(row.fence, terms.epoch),
        status=Status.PROCESSING,
        attempt=row.attempt + (not is_take_over),
        recoveries=row.recoveries + is_take_over,
        attempts=(*row.attempts, attempt),
        lease_until=terms.lease_until,
        claim_nonce=terms.nonce,
        retry=row.retry or terms.retry,
    )


def fenced_off(row: Action) -> Action:
    """Return the row under its next fence: any later write of an earlier run is rejected."""
    return replace(row, fence=row.fence + FENCE_STEP, claim_nonce=None)


def settled(row: Action, settlement: Settlement) -> Action:
    """Return the row after its run: final, or pending again."""
    ended = replace(
        row.attempts[-1],
        finished_at=settlement.finished_at,
        ending=settlement.ending,
        message=settlement.message,
    )
    after = replace(
        row,
        status=settlement.status,
        attempts=(*row.attempts[:-1], ended)[-KEPT_ATTEMPTS:],
        lease_until=None,
        claim_nonce=None,
        expires_at=settlement.expires_at,
    )
    if settlement.due_at is None:
        return after
    return replace(
        after, due_at=settlement.due_at, first_due_at=row.nominal_at, generation=row.generation + 1
    )


def skipped(
    row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
) -> Action:
    """Return a pending row as skipped."""
    return replace(
        row,
        status=Status.SKIPPED,
        skip_reason=reason,
        note=note or None,
        changed_by=by,
        changed_at=at,
        expires_at=expires_at,
    )


def cancelled(row: Action, *, by: str, at: datetime, expires_at: datetime) -> Action:
    """Return a pending row as cancelled."""
    return replace(row, status=Status.CANCELLED, changed_by=by, changed_at=at, expires_at=expires_at)
