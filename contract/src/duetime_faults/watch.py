"""The watch: checks every write of a row and records those that the protocol forbids.

It uses the real state, not a process' view: the holder of a lease, and the lease's end by the holder's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from duetime import ids
from duetime.ids import TenantId
from duetime.model.action import TRANSITIONS, Action, ActionRef, Status, Trigger
from duetime.model.change import Change
from duetime.model.job import WHOLE_JOB, Job, JobRef, Overlap, job_ref_of
from duetime.model.outcome import EXPIRED
from duetime.model.slots import KeySlots
from duetime.ports.job_store import JobStore
from duetime.testing.journey import description_of, short
from duetime_faults.late_requests import LateRequests
from duetime_faults.processes import Process, Processes


@dataclass(frozen=True, slots=True)
class _Holder:
    process: Process
    fence: int


@dataclass(eq=False, slots=True)
class InvariantWatch:
    """Checks changes as they are written; `broken` lists the forbidden ones.

    Attributes:
        slots: returns the slots of a concurrency key, with its holders in the order of their takes.
    """

    processes: Processes
    jobs: JobStore
    slots: Callable[[TenantId, str], KeySlots]
    late: LateRequests
    broken: list[str] = field(default_factory=list)
    _holders: dict[ActionRef, _Holder] = field(default_factory=dict)
    _keyed: dict[tuple[TenantId, str], set[ActionRef]] = field(default_factory=dict)
    _live: dict[JobRef, dict[ActionRef, Action]] = field(default_factory=dict)
    _in_turn: dict[tuple[TenantId, str], dict[ActionRef, Action]] = field(default_factory=dict)

    def check(self, process: Process, change: Change) -> None:
        """Check the write of a process."""
        old, new = change.old, change.new
        if new is None or new.job in _PASSES:
            return
        if new.idempotency_key is not None:
            self._check_key(new, new.idempotency_key)
        if old is None:
            return
        self._check_late(old, new)
        if new.status is not old.status and new.status not in TRANSITIONS[old.status]:
            self._report(new, f"an illegal change: {description_of(change)}")
        if len(new.attempts) > len(old.attempts):
            self._check_claim(process, old, new)
        elif old.status is Status.PROCESSING and _is_the_runs(old, new):
            self._check_run(process, old, new)
        self._remember(new)

    def replicated(self, row: Action) -> None:
        """Take note of a row that another region wrote."""
        if row.idempotency_key is not None and row.status.is_final:
            self._keyed.setdefault((row.tenant_id, row.idempotency_key), set()).discard(row.ref)
        self._remember(row)

    def _check_late(self, old: Action, new: Action) -> None:
        """Check that no late request of an operator changes what was changed after it was sent."""
        request = self.late.arriving
        sent = request.row if request is not None and request.row is not None else old
        if (sent.ref, sent.generation) == (old.ref, old.generation):
            return
        self._report(new, f"a late {request.what if request else ''} changes generation {old.generation}")

    def _check_key(self, row: Action, key: str) -> None:
        """Check that one unsettled action exists for a tenant's idempotency key."""
        others = self._keyed.setdefault((row.tenant_id, key), set())
        if row.status.is_final:
            others.discard(row.ref)
            return
        if row.ref not in others:
            for other in others:
                self._report(
                    row, f"it is {row.status.value} under the key of {short(other.id)}, which is not settled"
                )
        others.add(row.ref)

    def _check_claim(self, process: Process, old: Action, new: Action) -> None:
        now = self.processes.clock.now()
        if old.status is Status.PENDING and now + process.offset < old.due_at:
            self._report(new, f"{process.name} claims it before it is due")
        if old.status is Status.PROCESSING and self.is_live(old):
            self._report(new, f"{process.name} takes it over from a live lease (invariant 1)")
        self._holders[new.ref] = _Holder(process, new.fence)
        if new.concurrency is not None:
            self._check_slot(old, new, new.slot_key)
        job = self._job_of(new)
        if job is not None:
            if not _is_decided_before(job, old, new):
                self._check_beside(new, job, "begins")
            is_planned = new.trigger in {Trigger.CADENCE, Trigger.CATCH_UP}
            if old.status is Status.PENDING and old.attempt == 0 and is_planned:
                self._check_occurrence_begin(new, job)

    def _check_slot(self, old: Action, row: Action, key: str) -> None:
        """Check that a run has a slot, and that the live ones are within the limit of the latest take."""
        slots = self.slots(row.tenant_id, key)
        if not slots.has_token(old):
            self._report(row, "it begins without a slot of its concurrency key (invariant 1)")
        runs = self._in_turn.setdefault((row.tenant_id, key), {})
        others = [run for ref, run in runs.items() if ref != row.ref and self.is_live(run)]
        order = list(slots.holders)
        last = max([*others, row], key=lambda run: order.index(run.id) if run.id in order else -1)
        if len(others) >= last.slot_limit:
            running = ", ".join(short(other.id) for other in others)
            self._report(row, f"it begins while {running} run under its concurrency key (invariant 1)")

    def _check_beside(self, row: Action, job: Job, what: str) -> None:
        """Check that no two runs of a job hold live leases, unless they may overlap."""
        if job.definition.overlap is Overlap.ALLOW:
            return
        for ref, run in self._live.get(job.ref, {}).items():
            if ref != row.ref and self.is_live(run):
                self._report(row, f"it {what} while {short(run.id)} runs (invariant 1)")

    def _check_occurrence_begin(self, row: Action, job: Job) -> None:
        nominal, version = ids.nominal_at(row.id), ids.version_of(row.id)
        end = None if version is None else job.end_of(version)
        if end is not None and nominal > end:
            self._report(row, f"it begins, though its version ended at {end:%H:%M:%S} (invariant 9)")
        pause = job.pauses.get(WHOLE_JOB)
        if pause and nominal > pause.since and not pause.is_over(self.processes.clock.now() + _MOST_SKEW):
            self._report(row, "it begins, though its job is paused")
        if job.removed_at is not None and nominal > job.removed_at:
            self._report(row, "it begins, though its job is dropped")

    def _check_hand_over(self, old: Action, new: Action) -> None:
        """Check a write by token: any process may have the token, while the hand-over lasts."""
        last = new.attempts[-1].finished_at
        if new.status is not Status.PROCESSING and (last is None or old.lease_until is None):
            self._report(new, "its hand-over ends without its attempt")
        elif last is not None and old.lease_until is not None and last >= old.lease_until:
            self._report(new, f"it is ended at {last:%H:%M:%S}, after its hand-over's end")
        if new.lease_until and new.hand_over and new.lease_until > new.hand_over.times_out_at:
            self._report(new, "its hand-over waits past its time-out")

    def _check_run(self, process: Process, old: Action, new: Action) -> None:
        if old.is_handed_over:
            self._check_hand_over(old, new)
            return
        holder = self._holders.get(old.ref)
        if holder is None or holder.process is not process or holder.fence != old.fence:
            who = "no process" if holder is None else f"{holder.process.name} under fence {holder.fence}"
            self._report(new, f"{process.name} writes it, though {who} holds it (invariant 1)")
        self._check_expiry(old, new)
        if new.status is Status.PENDING and old.cancel_request is not None:
            self._report(new, f"it is to run again, though {old.cancel_request.by} requested its end")
        job = self._job_of(new)
        is_covered = job is not None and job.unlocked_since is None  # else both may have begun without a lock
        if job is not None and is_covered and new.status is Status.PROCESSING:
            self._check_beside(new, job, "goes on")
            if job.definition.overlap is not Overlap.ALLOW and job.running != new.ref:
                self._report(new, "it goes on without the lock of its job (invariant 1)")

    def _check_expiry(self, old: Action, new: Action) -> None:
        """Check that a run claimed after the expiry ends without its handler."""
        if old.expires_at is None or old.attempts[-1].started_at < old.expires_at:
            return
        has_begun = new.status not in {Status.PROCESSING, Status.CANCELLED}
        if has_begun and new.failure_reason != EXPIRED.message:
            self._report(new, "it began after its expiry")

    def _job_of(self, row: Action) -> Job | None:
        owner = _owner_of(row)
        return None if owner is None else self.jobs.get(owner)

    def is_live(self, row: Action) -> bool:
        """Return whether a run's lease is live by its holder's clock."""
        holder = self._holders.get(row.ref)
        if holder is None or row.lease_until is None or holder.fence != row.fence:
            return False
        return self.processes.clock.now() + holder.process.offset <= row.lease_until

    def _remember(self, row: Action) -> None:
        if row.concurrency is not None:
            _keep_if_running(self._in_turn.setdefault((row.tenant_id, row.slot_key), {}), row)
        owner = _owner_of(row)
        if owner is not None:
            _keep_if_running(self._live.setdefault(owner, {}), row)

    def _report(self, row: Action, what: str) -> None:
        self.broken.append(f"{self.processes.clock.now():%H:%M:%S} {short(row.id)}: {what}")


_MOST_SKEW = timedelta(minutes=1)
_PASSES = frozenset({"duetime-sweep", "duetime-catch-up"})


def _owner_of(row: Action) -> JobRef | None:
    """Return the job whose lock a run needs; a backfill's runs need none."""
    return None if row.trigger is Trigger.BACKFILL else job_ref_of(row)


def _keep_if_running(runs: dict[ActionRef, Action], row: Action) -> None:
    runs.pop(row.ref, None)
    if row.status is Status.PROCESSING:
        runs[row.ref] = row


def _is_the_runs(old: Action, new: Action) -> bool:
    """Return whether only the run itself may write this: its end, or a longer lease."""
    return new.status is not old.status or new.lease_until != old.lease_until


def _is_decided_before(job: Job, old: Action, new: Action) -> bool:
    """Return whether an event's first run was decided before its job's runs might no longer overlap.

    Its claim does not check the job: many of them may begin at once.
    """
    is_unchecked = old.attempt == 0 and new.trigger is Trigger.EVENT
    began_at = new.attempts[-1].started_at
    return is_unchecked and job.unlocked_since is not None and began_at < job.unlocked_since + _MOST_SKEW
