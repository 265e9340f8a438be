"""The claim policy: decide whether a job's run may begin.

Pure; `ClaimJobRun` reads the rows and writes the decision.

===================================  ==================================================================
the run                              is
===================================  ==================================================================
processing, under a live lease       held by another worker
an occurrence of a removed or paused skipped, with the reason, if it was due after that
job, or of a previous version
an occurrence that a previous        skipped as covered
version has run
claimed later than the job's grace   skipped as missed, unless its job catches it up; of one that waits
                                     for another job, the grace follows its time-out
one whose job runs after another     postponed until that job's run of the day has succeeded; skipped at
                                     the time-out
a run of a backfill                  run, without the lock; skipped if its job is removed before it begins
anything else of a job with overlap  run
the only one of its job              run, under the job's lock
one whose job has just ceased to     wait: the runs that began without the lock are not known yet
allow overlap
beside another one                   what the job's overlap policy says
===================================  ==================================================================

A manual run needs its job's lock alone. Only a retry, a redrive, a take-over and a run that catches up wait
for the lock, whatever the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from duetime import ids, instant
from duetime.model.action import Action, ActionRef, SkipReason, Status, Trigger
from duetime.model.job import WHOLE_JOB, Job, Overlap, Pause
from duetime.model.lease import LeaseHeld
from duetime.ports.actions import DamagedRow, Holder
from duetime.ports.jobs import LockRequirement

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Proceed:
    """Run it, if the job's row still permits it; the lock of a dead run may be taken over.

    Attributes:
        catches_up: whether it runs a missed occurrence late.
    """

    hold: LockRequirement
    takes_over_lock: bool = False
    catches_up: bool = False


@dataclass(frozen=True, slots=True)
class Skip:
    """Do not run it, for this reason."""

    reason: SkipReason
    note: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again later.

    Attributes:
        takes_the_place: whether it takes the policy's one waiting place.
        cancels: whether the lock's holder is requested to stop.
    """

    takes_the_place: bool = False
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Postpone:
    """Move its due time: it waits for the run of another job.

    Attributes:
        waits_for: that run; the job's name while it is not declared.
        follows: the rows of that run whose success must still be made to wake this one.
    """

    until: datetime
    waits_for: str
    follows: tuple[ActionRef, ...] = ()


class AlreadyClaimed:
    """This claim was made already, and its response lost."""


ClaimDecision = Proceed | Skip | Wait | Postpone | LeaseHeld | AlreadyClaimed | None
"""None: nothing to do; a wake came too early or too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """The rows that a claim of a job's run has read.

    Attributes:
        holder: the row of the run that holds the lock, if that is another run. It may be damaged.
        waiting: the row of the run that waits for the lock, if that is another run.
        previous: the rows of recent previous versions for the same nominal time.
        problem: why the planner cannot have written the row, if so.
        predecessor: why it cannot begin yet, or any more, if its job runs after another one.
        unlocked: the rows of runs in progress without the lock, as above; None while they are not known yet.
    """

    row: Action
    job: Job | None
    holder: Holder | None
    waiting: Action | None
    previous: tuple[Action, ...] = ()
    problem: str | None = None
    predecessor: Skip | Postpone | None = None
    unlocked: tuple[Holder, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The present time, and the tolerance for clocks and claims."""

    now: datetime
    skew: timedelta
    grace: timedelta


def decide(seen: ClaimContext, nonce: str, bounds: Bounds) -> ClaimDecision:
    """Return the decision on a claim under `nonce`."""
    row = seen.row
    if row.status is Status.PROCESSING and row.lease_until is not None:
        if row.nonce == nonce:
            return AlreadyClaimed()
        if not _has_ended(row, bounds):
            return LeaseHeld(row.lease_until)
    elif row.status is not Status.PENDING or row.due_at > bounds.now:
        return None
    if seen.job is None or seen.problem is not None:
        reason = SkipReason.DISABLED if seen.job is None else SkipReason.REFUSED
        return Skip(reason, seen.problem or "its job is gone") if row.status is Status.PENDING else None
    if is_first(row) and row.trigger is not Trigger.MANUAL:
        refusal = _covered(seen.previous) or _refusal(row, seen.job, bounds)
        if refusal is not None or seen.predecessor is not None:
            return refusal or seen.predecessor
    return _contend(seen, seen.job, bounds)


def is_first(row: Action) -> bool:
    """Return whether it has never run."""
    return row.status is Status.PENDING and row.attempt == 0


def _covered(previous: tuple[Action, ...]) -> Skip | None:
    """Return a skip if a previous version has run this time.

    The job was read first, so no other can begin.
    """
    ran = next((other for other in previous if other.attempt > 0), None)
    return Skip(SkipReason.COVERED, f"{ran.id} ran at this time") if ran else None


def _refusal(row: Action, job: Job, bounds: Bounds) -> Skip | None:
    """Return why an occurrence, an event's run or a backfill's must not run."""
    nominal, version = ids.nominal_at(row.id), ids.version_of(row.id)
    is_backfill = row.trigger is Trigger.BACKFILL
    if job.removed_at is not None and (is_backfill or nominal > job.removed_at):
        return Skip(SkipReason.DISABLED, f"{job.name} is no longer declared")
    if is_backfill:
        return None
    end = None if version is None else job.end_of(version)
    if end is not None and nominal > end:
        return Skip(SkipReason.RETIRED, f"version {job.version} of {job.name} has taken over")
    if (pause := _pause_of(row, job, nominal, bounds.now)) is not None:
        return Skip(
            SkipReason.PAUSED, f"paused by {pause.by}" + (f": {pause.reason}" if pause.reason else "")
        )
    if _is_late(row, job, bounds) and not _catches_up(nominal, job, bounds):
        late = round((bounds.now - row.due_at).total_seconds())
        return Skip(SkipReason.MISSED, f"it could be claimed only {late} s after it was due")
    return None


def _pause_of(row: Action, job: Job, nominal: datetime, now: datetime) -> Pause | None:
    """Return the pause that applies: the job's, or its cadence's if no other cadence is due then."""
    is_due = _is_due_otherwise(row, job, nominal)
    names = (WHOLE_JOB,) if is_due else (WHOLE_JOB, row.cadence or WHOLE_JOB)
    pauses = (job.pauses[name] for name in names if name in job.pauses)
    covering = (pause for pause in pauses if nominal > pause.since and not pause.is_over(now))
    return next((pause.at(nominal) for pause in covering), None)


def _is_due_otherwise(row: Action, job: Job, nominal: datetime) -> bool:
    """Return whether a cadence without a pause made it due, too."""
    if row.cadence not in job.pauses or row.trigger is Trigger.EVENT:
        return False
    others = (cadence for name, cadence in job.cadence_set.by_name.items() if name not in job.pauses)
    return any(other.next_after(nominal - _SECOND) == nominal for other in others)


def wait_ends_at(row: Action, job: Job) -> datetime:
    """Return the time-out of a run that waits for another job's.

    Of one that catches up a missed time, it counts from when that was planned.
    """
    begun = max(ids.nominal_at(row.id), row.planned.at if row.planned else instant.EARLIEST)
    return begun + timedelta(seconds=job.definition.waits_at_most)


def _is_late(row: Action, job: Job, bounds: Bounds) -> bool:
    """Return whether a new occurrence is past its job's grace; one that waits for the lock is not.

    One that waits for another job has been claimed in time, so only its time-out bounds it.
    """
    is_fresh = is_first(row) and row.trigger is Trigger.CADENCE
    due_at = max(row.due_at, wait_ends_at(row, job)) if row.waits_for_run else row.due_at
    return is_fresh and bounds.now - due_at > bounds.grace and job.waiting != row.ref


def _catches_up(nominal: datetime, job: Job, bounds: Bounds) -> bool:
    """Return whether a nominal time is one of the latest missed ones that the job catches up."""
    most = job.definition.catch_up
    later = job.cadence_set.between(nominal, bounds.now - bounds.grace)
    return len(list(islice(later, most))) < most


def _contend(seen: ClaimContext, job: Job, bounds: Bounds) -> ClaimDecision:
    row = seen.row
    catches_up = (row.planned is not None and row.planned.catches_up) or _is_late(row, job, bounds)
    if job.definition.overlap is Overlap.ALLOW or row.trigger is Trigger.BACKFILL:
        is_unchecked = row.trigger is Trigger.BACKFILL or (is_first(row) and row.trigger is Trigger.EVENT)
        hold = LockRequirement.NOTHING if is_unchecked else LockRequirement.UNCHANGED
        return Proceed(hold, catches_up=catches_up)
    if seen.unlocked is None:
        return Wait()
    if live := _live_unlocked(seen, bounds):
        latest = max(live, key=_place_of_holder)
        seen, job = replace(seen, holder=latest), replace(job, running=latest.ref)
    return _contend_for_lock(seen, job, bounds, catches_up=catches_up)


def _contend_for_lock(seen: ClaimContext, job: Job, bounds: Bounds, *, catches_up: bool) -> ClaimDecision:
    row = seen.row
    if job.running is None and job.definition.overlap is Overlap.QUEUE_ONE and _is_after(row, seen.waiting):
        return Wait()
    if job.running in {None, row.ref}:
        return Proceed(LockRequirement.LOCK, catches_up=catches_up)
    if _is_dead(seen.holder, bounds):
        return Proceed(LockRequirement.LOCK, takes_over_lock=True, catches_up=catches_up)
    if not is_first(row) or catches_up:
        return Wait()
    return _beside(seen, job)


def holders(seen: ClaimContext, bounds: Bounds) -> Sequence[Holder]:
    """Return the runs for which this one waits: live ones without the lock, or else the lock's holder."""
    return _live_unlocked(seen, bounds) or ([seen.holder] if seen.holder else [])


def _live_unlocked(seen: ClaimContext, bounds: Bounds) -> Sequence[Holder]:
    return [row for row in seen.unlocked or () if not _is_over(row, bounds)]


def _beside(seen: ClaimContext, job: Job) -> Skip | Wait:
    overlap, holder = job.definition.overlap, job.running.id if job.running else "another run"
    if overlap not in {Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING}:
        return Skip(SkipReason.OVERLAP, f"{holder} was running")
    cancels, waiting = overlap is Overlap.CANCEL_RUNNING, seen.waiting
    if cancels and seen.holder is not None and _place_of_holder(seen.holder) > _place(seen.row):
        return Skip(SkipReason.OVERLAP, f"{holder} is later, and was running")
    if waiting is None or waiting.status is not Status.PENDING:
        return Wait(takes_the_place=True, cancels=cancels)
    if not cancels:
        return Skip(SkipReason.OVERLAP, f"{holder} was running, and {waiting.id} waiting")
    if _place(waiting) > _place(seen.row):
        return Skip(SkipReason.OVERLAP, f"{waiting.id} is later, and takes its place")
    return Wait(takes_the_place=True, cancels=True)


def _is_after(row: Action, waiting: Action | None) -> bool:
    return waiting is not None and waiting.status is Status.PENDING and is_first(row)


def _place(row: Action) -> tuple[datetime, str]:
    return row.nominal_at, row.id


def _place_of_holder(holder: Holder) -> tuple[datetime, str]:
    """Return the place of a holder; that of a damaged one comes first."""
    return (datetime.min.replace(tzinfo=UTC), "") if isinstance(holder, DamagedRow) else _place(holder)


def _is_dead(holder: Holder | None, bounds: Bounds) -> bool:
    """Return whether the holder cannot free the lock: its row is gone or settled, or its worker died.

    A damaged row cannot be retried, so a pending one counts as dead.
    """
    if isinstance(holder, DamagedRow):
        return holder.is_over(bounds.now, bounds.skew)
    if holder is None or holder.status.is_final:
        return True
    return holder.status is Status.PROCESSING and _has_ended(holder, bounds)


def _is_over(row: Holder, bounds: Bounds) -> bool:
    return row.is_over(bounds.now, bounds.skew) if isinstance(row, DamagedRow) else _has_ended(row, bounds)


def _has_ended(row: Action, bounds: Bounds) -> bool:
    return row.lease_until is not None and row.lease_until + bounds.skew < bounds.now
