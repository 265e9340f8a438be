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
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from duetime.model.action import Action, ActionRef
    from duetime.model.job import Job, JobRef, Precision
    from duetime.ports.actions import Holder


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
