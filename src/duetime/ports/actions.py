"""The interface to the actions' rows, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from duetime.model.action import Action, ActionRef, Status

if TYPE_CHECKING:
    from duetime.ids import JobName, TenantId
    from duetime.model.batch import ActionBatch


@dataclass(frozen=True, slots=True)
class Scanned:
    """The rows that a page of a scan read; their contents were compared one by one."""

    rows: int
    """How many rows this page compared."""
    until: datetime | None
    """The place of the last one in the list's order: when it was created, was due, or failed."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of actions. `cursor` is the start of the next page, or None on the last page."""

    actions: tuple[Action, ...]
    cursor: str | None
    scanned: Scanned | None = None
    """Of a search by error or payload."""

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, slots=True)
class DueEntry:
    """One entry of the due index. It may lag behind its row by a moment."""

    ref: ActionRef
    due_at: datetime


@dataclass(frozen=True, slots=True)
class DuePage:
    """Entries of one due shard, soonest first. `cursor` is None on the last page."""

    entries: tuple[DueEntry, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row that duetime did not write, or that was damaged: no step can read it.

    Attributes:
        status: as far as it can be read; None otherwise.
        lease_until: the same.
        stored: what a condition compares, in the back end's form.
    """

    ref: ActionRef
    reason: str
    status: Status | None = None
    lease_until: datetime | None = None
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def may_run(self) -> bool:
        """Whether it may be processing."""
        return self.status in {None, Status.PROCESSING}

    def is_over(self, now: datetime, skew: timedelta) -> bool:
        """Return whether no run of it has a live lease; False while the lease cannot be read."""
        has_ended = self.lease_until is not None and self.lease_until + skew < now
        return has_ended or not self.may_run


Holder: TypeAlias = Action | DamagedRow
"""The row of a run that holds a lock or a slot."""


@dataclass(frozen=True, slots=True)
class DamagedItem:
    """An item that is no action's row, and that no step can read."""

    kind: str
    pk: str
    sk: str
    reason: str


@dataclass(frozen=True, slots=True)
class BatchPage:
    """One page of a list of batches. `cursor` is the start of the next page, or None on the last page."""

    batches: tuple[ActionBatch, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[ActionBatch]:
        return iter(self.batches)


class RowQueries(Protocol):
    """The lists of rows: each reads a bounded part of an index."""

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        """Return the current rows in no order, without offloaded payloads and without missing rows.

        Unreadable rows are left out, and appended to `damaged`.
        """

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        """Return a tenant's actions with this correlation id, oldest first. The list may lag by a moment."""

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        """Return a tenant's one-shots, newest first. `of_job` returns runs of jobs."""

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        """Return failed actions of some tenants, latest failure first, then highest id; runs of jobs too.

        The list may lag by a moment, but contains no action that was redriven or
        dismissed.

        Raises:
            InvalidCursor: the cursor is not from a list of these tenants.
        """

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return a tenant's one-shots with ``after < due_at <= until``, soonest first, then by id.

        Settled ones are included.

        Callers use it only with the setting ``due_order``. It contains the actions scheduled since the
        setting is on. The list may lag by a moment. An action whose due time moves between two pages may
        occur twice or not at all.

        Raises:
            InvalidCursor: the cursor is not from a list in due order.
        """

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        """Return a tenant's runs of a job, newest first, by version and nominal time.

        This reads one partition.

        Runs that events started are in partitions of their own, which are read only if `has_events`. A
        triggered run has its payload, unless that is offloaded; other runs have none.
        """

    def occurrences(
        self,
        tenant_id: TenantId,
        job: JobName,
        version: int,
        *,
        after: datetime,
        until: datetime,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Return rows of a job's version with a nominal time in (after, until], oldest first.

        Manual runs are included.
        """

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        """Return entries of a due shard with ``after < due_at <= until``, soonest first; unsettled rows only.

        It reads only the entries that it returns, however many are stored.
        """
