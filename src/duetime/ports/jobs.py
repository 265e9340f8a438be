"""The interfaces for jobs, written as a specification. The rules of `duetime.ports.wakeups` apply.

A job's row has three parts. Each part has its own condition, so that writers of two parts never conflict:

=================  ==========================================================  ===========================
part               writers                                                     condition
=================  ==========================================================  ===========================
definition         reconcile, operators (`change`)                             revision unchanged; next
revision
progress           plan (`move_cursor`), `change`                              revision and cursor unchanged
lock               claim, settle, cancel                                       the lock is free, or mine
=================  ==========================================================  ===========================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol

from duetime.ports.regions import ActiveRegions, NoRegions

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.action import Action, ActionRef
    from duetime.model.backfill import Backfill, BackfillRef
    from duetime.model.deadline_report import DeadlineReport, ReportKind
    from duetime.model.job import Job, JobRef, JobSpan, Precision, StoredDefinition, Version
    from duetime.model.lease import Settlement, SettleResult
    from duetime.model.run_stats import EndedRun
    from duetime.ports.actions import Holder
    from duetime.ports.wakeups import Routes


@dataclass(frozen=True, slots=True)
class JobPage:
    """One page of a list of jobs. `cursor` starts the next page; it is None on the last page."""

    jobs: tuple[Job, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Job]:
        return iter(self.jobs)

    def __len__(self) -> int:
        return len(self.jobs)


class LockRequirement(Enum):
    """The condition of a claim on the job's row."""

    LOCK = "lock"
    """The revision is unchanged, and the lock is free or held by this action.

    The claim takes it and ends the waiting.
    """
    UNCHANGED = "unchanged"
    """The revision is unchanged."""
    NOTHING = "nothing"
    """No condition: for event runs and manual runs of a job whose runs may overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunClaim:
    """A claim of a job's run, decided on the values read.

    It is written only if these values are unchanged.
    """

    row: Action
    """The row as read. Its status, fence, generation and lease must be unchanged."""
    claimed: Action
    """The row after the claim."""
    job: Job
    """The job as read."""
    hold: LockRequirement
    dead: Holder | None = None
    """The holder of the lock as read: processing under a lease that has ended, or settled.

    The claim may take the lock while status, fence and lease of this row are unchanged; a late heartbeat
    keeps the lock. The claim also increases the fence of a processing row by one and removes its nonce: its
    worker then holds nothing.
    """
    dead_ref: ActionRef | None = None
    """The holder of the lock, also if its row is gone."""
    unlocked: tuple[Holder, ...] | None = None
    """All dead runs without the lock as read, if the job has `unlocked_since`.

    The claim checks them like `dead`, fences them off, and removes `unlocked_since`: from then on, the lock
    covers every run.
    """

    @property
    def holders(self) -> Mapping[ActionRef, Holder | None]:
        """The dead holders by reference, as read: the claim checks each one and fences it off."""
        others = {dead.ref: dead for dead in self.unlocked or ()}
        if self.hold is not LockRequirement.LOCK or self.dead_ref in {None, self.row.ref}:
            return others
        return {self.dead_ref: self.dead, **others}


class JobStore(Protocol):
    """The jobs' rows, and the writes of a job together with one of its actions."""

    def get(self, ref: JobRef) -> Job | None:
        """Return the job by a consistent read, or None if it never existed."""

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        """Return a tenant's jobs by name, including removed jobs.

        The list may lag; each job is read consistently.
        """

    def due_for_maintenance(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef | BackfillRef], str | None]:
        """Return jobs of all tenants with `maintain_at` at or before `until`, and a cursor if there are more.

        Every job is in this index; with ``instant.LATEST`` it lists all jobs. It reads only what it returns.
        Backfills that need steps (`Backfill.needs_steps`) are in it too, from their begin on.
        """

    def add(self, job: Job) -> bool:
        """Add a new job with its first version. If the job exists, return False and change nothing."""

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

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        """*plan*: move the cursor and store the spans, if the cursor and the revision are those of `job`."""

    def postpone(self, job: Job, maintain_at: datetime, *, failures: int) -> bool:
        """Set when the job is maintained next, and how often in a row that has failed.

        Return False if the stored revision is not that of `job`: a change must not wait for the failures
        before it. No other attribute changes, and neither does the revision.
        """

    def claim(self, taking: JobRunClaim) -> bool:
        """*claim an occurrence*: write the action's and the job's row in one transaction.

        False if either changed.
        """

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        """Let an action wait for the lock instead of ``job.waiting``.

        Return False if another action was faster, or the lock is not as read: then a late request must not
        let an action wait that has run meanwhile.
        """

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

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        """*cancel*, *skip*: replace a pending row by `ended`; False if status or generation changed.

        This also frees the job's lock if the action holds it while it waits for its retry.
        """

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        """Count a run beside its settle, which could not count it: other transactions blocked the job.

        After a lost response, the run may be counted twice or not at all.
        """

    def versions(self, ref: JobRef) -> Sequence[Version]:
        """Return the stored versions, oldest first."""

    def definitions(self, ref: JobRef) -> Sequence[StoredDefinition]:
        """Return the stored definitions, oldest first.

        They are the last one of each version, and those that a registered job had before edits within one.
        """

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        """Return the spans that overlap (start, end], by their start."""

    def begin_backfill(self, job: Job, backfill: Backfill) -> bool:
        """Add a backfill of a job, and increase the job's revision by one, in one transaction.

        Return False if the job's revision is not that of `job`, or it has a backfill of this id. So no two
        calls that read the same revision both succeed. A backfill with the begin and the actor of `backfill`
        was added by an earlier try of this call: return True.
        """

    def find_backfill(self, ref: BackfillRef) -> Backfill | None:
        """Return a backfill by a consistent read, or None if there is none."""

    def backfills(self, ref: JobRef) -> Sequence[Backfill]:
        """Return a job's backfills by a consistent read, ended ones included, the latest first."""

    def change_backfill(self, read: Backfill, changed: Backfill) -> bool:
        """Replace a backfill by `changed`, which has the next revision.

        Return False if the stored revision is not that of `read`. One that is as this call leaves it was
        changed by its first attempt: return True.
        """

    def report(self, ref: JobRef, report: DeadlineReport) -> bool:
        """*report*: store a report if the job has none of its kind and nominal time; return if it did.

        The first report stays as it is. After a lost response, a repeat may return False.
        """

    def reports(
        self, ref: JobRef, kind: ReportKind, start: datetime, end: datetime
    ) -> Sequence[DeadlineReport]:
        """Return the reports of a kind with a nominal time in (start, end], by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWake:
    """A schedule or rule on EventBridge that wakes a job's planner or starts its runs."""

    kind: Literal["schedule", "rule"]
    name: str
    ref: JobRef
    description: str
    is_enabled: bool
    expression: str = ""
    """The expression of a schedule, in the time zone `tz`."""
    tz: str = "UTC"
    cadence: str = ""
    """The name of the trigger of a rule."""
    pattern: Mapping[str, Any] | None = None


class JobWakes(Protocol):
    """The cron schedules and rules of jobs on EventBridge, under the jobs' names."""

    @property
    def precision(self) -> Precision:
        """Return the finest precision of this back end's timers. Jobs that need a finer one are rejected."""

    def known(self) -> Sequence[tuple[str, str]]:
        """Return kind and name of all existing wakes."""

    def owner(self, kind: str, name: str) -> JobRef | None:
        """Return the job that a wake names; None if it does not exist, or names none."""

    def put(self, wake: JobWake) -> None:
        """Create the wake, or replace the wake with this kind and name.

        Raises:
            BackendUnavailable: the wake may not be set. A repeat is safe.
        """

    def remove(self, kind: str, name: str) -> None:
        """Remove the wake. A missing wake is ignored."""


@dataclass(frozen=True, slots=True)
class JobPorts:
    """The interfaces that operators' calls need in addition to the actions."""

    jobs: JobStore
    routes: Routes
    precision: Precision = "second"
    """The precision of the back end's `JobWakes`. Registrations that need a finer one are rejected."""
    regions: ActiveRegions = field(default_factory=NoRegions)
    """The active region: it alone ends hand-overs."""
