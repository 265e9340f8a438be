"""The outcome: what came of a handler's run, and how the action is settled for it. Pure; the precedence is here alone.

========================  =====================================================
the handler               the action
========================  =====================================================
returns                   executed
raises ``Fatal``          failed
raises ``Retry(after)``   pending after `after`, while the policy has attempts left
raises anything else      pending after the policy's back-off, while it has attempts left
stops as it was asked to  cancelled
========================  =====================================================

A run that another worker must make is put off: whatever the policy says, it is pending again.
An action whose cancel was asked for is not run again. No attempt starts later than the policy's ``give_up_after``: an action that would is failed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime.errors import truncate
from duetime.model.action import Action, Ending, Status
from duetime.model.lease import Settlement
from duetime.model.run import RunCancelled
from duetime.retry import Fatal, Retry, RetryPolicy


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run ended: the ending, why, and whether another attempt makes sense."""

    ending: Ending
    message: str | None = None
    may_retry: bool = False
    retry_after: timedelta | None = None
    is_put_off: bool = False
    """It never began: no policy ends it."""


SUCCEEDED = Outcome(Ending.EXECUTED)
CANCELLED = Outcome(Ending.CANCELLED, "the handler stopped as it was asked to")


def of_error(error: BaseException) -> Outcome:
    """The outcome of a run that raised."""
    match error:
        case RunCancelled():
            return CANCELLED
        case Fatal():
            return Outcome(Ending.FAILED, _told(error))
        case Retry():
            return Outcome(Ending.RETRY, truncate(error), may_retry=True, retry_after=error.after)
        case _:
            return Outcome(Ending.FAILED, _told(error), may_retry=True)


def put_off(after: timedelta, reason: str) -> Outcome:
    """The outcome of a run that is not for this worker, and waits for one whose it is."""
    return Outcome(Ending.RETRY, truncate(reason), may_retry=True, retry_after=after, is_put_off=True)


def settlement(
    outcome: Outcome,
    action: Action,
    policy: RetryPolicy,
    *,
    now: datetime,
    retention: timedelta,
    jitter_draw: float,
) -> Settlement:
    """How to settle `action` (as claimed) after `outcome`; `jitter_draw` in [0, 1) draws the jitter."""
    again_at = _next_attempt_at(outcome, action, policy, now, jitter_draw)
    return Settlement(
        status=Status.PENDING if again_at else _FINAL[outcome.ending],
        ending=outcome.ending,
        finished_at=now,
        message=outcome.message,
        due_at=again_at,
        expires_at=None if again_at else now + retention,
    )


def final_instead(retry: Settlement, *, retention: timedelta) -> Settlement:
    """The settlement for a run that would have been repeated, had nobody asked to cancel it."""
    return replace(retry, status=_FINAL[retry.ending], due_at=None, expires_at=retry.finished_at + retention)


_FINAL = {
    Ending.EXECUTED: Status.EXECUTED,
    Ending.FAILED: Status.FAILED,
    Ending.RETRY: Status.FAILED,
    Ending.CANCELLED: Status.CANCELLED,
}


def _next_attempt_at(
    outcome: Outcome, action: Action, policy: RetryPolicy, now: datetime, jitter_draw: float
) -> datetime | None:
    if outcome.is_put_off and outcome.retry_after is not None:
        return now + outcome.retry_after
    spent = action.attempt - action.redriven_after
    if not outcome.may_retry or spent >= policy.attempts:
        return None
    wait = policy.delay(spent, jitter_draw) if outcome.retry_after is None else outcome.retry_after
    if policy.give_up_after is not None and now + wait > _first_due(action) + policy.give_up_after:
        return None
    return now + wait


def _first_due(action: Action) -> datetime:
    """The policy's clock starts at the first due time, and anew with a redrive."""
    if action.redriven_after and action.changed_at:
        return action.changed_at
    return action.nominal_at


def _told(error: BaseException) -> str:
    return truncate(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
