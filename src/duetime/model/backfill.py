"""The backfill: past nominal times of a job, run beside its current runs. Facts only.

Its item holds the rest of its times and those whose runs are open, so a crash between two writes loses none::

    start                rest_from          rest_until                until
      │ examined: left out, or run │ not yet examined │ examined (order newest) │
                  └── open: at most `at_once` runs that have not ended

`duetime.jobs.advance_backfill` examines the rest, as open runs end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from duetime import ids
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.job import JobRef

MOST_TIMES = 10_000
"""The most nominal times of one backfill."""

MOST_AT_ONCE = 100
"""The most open runs of one backfill."""

USUAL_AT_ONCE = 4

_LEAST = timedelta(microseconds=1)


class BackfillState(StrEnum):
    """The state of a backfill."""

    RUNNING = "running"
    PAUSED = "paused"
    """No further runs begin; open ones end."""
    CANCELLED = "cancelled"
    """No further runs begin; open ones are cancelled, or requested to stop."""
    COMPLETED = "completed"


class BackfillOrder(StrEnum):
    """Which nominal times come first."""

    OLDEST = "oldest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class BackfillRef:
    """The key of a backfill."""

    job: JobRef
    id: str

    @property
    def tenant_id(self) -> TenantId:
        """Its job's tenant."""
        return self.job.tenant_id


def backfill_ref_of(row: Action) -> BackfillRef | None:
    """Return the backfill whose run a row is; None for any other row."""
    backfill = ids.backfill_of(row.id)
    if backfill is None or row.job is None:
        return None
    return BackfillRef(JobRef(row.tenant_id, row.job), backfill)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """A backfill with its progress."""

    ref: BackfillRef
    version: int
    """The job's version whose nominal times run; later versions do not change them."""
    start: datetime
    """The first instant of the range."""
    until: datetime
    """The end of the range, excluded."""
    order: BackfillOrder = BackfillOrder.OLDEST
    """Which times come first."""
    at_once: int = USUAL_AT_ONCE
    """The most open runs."""
    again: bool = False
    """Whether times that already ran are run again."""
    total: int
    """The nominal times in the range, those included that are left out."""
    begun_by: str
    """Who began it."""
    begun_at: datetime
    """When that was."""
    state: BackfillState = BackfillState.RUNNING
    """``running`` until all its runs have ended, unless a caller pauses or cancels it."""
    rest_from: datetime
    rest_until: datetime
    """The nominal times that are not examined yet lie between these two; the second is excluded."""
    open: tuple[datetime, ...] = ()
    """The nominal times whose runs have begun, and have not ended as far as is known."""
    executed: int = 0
    """How many of its runs were executed."""
    failed: int = 0
    """How many have failed."""
    skipped: int = 0
    """How many were skipped."""
    cancelled: int = 0
    """How many were cancelled."""
    left_out: int = 0
    """Times that had run before, or were about to."""
    changed_by: str | None = None
    """Who last paused, resumed or cancelled it."""
    changed_at: datetime | None = None
    """When that was."""
    ended_at: datetime | None = None
    """When its last run had ended."""
    revision: int = 1
    """Counts its writes."""

    @property
    def id(self) -> str:
        """Its id, unique within its job."""
        return self.ref.id

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.ended_at is not None

    @property
    def needs_steps(self) -> bool:
        """Whether the sweep looks at it each minute."""
        return self.ended_at is None and (self.state is BackfillState.RUNNING or bool(self.open))

    @property
    def is_exhausted(self) -> bool:
        """Whether all its times are examined."""
        return self.rest_from >= self.rest_until

    @property
    def ended(self) -> int:
        """The number of its runs that have ended."""
        return self.executed + self.failed + self.skipped + self.cancelled

    @property
    def remaining(self) -> int:
        """The number of its times that are neither run, open nor left out."""
        return max(self.total - self.ended - self.left_out - len(self.open), 0)

    def run_id(self, nominal_at: datetime) -> ActionId:
        """Return the id of its run at a nominal time."""
        return ids.backfill_run_id(self.ref.job.name, self.version, nominal_at, self.id)

    def run_ref(self, nominal_at: datetime) -> ActionRef:
        """Return the key of that run's row."""
        return ActionRef(self.ref.tenant_id, self.run_id(nominal_at))

    def overlaps(self, start: datetime, until: datetime) -> bool:
        """Return whether it has a part of a range."""
        return self.start < until and start < self.until

    def counted(self, statuses: Mapping[datetime, Status]) -> Self:
        """Return it with the ended ones of its open runs counted."""
        ended = [statuses[at] for at in self.open if at in statuses]
        return replace(
            self,
            open=tuple(at for at in self.open if at not in statuses or not statuses[at].is_final),
            executed=self.executed + ended.count(Status.EXECUTED),
            failed=self.failed + ended.count(Status.FAILED),
            skipped=self.skipped + ended.count(Status.SKIPPED),
            cancelled=self.cancelled + ended.count(Status.CANCELLED),
        )

    def examined(self, at: datetime, *, is_left_out: bool) -> Self:
        """Return it after one of its times was examined, in its order: it is left out, or its run begins."""
        is_oldest = self.order is BackfillOrder.OLDEST
        return replace(
            self,
            rest_from=at + _LEAST if is_oldest else self.rest_from,
            rest_until=self.rest_until if is_oldest else at,
            left_out=self.left_out + is_left_out,
            open=self.open if is_left_out else (*self.open, at),
        )

    def exhausted(self) -> Self:
        """Return it after its last time was examined."""
        if self.order is BackfillOrder.OLDEST:
            return replace(self, rest_from=self.until)
        return replace(self, rest_until=self.start)

    def settled(self, now: datetime) -> Self:
        """Return it as over, if nothing is left to do."""
        is_cancelled = self.state is BackfillState.CANCELLED
        if self.is_over or self.open or not (is_cancelled or self.is_exhausted):
            return self
        return replace(self, state=self.state if is_cancelled else BackfillState.COMPLETED, ended_at=now)

    def changed_to(self, state: BackfillState, *, by: str, at: datetime) -> Self:
        """Return it after an operator paused, resumed or cancelled it."""
        return replace(self, state=state, changed_by=by, changed_at=at)
