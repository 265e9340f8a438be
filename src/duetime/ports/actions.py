"""The interface to the actions' rows, written as a specification.

The rules of `duetime.ports.wakeups` apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from duetime.model.action import Action, ActionRef, Status

if TYPE_CHECKING:
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
