"""The outcome: the result of a handler's run, and the settlement of its action.

Pure; only this module sets precedence.

========================  =====================================================
the handler               the action
========================  =====================================================
returns                   executed; its message names an overrun
raises ``Fatal``          failed
raises ``Retry(after)``   pending after `after`, while the policy has attempts left
raises ``Continue``       pending at once, if it stored another checkpoint; else as an error
returns a hand-over       processing, without a worker; its completion executes the action
raises anything else      pending after the policy's back-off, while it has attempts left
stops on request          cancelled
========================  =====================================================

In a group of exceptions, as ``asyncio.TaskGroup`` raises, ``Fatal`` comes first, then a stop, then the
longest wait of all others.

The time-out of a hand-over ends the attempt as an error does. After a missed heartbeat, another run takes the
action over, as from a worker that died.

A run for another worker is put off: it is pending again, whatever the policy. After a requested cancel, an
action is not run again. No attempt starts later than the policy's ``give_up_after``, or from the action's
expiry on; the action fails instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duetime.errors import MESSAGE_LIMIT, truncate
from duetime.model.action import CONTINUES, Action, Ending, Status
from duetime.model.checkpoint import MOST_CONTINUATIONS
from duetime.model.hand_over import HandedOver
from duetime.model.lease import Settlement
from duetime.model.run import RunCancelled
from duetime.retry import Continue, Fatal, Retry, RetryPolicy


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one run, the reason, and whether a retry is useful."""

    ending: Ending
    message: str | None = None
    may_retry: bool = False
    retry_after: timedelta | None = None
    backs_off: bool = False
    """It waits at least for the back-off of its policy too."""
    is_put_off: bool = False
    """It did not begin, so no policy ends it."""
    continues: bool = False
    """It goes on from its checkpoint: only the expiry and a request to cancel end it."""
    hand_over: HandedOver | None = None
    """The handler has handed the action over: the run ends, and the action does not."""
    traceback: str | None = None
    """Of the exception that the handler raised, without secrets."""


SUCCEEDED = Outcome(Ending.EXECUTED)
CANCELLED = Outcome(Ending.CANCELLED, "the handler stopped as requested")
TIMED_OUT = Outcome(Ending.FAILED, "its hand-over has timed out: no completion came in time", may_retry=True)
UNDECIDED = Outcome(Ending.FAILED, "its approval has timed out: no decision came in time", may_retry=True)
EXPIRED = Outcome(Ending.FAILED, "it expired; no run of it begins any more")
PROBE_FAILED = "a probe of the breaker failed"
"""The beginning of the message of an attempt that no policy counts."""
OVERRAN = "it ran past its time-out"
"""The beginning of the message of an attempt that returned after its deadline."""
NOT_BEGUN = Outcome(Ending.CANCELLED, "cancelled while a worker that died ran it; not begun again")


def returned_at(now: datetime, deadline: datetime) -> Outcome:
    """Return the outcome of a run whose handler has returned; a plain one may return after its deadline."""
    if now <= deadline:
        return SUCCEEDED
    return replace(SUCCEEDED, message=f"{OVERRAN} by {(now - deadline).total_seconds():.1f} s")


def of_error(error: BaseException) -> Outcome:
    """Return the outcome of a run that raised. An exception has the same effect in a group as alone."""
    leaves = first, *others = sorted(leaves_of(error), key=_precedence)
    more = f"; and {len(others)} more" if others else ""
    match first:
        case RunCancelled():
            return CANCELLED
        case Fatal():
            return Outcome(Ending.FAILED, _message(first, error, more))
    waits = [leaf.after for leaf in leaves if isinstance(leaf, Retry) and leaf.after is not None]
    is_retry = isinstance(first, Retry)  # then all are: each other error precedes
    backs_off = not is_retry or any(isinstance(leaf, Retry) and leaf.after is None for leaf in leaves)
    return Outcome(
        Ending.RETRY if is_retry else Ending.FAILED,
        truncate(f"{truncate(first)}{more}") if is_retry else _message(first, error, more),
        may_retry=True,
        retry_after=max(waits, default=None),
        backs_off=backs_off,
    )


def leaves_of(error: BaseException) -> list[BaseException]:
    """Return the exceptions of a group, such as that of ``asyncio.TaskGroup``; one in no group is alone."""
    return [one for one in _tree_of(error) if not isinstance(one, BaseExceptionGroup)]


def _tree_of(error: BaseException) -> Iterator[BaseException]:
    left = [error]
    while left:
        yield (one := left.pop())
        if isinstance(one, BaseExceptionGroup):
            left += reversed(vars(BaseExceptionGroup)["exceptions"].__get__(one))  # whatever a subclass has


def _precedence(leaf: BaseException) -> int:
    order: tuple[type[BaseException], ...] = (Fatal, RunCancelled, BaseException)
    if isinstance(leaf, Retry | Continue):
        return len(order) + isinstance(leaf, Continue)
    return next(place for place, kind in enumerate(order) if isinstance(leaf, kind))


def put_off(after: timedelta, reason: str) -> Outcome:
    """Return the outcome of a run that waits for another worker."""
    return Outcome(Ending.RETRY, truncate(reason), may_retry=True, retry_after=after, is_put_off=True)


def of_continue(action: Action, *, has_advanced: bool) -> Outcome:
    """Return the outcome of a run of `action` (as claimed) that raised `Continue`.

    Args:
        action: the row.
        has_advanced: whether the run has stored another checkpoint than the one with which it began.
    """
    if not has_advanced:
        problem = "Continue without progress: the run stored no other checkpoint than the one it began with"
        return Outcome(Ending.FAILED, problem, may_retry=True)
    if action.continued >= MOST_CONTINUATIONS:
        limit = f"it has continued {action.continued} times, the most that is allowed; a redrive allows more"
        return Outcome(Ending.FAILED, limit)
    return Outcome(
        Ending.RETRY, CONTINUES, may_retry=True, retry_after=timedelta(0), is_put_off=True, continues=True
    )


def settlement(
    outcome: Outcome,
    action: Action,
    policy: RetryPolicy,
    *,
    now: datetime,
    retention: timedelta,
    jitter_draw: float,
    expires_at: datetime | None = None,
) -> Settlement:
    """Return the settlement of `action` (as claimed).

    Args:
        outcome: how its run ended.
        action: the row.
        policy: its retry policy.
        now: when the run ended.
        retention: how long a final row is kept.
        jitter_draw: in [0, 1), draws the jitter.
        expires_at: from when on no attempt may begin.
    """
    again_at = _next_attempt_at(outcome, action, policy, now, jitter_draw)
    message, may_expire = outcome.message, outcome.continues or not outcome.is_put_off
    if again_at and expires_at and again_at >= expires_at and may_expire:
        again_at, message = None, "it expired before it could continue" if outcome.continues else message
    return Settlement(
        status=Status.PENDING if again_at else _FINAL[outcome.ending],
        ending=outcome.ending,
        finished_at=now,
        message=message,
        due_at=again_at,
        kept_until=None if again_at else now + retention,
        continues=outcome.continues and again_at is not None,
    )


def final_instead(retry: Settlement, *, retention: timedelta) -> Settlement:
    """Return the final settlement in place of a retry, after a requested cancel."""
    kept_until = retry.finished_at + retention
    if retry.continues:
        stopped = Settlement(
            status=Status.CANCELLED,
            ending=CANCELLED.ending,
            message=CANCELLED.message,
            finished_at=retry.finished_at,
        )
        return replace(stopped, kept_until=kept_until)
    return replace(retry, status=_FINAL[retry.ending], due_at=None, kept_until=kept_until)


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
    if not outcome.may_retry:
        return None
    spent = action.attempt - action.redriven_after - action.continued - _failed_probes(action)
    if spent >= policy.attempts:
        return None
    wait = outcome.retry_after or timedelta(0)
    if outcome.backs_off or outcome.retry_after is None:
        wait = max(wait, policy.delay(spent, jitter_draw))
    if policy.give_up_after is not None and now + wait > action.tried_since + policy.give_up_after:
        return None
    return now + wait


def _failed_probes(action: Action) -> int:
    """Return how many of the stored attempts since the last redrive were probes, which use up no attempt."""
    return sum(
        number > action.redriven_after
        and attempt.ending is Ending.RETRY
        and (attempt.message or "").startswith(PROBE_FAILED)
        for number, attempt in action.numbered_attempts()
    )


def _message(error: BaseException, raised: BaseException, more: str) -> str:
    """Return an exception as a reason: its class and text; its notes and cause, and those of the groups."""
    parts = [named(error)]
    if isinstance(error, SystemExit | KeyboardInterrupt):
        parts.append("a handler must not end its process")
    for one in (error, *(part for part in _tree_of(raised) if isinstance(part, BaseExceptionGroup))):
        notes = getattr(one, "__notes__", None)
        parts += map(truncate, notes if isinstance(notes, list) else ())
        if one.__cause__ is not None and (cause := in_words(one.__cause__)) not in parts[0]:
            parts.append(f"caused by {cause}")
    return truncate(truncate("; ".join(dict.fromkeys(parts)), MESSAGE_LIMIT - len(more)) + more)


def in_words(error: BaseException) -> str:
    """Return the class and text of an exception; of a group, those of a leaf, and how many more it has."""
    first, *others = leaves_of(error)
    return f"{named(first)}; and {len(others)} more" if others else named(first)


def named(error: BaseException) -> str:
    """Return the class and the text of an exception."""
    text = truncate(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
