"""Step 4 for a job's run, *admit*: a claim that its job has a say in.

It reads the row, the job and the holder of its lock; `claim_policy` decides; it writes what was decided if
nothing of that has changed meanwhile; else it reads again. What is skipped is skipped with its reason: no
occurrence disappears.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from duetime import ids
from duetime.errors import BackendUnavailable, truncate
from duetime.ids import PLANNER
from duetime.jobs.claim_policy import (
    AlreadyClaimed,
    Bounds,
    ClaimContext,
    ClaimDecision,
    Proceed,
    Skip,
    Wait,
    decide,
    is_first,
)
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.job import Job, JobRef
from duetime.model.lease import ClaimTerms, LeaseHeld
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobRunClaim, JobStore, LockRequirement
from duetime.retry import RetryPolicy
from duetime.settings import Settings

LOOK_AGAIN = 15
"""Seconds after which a run that waits for its job's lock looks again; the holder's end wakes it sooner."""

_CHANGE = timedelta(minutes=15)
"""Longer than a change of version takes: a Lambda runs no longer."""

_RACES = 10


@dataclass(frozen=True, slots=True)
class ClaimWon:
    """The claim was won: the row as this run holds it, and its job as it was then."""

    action: Action
    job: Job | None
    hold: LockRequirement


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not now: look again in so many seconds."""

    seconds: int


def job_ref_of(action: Action) -> JobRef | None:
    """The job whose run an action is."""
    name = action.job
    return None if name is None else JobRef(action.job_tenant or action.tenant_id, name)


class ClaimJobRun:
    """Claims runs of jobs."""

    def __init__(self, actions: ActionStore, jobs: JobStore, *, settings: Settings) -> None:
        self._actions, self._jobs, self._settings = actions, jobs, settings

    def __call__(
        self, ref: ActionRef, terms: ClaimTerms, handlers: RetryPolicy
    ) -> ClaimWon | LeaseHeld | Waiting | None:
        """Claim, skip or put off a run; None when there is nothing to do, or when it was skipped.

        Args:
            ref: the action.
            terms: what the worker asks for; the retry policy in them gives way to the job's.
            handlers: the policy of the handler itself.

        Raises:
            BackendUnavailable: the job kept changing, or a service did not answer; the message must come
                again.
        """
        bounds = Bounds(now=terms.now, skew=terms.skew, grace=self._settings.job_grace)
        for _ in range(_RACES):
            seen = self._look(ref)
            if seen is None:
                return None
            verdict = decide(seen, terms.nonce, bounds)
            done = self._obey(verdict, seen, _with_policy(terms, seen, handlers))
            if not isinstance(done, _ReadAgain):
                return done
        raise BackendUnavailable("the jobs table", f"the job of {ref.id} kept changing while it was claimed")

    def _look(self, ref: ActionRef) -> ClaimContext | None:
        row = self._actions.get(ref)
        owner = None if row is None else job_ref_of(row)
        if row is None or owner is None:
            return None
        job = self._jobs.get(owner)
        others = [job.running, job.waiting] if job else [None, None]
        holder, waiting = (self._actions.get(other) if other and other != ref else None for other in others)
        previous = self._former(row, job) if job and is_first(row) else ()
        return ClaimContext(row=row, job=job, holder=holder, waiting=waiting, previous=previous)

    def _former(self, row: Action, job: Job) -> tuple[Action, ...]:
        """What former versions planned for the same nominal time.

        One may have been begun between the instant at which its version ended and the write that said so:
        once the job is read, nothing of a former version begins any more, and what has begun is seen.
        """
        if ids.version_of(row.id) != job.version or ids.is_manual_run(row.id):
            return ()
        nominal_at = ids.nominal_at(row.id)
        ended = [number for number, end in job.ends.items() if nominal_at - _CHANGE <= end < nominal_at]
        refs = [ActionRef(row.tenant_id, ids.occurrence_id(job.name, number, nominal_at)) for number in ended]
        return tuple(self._actions.get_rows(refs)) if refs else ()

    def _obey(
        self, verdict: ClaimDecision, seen: ClaimContext, terms: ClaimTerms
    ) -> ClaimWon | LeaseHeld | Waiting | _ReadAgain | None:
        match verdict:
            case AlreadyClaimed():
                return ClaimWon(seen.row, seen.job, _hold_of(seen))
            case Proceed():
                return self._take(verdict, seen, terms)
            case Skip():
                return self._skip(verdict, seen, terms)
            case Wait():
                return self._wait(verdict, seen, terms)
            case _:
                return verdict

    def _take(self, go: Proceed, seen: ClaimContext, terms: ClaimTerms) -> ClaimWon | _ReadAgain:
        if seen.job is None:
            return _AGAIN
        claimed = replace(transition.started(seen.row, terms), catches_up=go.catches_up)
        dead = seen.holder if go.takes_over_lock else None
        dead_ref = seen.job.running if go.takes_over_lock else None
        taking = JobRunClaim(
            row=seen.row, claimed=claimed, job=seen.job, hold=go.hold, dead=dead, dead_ref=dead_ref
        )
        return ClaimWon(claimed, seen.job, go.hold) if self._jobs.claim(taking) else _AGAIN

    def _skip(self, skip: Skip, seen: ClaimContext, terms: ClaimTerms) -> _ReadAgain | None:
        row, owner = seen.row, job_ref_of(seen.row)
        ended = transition.skipped(
            row,
            skip.reason,
            note=truncate(skip.note),
            by=PLANNER,
            at=terms.now,
            expires_at=terms.now + self._settings.retention,
        )
        if owner is None or not self._jobs.end_pending(row, ended, owner):
            return _AGAIN
        return None  # the stream shows it: see `notice`

    def _wait(self, wait: Wait, seen: ClaimContext, terms: ClaimTerms) -> Waiting | _ReadAgain:
        if seen.job is None:
            return _AGAIN
        ref = seen.row.ref
        if wait.takes_the_place and seen.job.waiting != ref and not self._jobs.wait(seen.job, ref):
            return _AGAIN
        if wait.cancels and seen.holder is not None and self._stop(seen.holder, ref, terms):
            return _AGAIN
        return Waiting(LOOK_AGAIN)

    def _stop(self, holder: Action, by: ActionRef, terms: ClaimTerms) -> bool:
        """Ask the holder of the lock to stop; True when that has freed the lock at once."""
        if holder.status is Status.PROCESSING:
            self._actions.ask_to_cancel(holder.ref, by=by.id, at=terms.now)
            return False
        ended = transition.cancelled(
            holder, by=by.id, at=terms.now, expires_at=terms.now + self._settings.retention
        )
        owner = job_ref_of(holder)
        return owner is not None and self._jobs.end_pending(holder, ended, owner)


class _ReadAgain:
    """What was read has changed: read again."""


_AGAIN = _ReadAgain()


def _with_policy(terms: ClaimTerms, seen: ClaimContext, handlers: RetryPolicy) -> ClaimTerms:
    policy = handlers if seen.job is None else seen.job.policy_for(seen.row.cadence, handlers)
    return replace(terms, retry=policy.text())


def _hold_of(seen: ClaimContext) -> LockRequirement:
    return (
        LockRequirement.LOCK
        if seen.job is not None and seen.job.running == seen.row.ref
        else LockRequirement.NOTHING
    )
