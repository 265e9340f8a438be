"""The outcome: the result of a handler's run, and the settlement of its action.

Pure; only this module sets precedence.

========================  =====================================================
the handler               the action
========================  =====================================================
returns                   executed
raises ``Fatal``          failed
raises ``Retry(after)``   pending after `after`, while the policy has attempts left
raises anything else      pending after the policy's back-off, while it has attempts left
stops on request          cancelled
========================  =====================================================

A run for another worker is put off: it is pending again, whatever the policy. After a requested cancel, an
action is not run again. No attempt starts later than the policy's ``give_up_after``; the action fails
instead.
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
    """The end of one run, the reason, and whether a retry is useful."""

    ending: Ending
    message: str | None = None
    may_retry: bool = False
    retry_after: timedelta | None = None
    is_put_off: bool = False
    """It did not begin, so no policy ends it."""


SUCCEEDED = Outcome(Ending.EXECUTED)
CANCELLED = Outcome(Ending.CANCELLED, "the handler stopped as requested")
NOT_BEGUN = Outcome(Ending.CANCELLED, "cancelled while a worker that died ran it; not begun again")


def of_error(error: BaseException) -> Outcome:
    """Return the outcome of a run that raised."""
    if _is_cancelled(error):
        return CANCELLED
    match error:
        case SystemExit() | KeyboardInterrupt():
            return Outcome(
                Ending.FAILED,
                truncate(f"{_message(error)}; a handler must not end its process"),
                may_retry=True,
            )
        case Fatal():
            return Outcome(Ending.FAILED, _message(error))
        case Retry():
            return Outcome(Ending.RETRY, truncate(error), may_retry=True, retry_after=error.after)
        case _:
            return Outcome(Ending.FAILED, _message(error), may_retry=True)


def put_off(after: timedelta, reason: str) -> Outcome:
    """Return the outcome of a run that waits for another worker."""
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
    """Return the settlement of `action` (as claimed); `jitter_draw` in [0, 1) draws the jitter."""
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
    """Return the final settlement in place of a retry, after a requested cancel."""
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
    """Return the start of the policy's ``give_up_after``: the first due time, or the last redrive."""
    if action.redriven_after and action.changed_at:
        return action.changed_at
    return action.nominal_at


def _message(error: BaseException) -> str:
    text = truncate(error)
    return truncate(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _is_cancelled(error: BaseException) -> bool:
    """Return whether the run was cancelled; a task group of asyncio raises a group."""
    if isinstance(error, BaseExceptionGroup):
        return all(_is_cancelled(part) for part in error.exceptions)
    return isinstance(error, RunCancelled)
