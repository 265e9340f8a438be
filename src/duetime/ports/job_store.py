"""The changes of jobs, and of the actions' rows that change together with a job, for all back ends.

=========================  =======================================================================
sort key                   holds
=========================  =======================================================================
``current#definition``     the definition in force
``current#state``          all other fields of `Job`; small, because each claim and settle writes it
``edit#000003#REVISION``   a definition of a registered job that an edit within a version replaced
``former#000003``          a version that has ended
``late#KIND#TIME``         a report of a missed deadline, of a predicted miss, or of a silence
``span#END#START#…``       a period without planned runs
``backfill#ID``            a backfill; see `duetime.ports.backfills`
=========================  =======================================================================

Each job has a partition of its own. One query reads a job, and one reads its versions. A query may read the
two items at different times. Both have the revision that last wrote the definition; if these differ, one item
is old.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from duetime import instant
from duetime.errors import BackendUnavailable, CommitRejected, DuetimeError, RejectedEntry, UnreadableRow
from duetime.ids import SHARDS, TenantId, is_job_name
from duetime.model import transition
from duetime.model.action import Action, ActionRef
from duetime.model.backfill import BackfillRef
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import (
    MAINTENANCE_SHARDS,
    Job,
    JobRef,
    JobSpan,
    Precision,
    StoredDefinition,
    Version,
    current_definition,
    replaced_definition,
)
from duetime.model.lease import Rejected, Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.model.swap import PENDING_AS_READ, claimable, settleable
from duetime.ports import job_state
from duetime.ports.action_store import ActionStore
from duetime.ports.backfills import Backfills
from duetime.ports.delegate import delegate
from duetime.ports.job_history import (
    EDIT,
    ENDED,
    FORMER,
    REPORT,
    SPAN,
    SPANNED,
    put_ended,
    put_report,
    put_span,
    report_place,
    to_definition_of,
    to_report,
    to_span,
    to_version,
)
from duetime.ports.job_state import CURRENT, DEFINITION, JOB, STATE
from duetime.ports.jobs import JobPage, JobRunClaim, LockRequirement
from duetime.ports.keyed_items import (
    IS_NEW,
    UNREADABLE,
    AnyWrite,
    Cancelled,
    Conflict,
    Fields,
    Items,
    Keyed,
    Kind,
    Outcome,
    Query,
    Write,
    unread,
)
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.row_writes import RowStillDead, RowSwap
from duetime.ports.wakeups import Routes

_READS = 5
_ROW = 0
"""The position of the row in a transaction with its job's state."""


class JobStore(Keyed):
    """The jobs of a table, and the writes of a job together with one of its actions, over any back end.

    The rows of `actions` may share a transaction with the items.
    """

    def __init__(self, items: Items, actions: ActionStore) -> None:
        super().__init__(items)
        self._actions, self._backfills = actions, Backfills(items)

    begin_backfill = delegate("_backfills", Backfills.begin_backfill)
    find_backfill = delegate("_backfills", Backfills.find_backfill)
    backfills = delegate("_backfills", Backfills.backfills)
    change_backfill = delegate("_backfills", Backfills.change_backfill)

    def get(self, ref: JobRef) -> Job | None:
        """Return the job by a consistent read, or None if it never existed."""
        found = self._current(ref, CURRENT + "~")
        return to_job(found) if found else None

    @abstractmethod
    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        """Return a tenant's jobs by name, including removed jobs.

        The list may lag; each job is read consistently.
        """

    @abstractmethod
    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        """Return jobs of all tenants with `maintain_at` at or before `until`, and a cursor if there are more.

        Every job is in this index; with ``instant.LATEST`` it lists all jobs. It reads only what it returns.
        Backfills that need steps (`Backfill.needs_steps`) are in it too, from their begin on.
        """

    def add(self, job: Job) -> bool:
        """Add a new job with its first version. If the job exists, return False and change nothing."""
        put = Write(kind=JOB, key=job_state.key_of(job.ref), guard=IS_NEW, put=job_state.fields_of(job))
        return self._items.write(put, job_state.define(job)).is_written

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        """Write a change by reconcile or an operator, with the next revision.

        Return False if the stored revision is not `old`'s.

        The change writes these attributes of `new`: definition, version, since, cursor, maintain_at, ends,
        pauses, removed_at, tuning, wakes, registered_by, registered_at, idempotency_key, idempotency_until,
        maintain_failures and unlocked_since. It never writes the lock, the waiting run or the statistics.
        A new version is stored beside the previous ones, with the end of the previous one. A changed
        definition of the same version replaces it; that of a registered job stays in `definitions`. The spans
        are in the same transaction. A row that is as
        this call leaves it was changed by its first attempt: return True.
        """
        change = job_state.change(old, new)
        outcome = self._items.write(change, *_defined(old, new), *_spans(old.ref, spans))
        is_gone = not outcome.is_written and not outcome.items.get(0)
        return outcome.is_written or (not is_gone and self._was_mine(new, change, outcome))

    def _was_mine(self, new: Job, change: Write, outcome: Outcome) -> bool:
        """Return whether the job is as this change leaves it.

        Raises:
            BackendUnavailable: it is not, but an earlier copy of the request may have changed it before. If
                the caller read the job again and repeated the change, it would undo the later one.
        """
        job = self.get(new.ref)
        was_mine = job is not None and job_state.is_changed(job, new, change)
        if outcome.was_repeated and not was_mine:
            reason = f"job {new.name} has changed since this change was first sent; read it, then repeat"
            raise BackendUnavailable("The jobs table", reason)
        return was_mine

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        """*plan*: move the cursor and store the spans, if the cursor and the revision are those of `job`."""
        move = job_state.move_cursor(job, cursor, maintain_at)
        outcome = self._items.write(move, *_spans(job.ref, missed))
        return outcome.is_written or _has(outcome, job_state.moved(job, move))

    def postpone(self, job: Job, maintain_at: datetime, *, failures: int) -> bool:
        """Set when the job is maintained next, and how often in a row that has failed.

        Return False if the stored revision is not that of `job`: a change must not wait for the failures
        before it. No other attribute changes, and neither does the revision.
        """
        return self._items.write(job_state.postpone(job, maintain_at, failures)).is_written

    def claim(self, taking: JobRunClaim) -> bool:
        """*claim an occurrence*: write the action's and the job's row in one transaction.

        False if either changed.
        """
        row = RowSwap(taking.row, taking.claimed, claimable(taking.row))
        job = [] if taking.hold is LockRequirement.NOTHING else [job_state.claim(taking)]
        dead = [RowStillDead(ref, read) for ref, read in taking.holders.items()]
        try:
            outcome = self._items.write(row, *job, *dead, tries=1)
        except Conflict:
            return False
        return outcome.is_written or self._has_claimed(taking, outcome)

    def _has_claimed(self, taking: JobRunClaim, outcome: Outcome) -> bool:
        """Return whether an earlier try of the claim, without a response, was made."""
        try:
            row = outcome.row(_ROW)
        except UnreadableRow:
            return False
        return row is not None and row.nonce == taking.claimed.nonce

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        """Let an action wait for the lock instead of ``job.waiting``.

        Return False if another action was faster, or the lock is not as read: then a late request must not
        let an action wait that has run meanwhile.
        """
        wait = job_state.wait(job, waiting)
        outcome = self._items.write(wait)
        return outcome.is_written or _has(outcome, wait.sets)

    def settle(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        has_lock: bool = True,
    ) -> SettleResult:
        """*settle an occurrence*: settle the row as in `ActionStore`, free the lock, count the run.

        If another action holds the lock, only the row is settled. A run without the lock (`has_lock`) is only
        settled and counted. Both happen once, also after a lost response.
        """
        settled = RowSwap(claimed, transition.settled(claimed, settlement), settleable(settlement))
        try:
            outcome = self._items.write(settled, self._ending(claimed, ref, ended, has_lock))
        except Cancelled:  # blocked or throttled: nothing is written
            if has_lock:
                raise
            return self._counted(ref, ended, self._actions.settle(claimed, settlement))
        if outcome.is_written:
            return SettleResult.SETTLED
        if _ROW in outcome.items:
            return settlement.result_in(claimed, outcome.row(_ROW))
        return self._actions.settle(claimed, settlement)

    def _ending(self, claimed: Action, ref: JobRef, ended: EndedRun, has_lock: bool) -> Write:
        """Return the write of the job at the end of a run."""
        return job_state.count(ref, ended, claimed.ref if has_lock else None)

    def _counted(self, ref: JobRef, ended: EndedRun, result: SettleResult) -> SettleResult:
        """Count a run that was settled alone, because other transactions blocked the job."""
        if result is SettleResult.SETTLED:
            with suppress(DuetimeError):
                self.count(ref, ended)
        return result

    def commit(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        entries: Sequence[Mapping[str, Any]],
        number: int,
        has_lock: bool = True,
    ) -> SettleResult:
        """*settle an occurrence by commit*: commit as in `ActionStore`, free the lock and count the run.

        If another action holds the lock, the commit writes the entries and the row only. Without the lock
        (`has_lock`), the run is counted.
        """
        ending = self._items.entry(self._ending(claimed, ref, ended, has_lock))
        commit = partial(self._actions.commit, claimed, settlement, number=number)
        try:
            return commit(entries=[*entries, ending])
        except CommitRejected as refused:
            of_job = [reason for reason in refused.reasons if reason.index == len(entries)]
            if any(reason.code == RejectedEntry(0).code for reason in of_job):
                return commit(entries=entries)
            if not has_lock and of_job:
                return self._counted(ref, ended, commit(entries=entries))
            theirs = [reason for reason in refused.reasons if reason.index < len(entries)]
            raise CommitRejected(theirs) from None

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        """*cancel*, *skip*: replace a pending row by `ended`; False if status or generation changed.

        This also frees the job's lock if the action holds it while it waits for its retry.
        """
        if row.attempt:
            end = RowSwap(row, ended, PENDING_AS_READ)
            if self._items.write(end, job_state.unlock(ref, row.ref)).is_written:
                return True
        if isinstance(self._actions.release(row, ended), Rejected):
            return False
        with suppress(DuetimeError):  # the next claim finds that it no longer waits
            self._items.write(job_state.stop_waiting(ref, row.ref))
        return True

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        """Count a run beside its settle, which could not count it: other transactions blocked the job.

        After a lost response, the run may be counted twice or not at all.
        """
        self._items.write(job_state.count(ref, ended))

    def report(self, ref: JobRef, report: DeadlineReport) -> bool:
        """*report*: store a report if the job has none of its kind and nominal time; return if it did.

        The first report stays as it is. After a lost response, a repeat may return False.
        """
        return self._items.write(put_report(ref, report)).is_written

    def versions(self, ref: JobRef) -> Sequence[Version]:
        """Return the stored versions, oldest first."""
        job = self.get(ref)
        if job is None:
            return []
        ended = self._find(ENDED, ref, (FORMER, FORMER + "~"), to_version)
        current = Version(number=job.version, definition=job.definition, since=job.since)
        return [*(version for version in ended if version.number != job.version), current]

    def definitions(self, ref: JobRef) -> Sequence[StoredDefinition]:
        """Return the stored definitions, oldest first.

        They are the last one of each version, and those that a registered job had before edits within one.
        """
        job = self.get(ref)
        if job is None:
            return []
        ended = self._find(ENDED, ref, (EDIT, FORMER + "~"), to_definition_of)
        return [*sorted(ended, key=lambda one: (one.version, one.until)), current_definition(job)]

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        """Return the spans that overlap (start, end], by their start."""
        found = self._find(SPAN, ref, (f"{SPANNED}{instant.text(start)}~", SPANNED + "~"), to_span)
        return sorted((span for span in found if span.start < end), key=lambda span: span.start)

    def reports(
        self, ref: JobRef, kind: ReportKind, start: datetime, end: datetime
    ) -> Sequence[DeadlineReport]:
        """Return the reports of a kind with a nominal time in (start, end], by it."""
        span = report_place(kind, start) + "~", report_place(kind, end)
        return [*self._find(REPORT, ref, span, to_report)]

    def _find(self, kind: Kind, ref: JobRef, span: tuple[str, str], read: Any) -> Iterator[Any]:
        place = job_state.key_of(ref).partition
        return self._items.find(Query(kind=kind, partition=place, span=span), read)

    def _current(self, ref: JobRef, last: str) -> Mapping[str, Fields]:
        """Return the job's two items, by sort key. Empty without a job."""
        seen = []
        for _ in range(_READS):
            found = {item["sk"]: item for item in self._find(JOB, ref, (CURRENT, last), unread)}
            if not found or is_consistent(found):
                return found
            seen.append(_revisions(found))
        if all(revisions == seen[0] for revisions in seen):
            problem = ValueError(f"state and definition are of revisions {seen[0]}")
            raise UnreadableRow([ref.tenant_id, ref.name], problem)
        raise BackendUnavailable("The jobs table", f"job {ref.name} changed during each of {_READS} reads")


@dataclass(frozen=True, slots=True)
class JobPorts:
    """The interfaces that operators' calls need in addition to the actions."""

    jobs: JobStore
    routes: Routes
    precision: Precision = "second"
    """The precision of the back end's `JobWakes`. Registrations that need a finer one are rejected."""
    regions: ActiveRegions = field(default_factory=NoRegions)
    """The active region: it alone ends hand-overs."""


def to_job(found: Mapping[str, Fields]) -> Job:
    """Return the job of its items.

    Raises:
        UnreadableRow: duetime did not write these items.
    """
    state = found.get(STATE, {})
    try:
        check_names(state)
        return job_state.to_job(state, found[DEFINITION]["definition"])
    except UNREADABLE as error:
        raise UnreadableRow([state.get("pk"), STATE], error) from error


def check_names(state: Fields) -> None:
    """Check that the state is of the job of its key: IAM restricts keys alone.

    Raises:
        ValueError: it names another one.
    """
    ref = job_state.job_ref(state["pk"])
    if not is_job_name(ref.name):
        raise ValueError(f"pk names the job {ref.name!r}")
    if (shard := state["maintenance_shard"]) not in SHARDS[:MAINTENANCE_SHARDS]:
        raise ValueError(f"maintenance_shard is {shard!r}, which no pass reads")
    for name, text in (("tenant", ref.tenant_id), ("name", ref.name)):
        if state[name] != text:
            raise ValueError(f"{name} is {state[name]!r}; this job's is {text!r}")


def is_consistent(found: Mapping[str, Fields]) -> bool:
    """Return whether state and definition belong together; a change can occur between their two reads."""
    state, definition = _revisions(found)
    return state is not None and state == definition


def _revisions(found: Mapping[str, Fields]) -> Sequence[int | None]:
    try:
        return [found.get(name, {}).get("defined_in") for name in (STATE, DEFINITION)]
    except UNREADABLE:
        return [None, None]


def _defined(old: Job, new: Job) -> Iterator[AnyWrite]:
    if (new.definition, new.version) != (old.definition, old.version):
        yield job_state.define(replace(new, revision=old.revision + 1))
    if ended := replaced_definition(old, new):
        yield put_ended(old.ref, ended, old.since)


def _spans(ref: JobRef, spans: Sequence[JobSpan]) -> Iterator[AnyWrite]:
    yield from {write.key: write for write in (put_span(ref, span) for span in spans)}.values()


def _has(outcome: Outcome, fields: Fields) -> bool:
    """Return whether the job's state has these fields."""
    state = outcome.items.get(0) or {}
    return all(state.get(name) == value for name, value in fields.items())
