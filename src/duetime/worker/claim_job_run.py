"""Step 4 for a job's run, *claim*: the job decides whether the run may begin.

The claim reads the row, the job and the holder of the job's lock. `claim_policy` decides. The claim then
writes the decision, if those rows are unchanged; otherwise it reads them again. A skipped run stores its
reason: no occurrence disappears.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from duetime import ids
from duetime.errors import BackendUnavailable, truncate
from duetime.ids import PLANNER
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.jobs.claim_policy import (
    AlreadyClaimed,
    Bounds,
    ClaimContext,
    ClaimDecision,
    Postpone,
    Proceed,
    Skip,
    Wait,
    decide,
    holders,
    is_first,
)
from duetime.jobs.end_hand_over import EndHandOver
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason, Status, Trigger
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Definition, Job, job_ref_of
from duetime.model.lease import ClaimTerms, LeaseHeld, MustBeAlone, Rejected
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DamagedRow, Holder
from duetime.ports.backends import JobTables
from duetime.ports.jobs import JobRunClaim, LockRequirement
from duetime.retry import RetryPolicy
from duetime.settings import MOST_DUE_SHARDS
from duetime.worker.claim_results import ClaimResult, ClaimWon, LockFreed, Waiting, read_holders
from duetime.worker.paused_work import PausedWork

log = logging.getLogger(__name__)


SETTLED_AFTER = timedelta(minutes=1)
"""Longer than a claim's request, and the lag of the index."""

_PAGE = 1_000
_SHARDS = tuple(map(str, range(MOST_DUE_SHARDS)))
"""All that rows may be in, whatever `due_shards` was when they were put. The surplus ones come second."""


def find_unlocked(
    actions: ActionStore, job: Job, ref: ActionRef, terms: ClaimTerms
) -> tuple[Holder, ...] | None:
    """Return the rows of runs in progress without the lock, or None if these are not known yet.

    Args:
        actions: the rows.
        job: the job, as read before.
        ref: the run that claims; it is left out.
        terms: the claim's.
    """
    if job.unlocked_since is None:
        return ()
    if terms.now < job.unlocked_since + SETTLED_AFTER + terms.skew:
        return None
    others = {ref, job.running}
    found: list[Holder] = []
    for shards in (actions.due_shards, set(_SHARDS) - {*actions.due_shards}):
        rows = read_holders(actions, [*_due(actions, job, shards, terms.now + terms.skew)], terms).values()
        found += (row for row in rows if _is_run_of(row, job) and row.ref not in others)
        if any(row.lease_until is not None and row.lease_until > terms.now for row in found):
            break  # a live one decides; those in surplus shards matter only without it
    return tuple(found)


def _is_run_of(row: Holder, job: Job) -> bool:
    """Return whether a row is a run of this job in progress. A damaged one may be."""
    if isinstance(row, DamagedRow):
        return row.may_run and (row.ref.tenant_id == job.ref.tenant_id or ids.is_event_run(row.ref.id))
    is_in_progress = row.status is Status.PROCESSING and row.trigger is not Trigger.BACKFILL
    return is_in_progress and job_ref_of(row) == job.ref


def _due(actions: ActionStore, job: Job, shards: Collection[str], until: datetime) -> Iterator[ActionRef]:
    """Yield the unsettled runs of jobs of this name in some due shards, in all tenants."""
    for shard in shards:
        cursor = None
        while True:
            page = actions.due(shard, after=None, until=until, limit=_PAGE, cursor=cursor)
            yield from (entry.ref for entry in page.entries if ids.job_of(entry.ref.id) == job.name)
            if (cursor := page.cursor) is None:
                break


_SHARE_OF_WAIT = 0.25
"""The delay before the next claim of a run that waits for its job's lock, as a share of the time waited."""

_SOONEST, _LATEST = timedelta(seconds=15), timedelta(seconds=60)
"""The bounds of that delay."""

_LATEST_IN_PLACE = timedelta(minutes=5)
"""The longest delay for the run in the policy's one waiting place: the holder's end wakes it sooner."""

_CHANGE = timedelta(minutes=15)
"""Longer than a change of version takes: a Lambda function runs for at most 15 minutes."""


def _could_plan(definition: Definition, row: Action, anchor: datetime) -> bool:
    """Return whether the job's planner writes rows of this type, and for this tenant."""
    if definition.type != row.type:
        return False
    if row.planned is None or row.planned.job_tenant is None:
        return True
    triggers = CadenceSet.parse(definition.cadences, anchor).triggers
    return any(trigger.name == row.cadence and trigger.tenant for trigger in triggers)


def _freed(context: ClaimContext) -> LockFreed | None:
    """Return the run that waits for the lock of a job, if no run holds it.

    A worker's settle wakes it. The party that ends a hand-over cannot: `duetime.wakeups.follow`.
    """
    is_free = context.job is not None and context.job.running is None
    return LockFreed(context.waiting) if is_free and context.waiting is not None else None


class ClaimJobRun:
    """Claims runs of jobs."""

    def __init__(self, backends: JobTables, paused: PausedWork) -> None:
        self._actions, self._jobs, self._paused = backends.store, backends.jobs, paused
        self._settings = backends.settings
        self._end_hand_over = EndHandOver(self._actions, lambda: self._jobs, settings=self._settings)

    def __call__(self, ref: ActionRef, terms: ClaimTerms, handlers: RetryPolicy) -> ClaimResult:
        """Claim, skip or delay a run; return None if it needs no more work.

        Args:
            ref: the action.
            terms: the worker's terms; a retry policy of the job replaces theirs.
            handlers: the policy of the handler itself.

        Raises:
            BackendUnavailable: the job kept changing, or a service did not respond; the message must come
                again.
        """
        bounds = Bounds(now=terms.now, skew=terms.skew, grace=self._settings.job_grace)

        def claim() -> ClaimResult | Conflict:
            context = self._read(ref, terms)
            if context is None or terms.is_fenced_off(context.row):
                return None
            if context.row.status.is_final:
                return _freed(context)
            if terms.must_be_alone(context.row):
                return MustBeAlone(context.row.recoveries)
            if (skip := self._paused.skip_of(context.row, terms)) is not None:
                return self._skip(Skip(SkipReason.PAUSED, skip.note(terms.now)), context, terms)
            if (held := self._paused.hold_of_row(context.row, terms)) is not None:
                return held
            job, policy = context.job, handlers
            if job is not None:
                policy = job.policy_for(context.row.cadence, handlers)
            decision = decide(context, terms.nonce, bounds)
            return self._write(decision, context, self._with_history(terms, context.row, policy), bounds)

        result = retry_on_conflict(claim)
        if isinstance(result, Conflict):
            raise BackendUnavailable("the jobs table", f"the job of {ref.id} kept changing during the claim")
        return result

    def _with_history(self, terms: ClaimTerms, row: Action, policy: RetryPolicy) -> ClaimTerms:
        return replace(terms, retry=policy.text(), held_by=self._paused.held_by(row))

    def _read(self, ref: ActionRef, terms: ClaimTerms) -> ClaimContext | None:
        row = self._actions.get(ref)
        owner = None if row is None else job_ref_of(row)
        if row is None or owner is None:
            return None
        job = self._jobs.get(owner)
        if row.trigger is Trigger.BACKFILL:
            problem = self._problem(row, job) if job else None
            return ClaimContext(row=row, job=job, holder=None, waiting=None, problem=problem)
        others = {other for other in (job.running, job.waiting) if other and other != ref} if job else set()
        rows = read_holders(self._actions, others, terms)
        waiting = rows.get(job.waiting) if job and job.waiting else None
        previous = self._previous(row, job) if job and is_first(row) else ()
        problem = self._problem(row, job) if job else None
        unlocked = find_unlocked(self._actions, job, ref, terms) if job else ()
        return ClaimContext(
            row=row,
            job=job,
            holder=rows.get(job.running) if job and job.running else None,
            waiting=None if isinstance(waiting, DamagedRow) else waiting,
            previous=previous,
            problem=problem,
            predecessor=self._predecessor(row, job, terms) if job else None,
            unlocked=unlocked,
        )

    def _predecessor(self, row: Action, job: Job, terms: ClaimTerms) -> Skip | Postpone | None:
        """Return why a nominal time must wait for that of another job, or is skipped."""
        is_planned = is_first(row) and row.trigger in {Trigger.CADENCE, Trigger.CATCH_UP}
        if job.definition.after is None or not is_planned:
            return None
        from duetime.jobs.predecessor_run import PredecessorRun  # noqa: PLC0415 - few jobs wait

        return PredecessorRun(self._actions, self._jobs)(row, job, terms.now)

    def _problem(self, row: Action, job: Job) -> str | None:
        """Return why the planner cannot have written the row, or None.

        A caller that may schedule for a tenant may write any attribute of that tenant's rows.
        """
        if _could_plan(job.definition, row, job.anchor):
            return None
        if any(_could_plan(version.definition, row, job.anchor) for version in self._jobs.versions(job.ref)):
            return None
        return f"no version of {job.name} starts {row.type} for {row.tenant_id}: the planner did not write it"

    def _previous(self, row: Action, job: Job) -> tuple[Action, ...]:
        """Return the runs that previous versions planned for the same nominal time.

        Such a run may have begun after its version ended and before the write of that end. After this claim
        has read the job, no run of a previous version begins; this read finds those that have begun.
        """
        version = ids.version_of(row.id)
        if version is None or ids.is_beside_plan(row.id):
            return ()
        nominal_at = ids.nominal_at(row.id)
        ends = (item for item in job.ends.items() if item[0] < version)
        ended = [number for number, end in ends if nominal_at - _CHANGE <= end < nominal_at]
        refs = [ActionRef(row.tenant_id, ids.occurrence_id(job.name, number, nominal_at)) for number in ended]
        return tuple(self._actions.get_rows(refs)) if refs else ()

    def _write(
        self, decision: ClaimDecision, context: ClaimContext, terms: ClaimTerms, bounds: Bounds
    ) -> ClaimWon | LeaseHeld | Waiting | Conflict | None:
        job, row = context.job, context.row
        match decision:
            case AlreadyClaimed():
                has_lock = job is not None and job.running == row.ref
                hold = LockRequirement.LOCK if has_lock else LockRequirement.NOTHING
                return ClaimWon(row, job, hold)
            case Proceed() if job is not None:
                return self._claim(decision, context, job, terms)
            case Skip() | Postpone():
                return self._not_now(decision, context, terms)
            case Wait() if job is not None:
                return self._wait(decision, context, job, terms, bounds)
            case Proceed() | Wait():  # never: `decide` skips the runs of a missing job
                return CHANGED
            case _:
                return decision

    def _claim(
        self, decision: Proceed, context: ClaimContext, job: Job, terms: ClaimTerms
    ) -> ClaimWon | Conflict:
        started = transition.started(context.row, terms)
        plan = started.planned
        searched = decision.hold is LockRequirement.LOCK and job.unlocked_since is not None
        claim = JobRunClaim(
            row=context.row,
            claimed=replace(started, planned=plan and replace(plan, catches_up=decision.catches_up)),
            job=job,
            hold=decision.hold,
            dead=context.holder if decision.takes_over_lock else None,
            dead_ref=job.running if decision.takes_over_lock else None,
            unlocked=context.unlocked if searched else None,
        )
        return ClaimWon(claim.claimed, job, claim.hold) if self._jobs.claim(claim) else CHANGED

    def _not_now(
        self, decision: Skip | Postpone, context: ClaimContext, terms: ClaimTerms
    ) -> Conflict | None:
        if isinstance(decision, Skip):
            return self._skip(decision, context, terms)
        moved = self._actions.defer(
            context.row, decision.until, held_by=terms.held_by, waits_for=decision.waits_for
        )
        if isinstance(moved, Rejected):
            return CHANGED
        self._follow(decision.follows, context.row)
        return None

    def _follow(self, others: Iterable[ActionRef], row: Action) -> None:
        """Have the success of other rows wake a row that waits for them, which is written.

        This is only a wake: after a failure, the row looks again at its due time.
        """
        try:
            for other in others:
                self._actions.add_follower(other, row.id)
        except BackendUnavailable as error:
            log.warning(
                "it looks again later",
                extra={"action": row.id, "tenant": row.tenant_id, "reason": truncate(error)},
            )

    def _skip(self, decision: Skip, context: ClaimContext, terms: ClaimTerms) -> Conflict | None:
        row, owner = context.row, job_ref_of(context.row)
        ended = transition.skipped(
            row,
            decision.reason,
            note=truncate(decision.note),
            by=PLANNER,
            at=terms.now,
            kept_until=terms.now + self._settings.retention,
        )
        # `TransitionLog` logs it, from the stream
        return None if owner is not None and self._jobs.end_pending(row, ended, owner) else CHANGED

    def _wait(
        self, decision: Wait, context: ClaimContext, job: Job, terms: ClaimTerms, bounds: Bounds
    ) -> Waiting | Conflict:
        ref = context.row.ref
        if decision.takes_the_place and job.waiting != ref and not self._jobs.wait(job, ref):
            return CHANGED
        runs = holders(context, bounds) if decision.cancels else ()
        stopped = [self._stop(run, ref, terms) for run in runs if not isinstance(run, DamagedRow)]
        if any(stopped):
            return CHANGED
        has_place = decision.takes_the_place or job.waiting == ref
        waited = max(terms.now - context.row.due_at, timedelta(0))
        longest = _LATEST_IN_PLACE if has_place and not context.unlocked else _LATEST
        return Waiting(int(min(max(waited * _SHARE_OF_WAIT, _SOONEST), longest).total_seconds()))

    def _stop(self, holder: Action, by: ActionRef, terms: ClaimTerms) -> bool:
        """Request the stop of the lock's holder; return True if that freed the lock at once."""
        if holder.status is Status.PROCESSING:
            requested = self._actions.ask_to_cancel(holder, by=by.id, at=terms.now).action
            return requested is not None and self._end_hand_over.obey_cancel(requested, now=terms.now)
        kept_until = terms.now + self._settings.retention
        ended = transition.cancelled(holder, by=by.id, at=terms.now, kept_until=kept_until)
        owner = job_ref_of(holder)
        return owner is not None and self._jobs.end_pending(holder, ended, owner)
