"""The writes of one tenant's batches: open one, add members, and have it counted again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from duetime import ids
from duetime.actions.order import KEYS, Order
from duetime.errors import InvalidArgument, NotFound, StateConflict
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.tenant_context import TenantContext
from duetime.model import row_parts
from duetime.model.action import Action
from duetime.model.batch import (
    HELD_AT,
    MOST_MEMBERS,
    ActionBatch,
    BatchRef,
    BatchState,
    batch_name,
    closed,
    counted_again,
    extended,
)
from duetime.model.predecessors import ANY, Predecessors
from duetime.wakeups.count_batch import new_version

if TYPE_CHECKING:
    from duetime.payload import Payload

MakeMembers: TypeAlias = "Callable[[Sequence[Order]], Sequence[Action]]"
"""Checks orders, and returns their actions; writes nothing."""


@dataclass(frozen=True, slots=True)
class BatchCallbacks:
    """The parts of a scheduler that a batch needs."""

    make: MakeMembers
    """Returns the actions of orders."""
    count: Callable[[Sequence[Action]], None]
    """Counts new actions towards the quotas."""
    cancel: Callable[[Action], Action]
    redrive: Callable[[Action, datetime], Action]


class BatchWrites:
    """Reads and writes batches for `OpenBatch`, `Batches` and redrives."""

    def __init__(self, context: TenantContext, callbacks: BatchCallbacks) -> None:
        self.context, self.callbacks, self._store = context, callbacks, context.store

    def get(self, name: str) -> ActionBatch:
        """Return a batch with its counts, by one read.

        Raises:
            NotFound: the tenant has no such batch.
        """
        batch = self._store.find_batch(self._ref(name))
        if batch is None:
            raise NotFound("batch", name)
        return batch

    def change(
        self, name: str, change: Callable[[ActionBatch], ActionBatch], read: ActionBatch | None = None
    ) -> ActionBatch:
        """Change a batch until no other writer interferes."""
        version, first = new_version(), iter([read] if read else [])

        def once() -> ActionBatch | Conflict:
            batch = next(first, None) or self.get(name)
            changed = change(batch)
            if changed is batch:
                return batch
            changed = replace(changed, version=version)
            return changed if self._store.change_batch(batch, changed) else CHANGED

        return change_with_retry(once, f"batch {name}", table="the actions table")

    def close(self, name: str) -> ActionBatch:
        """See `duetime.actions.batches.Batches.close`."""
        by, at = self.context.actor, self.context.clock.now()

        def change(batch: ActionBatch) -> ActionBatch:
            if batch.state is not BatchState.OPEN:
                raise batch_conflict(name, "close", batch.state.value, "only an open one can be closed")
            return closed(batch, by=by, at=at)

        return self.change(name, change)

    def count_again(self, row: Action, *, is_redriven: bool = False) -> None:
        """Have the batch of a failed member wait for it.

        Call it before the member is redriven, and after it: a count between the two has read it as failed.
        The first call writes nothing while no count was stored since another redrive.
        """
        batch = self._store.find_batch(BatchRef(row.tenant_id, row.batch or ""))
        if batch is None or not batch.has_member(row):
            return
        if is_redriven or not batch.counts_again:
            self.change(batch.name, partial(counted_again, at=self.context.clock.now()))

    def open(self, name: str, on_complete: Payload | None) -> tuple[ActionBatch, bool]:
        """Open a batch; return it, or the present one of this name, and whether it is new."""
        context = self.context
        now = context.clock.now()
        completion = None
        if on_complete is not None:
            (action,) = self.callbacks.make([Order(on_complete, at=now)])
            after = row_parts.After(Predecessors((), (name,)).text(), ANY)
            completion = replace(action, due_at=HELD_AT, first_due_at=action.due_at, after=after)
        batch = ActionBatch(
            tenant_id=context.tenant_id,
            name=name,
            first_id=ids.batch_id(now, context.random_bytes),
            version=new_version(),
            opened_at=now,
            opened_by=context.actor,
            on_complete=completion.id if completion else None,
        )
        opened = self._store.open_batch(batch, completion)
        return opened, opened.first_id == batch.first_id

    def add(self, name: str, orders: Sequence[Order], start: int) -> ActionBatch:
        """Write a group of members, and return the batch."""
        for order in orders:
            order.check_without(
                "is not possible for a member: a batch could then wait for itself;"
                " let an action wait for the batch",
                "after",
            )
            problem = "is not possible for a member of a batch: its number makes a repeat safe"
            order.check_without(problem, *KEYS)
        actions = self.callbacks.make(orders)
        if start < 0 or start + len(orders) > MOST_MEMBERS:
            problem = f"is out of range: a batch has at most {MOST_MEMBERS:,} members, numbered from 0"
            raise InvalidArgument(problem, field="start", value=start)
        read = self.get(name)
        latest = read.opened_at + self.context.settings.retention
        for action in actions:
            if max(action.nominal_at, action.created_at) > latest:
                problem = f"is later than the retention allows: this batch's last member is due by {latest}"
                raise InvalidArgument(problem, value=action.nominal_at)

        def change(batch: ActionBatch) -> ActionBatch:
            check_open(batch)
            return extended(batch, start + len(orders))

        batch = self.change(name, change, read)
        members = list(self._as_members(batch, actions, start))
        self.callbacks.count(members)
        self._store.put_many(members)
        return batch

    def _as_members(self, batch: ActionBatch, actions: Sequence[Action], start: int) -> Iterator[Action]:
        shards = self.context.settings.due_shards
        for number, action in enumerate(actions, start):
            member = batch.member(number).id
            yield replace(
                action,
                id=member,
                due_shard=ids.due_shard_of(member, shards),
                batch=batch.name,
                is_awaited=True,
            )

    def _ref(self, name: str) -> BatchRef:
        return BatchRef(self.context.tenant_id, batch_name(name))


def check_open(batch: ActionBatch) -> None:
    """Check that members can be added.

    Raises:
        StateConflict: it is closed or complete.
    """
    if batch.state is not BatchState.OPEN:
        raise batch_conflict(batch.name, "add to", batch.state.value, "only an open one takes members")


def batch_conflict(name: str, operation: str, state: str, possible: str) -> StateConflict:
    """Return the error of an operation that a batch's state does not allow."""
    return StateConflict(
        f"cannot {operation} batch {name}", f"it is {state}; {possible}", code="batch-conflict"
    )
