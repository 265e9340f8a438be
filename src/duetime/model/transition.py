"""Transitions: the row after a change. Pure; the ports define the condition of each write."""

from __future__ import annotations

from datetime import datetime

from duetime.model.action import KEPT_ATTEMPTS, Action, Attempt, SkipReason, Status
from duetime.model.active_region import next_fence
from duetime.model.lease import FENCE_STEP, ClaimTerms, Settlement
from duetime.model.quick_fields import with_fields
from duetime.model.row_parts import Act, HandOver, Progress


def started(row: Action, terms: ClaimTerms) -> Action:
    """Return the row under a new lease. A processing row is taken over, and repeats the lost attempt.

    The progress of the former run is removed.
    """
    is_take_over = row.status is Status.PROCESSING
    is_recovery = is_take_over and not row.has_timed_out_at(terms.now)
    attempt = Attempt(queued_at=terms.queued_at, started_at=terms.now, instance=terms.instance)
    return with_fields(
        row,
        fence=next_fence(row.fence, terms.epoch),
        status=Status.PROCESSING,
        attempt=row.attempt + (not is_take_over),
        recoveries=row.recoveries + is_recovery,
        attempts=(*row.attempts, attempt),
        lease_until=terms.lease_until,
        nonce=terms.nonce,
        retry=row.retry or terms.retry,
        held_by=terms.held_by or row.held_by,
        progress=None,
    )


def fenced_off(row: Action) -> Action:
    """Return the row under its next fence: any later write of an earlier run is rejected."""
    return with_fields(row, fence=row.fence + FENCE_STEP, nonce=None)


def settled(row: Action, settlement: Settlement) -> Action:
    """Return the row after its run: final, or pending again."""
    begun = row.attempts[-1]
    ended = Attempt(
        begun.queued_at,
        begun.started_at,
        begun.instance,
        settlement.finished_at,
        settlement.ending,
        settlement.message,
    )
    after = with_fields(
        row,
        status=settlement.status,
        attempts=(*row.attempts[:-1], ended)[-KEPT_ATTEMPTS:],
        lease_until=None,
        nonce=None,
        kept_until=settlement.kept_until,
        completion=settlement.completion or row.completion,
        result=settlement.result or row.result,
    )
    if settlement.due_at is None:
        return after
    return with_fields(
        after,
        due_at=settlement.due_at,
        first_due_at=row.nominal_at,
        generation=row.generation + 1,
        continued=row.continued + settlement.continues,
    )


def handed_over(row: Action, hand_over: HandOver) -> Action:
    """Return the row of a run that ended with a hand-over."""
    waits_until = hand_over.waits_until(hand_over.at)
    return with_fields(row, lease_until=waits_until, hand_over=hand_over, is_awaited=True)


def beaten(row: Action, until: datetime, progress: Progress | None) -> Action:
    """Return a row after a heartbeat of its run, or of its hand-over."""
    return with_fields(row, lease_until=until, progress=progress or row.progress)


def reported(row: Action, progress: Progress) -> Action:
    """Return a row with the progress of its run."""
    return with_fields(row, progress=progress)


def asked_to_cancel(row: Action, *, by: str, at: datetime) -> Action:
    """Return a row whose run is requested to stop."""
    return with_fields(row, cancel_request=Act(at, by))


def skipped(
    row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, kept_until: datetime
) -> Action:
    """Return a pending row as skipped; one that a predecessor skips has the reason in `unmet` too."""
    return with_fields(
        row,
        status=Status.SKIPPED,
        skip_reason=reason,
        note=note or None,
        unmet=(note or reason.value) if reason is SkipReason.PREDECESSOR else row.unmet,
        changed=Act(at, by),
        kept_until=kept_until,
    )


def deferred(
    row: Action, *, until: datetime, held_by: str | None = None, waits_for: str | None = None
) -> Action:
    """Return a pending row that waits for its instant under a rate limit, or for the run of another job."""
    return with_fields(
        row,
        due_at=until,
        first_due_at=row.nominal_at,
        rate_slot=until if waits_for is None else row.rate_slot,
        waits_for=row.waits_for if waits_for is None else waits_for,
        generation=row.generation + 1,
        held_by=held_by or row.held_by,
    )


def cancelled(row: Action, *, by: str, at: datetime, kept_until: datetime) -> Action:
    """Return a pending row as cancelled."""
    return with_fields(row, status=Status.CANCELLED, changed=Act(at, by), kept_until=kept_until)


def rescheduled(
    row: Action, due_at: datetime, *, by: str, at: datetime, expires_at: datetime | None
) -> Action:
    """Return a pending row with another due time, and the expiry that counts from it."""
    return with_fields(
        row,
        due_at=due_at,
        first_due_at=None,
        expires_at=expires_at,
        generation=row.generation + 1,
        changed=Act(at, by),
    )


def redriven(row: Action, due_at: datetime, due_shard: str, *, by: str, at: datetime) -> Action:
    """Return a failed row as pending again. Its attempts stay."""
    return with_fields(
        row,
        status=Status.PENDING,
        due_at=due_at,
        due_shard=due_shard,
        first_due_at=row.nominal_at,
        generation=row.generation + 1,
        redriven_after=row.attempt,
        continued=0,
        recoveries=0,
        cancel_request=None,
        changed=Act(at, by),
        kept_until=None,
        dismissed_reason=None,
        expires_at=None,
    )


def dismissed(row: Action, reason: str, *, by: str, at: datetime) -> Action:
    """Return a failed row that is no dead letter any more."""
    return with_fields(row, dismissed_reason=reason, changed=Act(at, by))


def released(row: Action, *, now: datetime, unmet: str | None) -> Action:
    """Return a held row whose predecessors have ended: due at its own time, or at once if it must fail."""
    return with_fields(
        row,
        due_at=now if unmet else max(row.nominal_at, now),
        first_due_at=None,
        generation=row.generation + 1,
        unmet=unmet,
    )
