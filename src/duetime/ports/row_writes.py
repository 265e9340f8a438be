"""Writes of actions' rows that share a transaction with keyed items: see `duetime.ports.keyed_items.Items`.

::

    RowPut        add a row, unless there is one
    RowSwap       write the fields in which a row differs from the one that was read, if the guard holds
    RowIsOver     check that an action is final or gone
    RowStillDead  check that a holder is dead as read, or gone; one that may run loses fence and nonce
    RowCheckpoint store a run's checkpoint, unless the row has a later one
    RowFollowed   add an id to the followers of a row
    RowLease      give a damaged row a lease that ends, if it is as it was read

`holds` and `after` are the rules for back ends that are no DynamoDB table.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from duetime.ids import ActionId
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.quick_fields import with_fields
from duetime.model.swap import MY_RUN, Guard, as_it_is, changes
from duetime.ports.actions import DamagedRow, Holder


class RowPut(NamedTuple):
    """Add a row, unless there is one. Its offloaded payload is stored before."""

    action: Action

    @property
    def ref(self) -> ActionRef:
        """The row."""
        return self.action.ref

    def holds(self, stored: Action | None) -> bool:
        """Return whether there is no row."""
        return stored is None

    def after(self, _stored: Action | None) -> Action:
        """Return the new row."""
        return self.action


class RowSwap(NamedTuple):
    """Write the fields in which `changed` differs from `read`, if the stored row satisfies the guard.

    With `has_payload`, an offloaded payload of `changed` is stored in the same transaction.
    """

    read: Action
    changed: Action
    guard: Guard
    has_payload: bool = False

    @property
    def ref(self) -> ActionRef:
        """The row."""
        return self.read.ref

    def holds(self, stored: Action | None) -> bool:
        """Return whether the stored row satisfies the guard."""
        return (
            stored is not None
            and self.read.status is self.guard.status
            and self.guard.holds(stored, self.read, self.changed)
        )

    def after(self, stored: Action | None) -> Action:
        """Return the row with the changed fields; what others wrote beside them meanwhile stays."""
        if stored is self.read or stored is None:
            return self.changed
        return with_fields(stored, **changes(self.read, self.changed))


class RowIsOver(NamedTuple):
    """Check that an action is final or gone. A damaged row is as far as its status can be read."""

    ref: ActionRef

    def holds(self, stored: Holder | None) -> bool:
        """Return whether it is."""
        return stored is None or (stored.status is not None and stored.status.is_final)

    def after(self, stored: Holder | None) -> Holder | None:
        """Return the row, which stays."""
        return stored


class RowStillDead(NamedTuple):
    """Check that a holder is dead as read, or gone.

    A dead run loses fence and nonce: if it wakes, or receives the response of its claim late, it holds
    nothing. With `loses_slot`, a pending row loses its fence too: a claim of it may be under way.
    """

    ref: ActionRef
    read: Holder | None
    loses_slot: bool = False

    def holds(self, stored: Holder | None) -> bool:
        """Return whether it is."""
        if isinstance(stored, Action) and isinstance(self.read, Action):
            return as_it_is(self.read).holds(stored, self.read, self.read)
        if isinstance(stored, DamagedRow) and isinstance(self.read, DamagedRow):
            return stored.stored == self.read.stored
        return stored is self.read is None

    def after(self, stored: Holder | None) -> Holder | None:
        """Return the row without what it held. No run can settle under the fence of a damaged one."""
        if not isinstance(stored, Action) or not self.loses_fence(stored):
            return stored
        return transition.fenced_off(stored)

    def loses_fence(self, row: Action) -> bool:
        """Return whether a run of the row may be under way."""
        return row.status is Status.PROCESSING or (self.loses_slot and row.status is Status.PENDING)


class RowCheckpoint(NamedTuple):
    """Store the checkpoint of a run that holds its row, unless the row has a later one."""

    claimed: Action
    checkpoint: Checkpoint

    @property
    def ref(self) -> ActionRef:
        """The row."""
        return self.claimed.ref

    def holds(self, stored: Action | None) -> bool:
        """Return whether the run holds its row, and its checkpoint is later."""
        return (
            stored is not None
            and MY_RUN.holds(stored, self.claimed, self.claimed)
            and self.checkpoint.replaces(stored.checkpoint)
        )

    def after(self, stored: Action) -> Action:
        """Return the row with the checkpoint."""
        return replace(stored, checkpoint=self.checkpoint)


class RowFollowed(NamedTuple):
    """Add an id to the followers of a row: the write of its end, or this one, is then their wake."""

    ref: ActionRef
    follower: ActionId

    def holds(self, stored: Action | None) -> bool:
        """Return whether there is a row."""
        return stored is not None

    def after(self, stored: Action) -> Action:
        """Return the row with the follower."""
        return replace(stored, is_awaited=True, followers=tuple(sorted({*stored.followers, self.follower})))


class RowLease(NamedTuple):
    """Give a damaged row a lease that ends, if it is as it was read."""

    read: DamagedRow
    until: datetime

    @property
    def ref(self) -> ActionRef:
        """The row."""
        return self.read.ref

    def holds(self, stored: Holder | None) -> bool:
        """Return whether it is."""
        return isinstance(stored, DamagedRow) and stored.stored == self.read.stored

    def after(self, stored: DamagedRow) -> DamagedRow:
        """Return what can be read of the row then."""
        return replace(stored, lease_until=self.until)


RowWrite: TypeAlias = RowPut | RowSwap | RowIsOver | RowStillDead | RowCheckpoint | RowFollowed | RowLease
