"""What the steps need for jobs, written as a specification; the rules are those of `duetime.ports.wakeups`.

A job's row has three parts, and each is written by its own condition, so that they never wait for one another:

=================  ==========================================================  ===========================
part               who writes it                                               condition
=================  ==========================================================  ===========================
what it is         reconcile, operators (`change`)                             revision unchanged; next revision
how far it is      plan (`move_cursor`), `change`                              revision and cursor unchanged
who runs           claim, settle, cancel                                       the lock is free, or mine
=================  ==========================================================  ===========================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal, Protocol

from duetime.ids import TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.job import Job, JobRef, JobSpan, Precision, Version
from duetime.model.lease import Settlement, SettleResult
from duetime.model.run_stats import EndedRun
from duetime.ports.wakeups import Routes


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs of a list, and where the next page begins; `cursor` is None on the last one."""

    jobs: tuple[Job, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Job]:
        return iter(self.jobs)

    def __len__(self) -> int:
        return len(self.jobs)


class LockRequirement(Enum):
    """What a claim asks of the job's row."""

    LOCK = "lock"
    """Its revision is unchanged, and the lock is free or this action's; take it. If this action waits, it waits no more."""
    UNCHANGED = "unchanged"
    """Its revision is unchanged."""
    NOTHING = "nothing"
    """The job's row is not looked at: of a job that lets runs overlap, an event's or a manual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunClaim:
    """A claim of a job's run, decided on what was read, to be written if nothing of that has changed."""

    row: Action
    """As it was read: its status, fence, gen and lease must still stand."""
    claimed: Action
    """What it becomes."""
    job: Job
    """As it was read."""
    hold: LockRequirement
    dead: Action | None = None
    """The holder of the lock as it was read: processing under a lease that has ended, or settled.

    The lock may be taken from it while it still stands so (status, fence and lease unchanged: a late heartbeat keeps it). With
    it, a processing one's fence goes on by one, and its nonce goes: should its worker wake, it holds nothing any more.
    """
    dead_ref: ActionRef | None = None
    """Whose lock it is, even where its row is gone."""


class JobStore(Protocol):
    """The jobs' rows, and the writes that concern a job and one of its actions together."""

    def get(self, ref: JobRef) -> Job | None:
        """The job as of now (a consistent read); None if there never was one."""
        ...

    def list(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> JobPage:
        """A tenant's jobs by name, dropped ones included. May lag behind by a moment; each job is read as of now."""
        ...

    def to_attend(
        self, until: datetime, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[JobRef], str | None]:
        """Jobs of all tenants whose `maintain_at` is at or before `until`, and a cursor while there are more.

        Every job is in this index; with ``instant.LATEST`` it lists them all. Reads what it returns and no more.
        """
        ...

    def add(self, job: Job) -> bool:
        """Add a job that never was, with its first version; False, and nothing happens, if there is one."""
        ...

    def change(self, old: Job, new: Job, *, spans: Sequence[JobSpan] = ()) -> bool:
        """Write what reconcile or an operator changed, with the next revision; False if the revision is not `old`'s.

        Writes the definition, version, since, cursor, attend_at, ends, pauses, dropped_at, tuning, wakes, registered_by,
        registered_at, idempotency_key and idempotency_until of `new`, never who runs nor the tally. A new version is kept beside the former ones, and the
        former one's end is noted; a changed definition of the same version replaces it. The spans are kept in the same
        transaction. A row that stands as this very call would have left it was changed by its first try: True.
        """
        ...

    def move_cursor(
        self, job: Job, cursor: datetime, maintain_at: datetime, *, missed: Sequence[JobSpan] = ()
    ) -> bool:
        """*plan*: move the cursor, if it and the revision are those of `job`; with it, keep the spans."""
        ...

    def claim(self, taking: JobRunClaim) -> bool:
        """*claim an occurrence*: one transaction over the action's row and its job's; False if either has changed."""
        ...

    def wait(self, job: Job, waiting: ActionRef) -> bool:
        """Let an action wait for the lock in place of the one that `job` names; False if another has come before it."""
        ...

    def settle(self, claimed: Action, settlement: Settlement, ref: JobRef, ended: EndedRun) -> SettleResult:
        """*settle an occurrence* for good: the settle of `ActionStore`, and with it the unlocking and the tally.

        Where another action holds the lock, this one alone is settled.
        """
        ...

    def commit(
        self,
        claimed: Action,
        settlement: Settlement,
        ref: JobRef,
        ended: EndedRun,
        *,
        entries: Sequence[Mapping[str, Any]],
        number: int,
    ) -> SettleResult:
        """*settle an occurrence by commit*: the commit of `ActionStore`, and with it the unlocking and the tally.

        Where another action holds the lock, the entries are written with the settle of this one alone.
        """
        ...

    def end_pending(self, row: Action, ended: Action, ref: JobRef) -> bool:
        """*cancel*, *skip*: pending → what `ended` is, if status and gen still stand; False if they do not.

        The job's lock is freed with it, if it is this action's: a run that waited for its retry.
        """
        ...

    def count(self, ref: JobRef, ended: EndedRun) -> None:
        """Count a run that held no lock. A lost answer may leave it uncounted, or counted twice."""
        ...

    def versions(self, ref: JobRef) -> Sequence[Version]:
        """The versions kept, oldest first."""
        ...

    def spans(self, ref: JobRef, start: datetime, end: datetime) -> Sequence[JobSpan]:
        """The spans that overlap (start, end], by their start."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWake:
    """One thing on EventBridge that wakes a job's planner, or starts its runs."""

    kind: Literal["schedule", "rule"]
    name: str
    ref: JobRef
    description: str
    is_enabled: bool
    expression: str = ""
    """Of a schedule: its expression, and the zone beside it."""
    tz: str = "UTC"
    cadence: str = ""
    """Of a rule: the name of the trigger that it serves."""
    pattern: Mapping[str, Any] | None = None


class JobWakes(Protocol):
    """EventBridge as jobs need it: cron schedules and rules, readable under the jobs' names."""

    @property
    def precision(self) -> Precision:
        """The finest that this back end's timers honour; a job that asks for more is refused."""
        ...

    def known(self) -> Sequence[tuple[str, str]]:
        """Kind and name of each that is there."""
        ...

    def put(self, wake: JobWake) -> None:
        """Make it, or replace the one of that kind and name.

        Raises:
            BackendUnavailable: it may not be set; putting it again is safe.
        """
        ...

    def remove(self, kind: str, name: str) -> None:
        """Remove it; nothing happens if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class JobPorts:
    """What operators' calls need beside the actions."""

    jobs: JobStore
    routes: Routes
    precision: Precision = "second"
    """The finest that the back end honours, as its `JobWakes` say; a registration that asks for more is refused."""
