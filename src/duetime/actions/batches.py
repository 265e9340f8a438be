"""Batches of one tenant: open and fill one, follow its progress, close, cancel and redrive it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

from duetime.actions.batch_writes import BatchWrites, batch_conflict, check_open
from duetime.actions.bulk import BulkResult, change_many
from duetime.errors import InvalidArgument, InvalidCursor
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.batch import (
    MOST_MEMBERS,
    ActionBatch,
    BatchState,
    batch_name,
)
from duetime.model.selection import check_limit
from duetime.ports.actions import BatchPage, Page

if TYPE_CHECKING:
    from duetime.actions.order import Order
    from duetime.payload import Payload

_AT_ONCE = 1_000
"""Members between two writes of the batch."""
_SEARCHED = 2_000
"""The most members that one page reads to find those with a status."""
_UNSETTLED = (Status.PENDING, Status.PROCESSING)


class OpenBatch:
    """A batch while members are added; as a context manager, it is closed at the end, unless an error occurs.

    Attributes:
        name: of the batch.
    """

    def __init__(
        self,
        writes: BatchWrites,
        name: str,
        on_complete: Payload | None,
    ) -> None:
        self._writes, self.name, self._on_complete = writes, batch_name(name), on_complete
        self._next: int | None = None
        self.batch: ActionBatch | None = None
        """As it was last read or written; None until it is opened."""

    def open(self) -> ActionBatch:
        """Open the batch, or return the open one of this name.

        Raises:
            InvalidPayload: of the completion action.
            BackendUnavailable: repeat the call.
        """
        batch, is_new = self._writes.open(self.name, self._on_complete)
        self.batch = batch
        if is_new:
            self._next = 0
        return batch

    def schedule_many(self, orders: Iterable[Order], *, start: int | None = None) -> int:
        """Add members, and return how many these are.

        They are numbered in the order of the calls. A repeat with the same `start` and orders adds none
        twice.

        Args:
            orders: the members, as for `Scheduler.schedule_many`; read and written in groups of 1,000.
            start: the number of the first one. It is needed if another process, or an earlier try, has
                opened the batch.

        Raises:
            StateConflict: the batch is closed, or `start` is needed.
            InvalidArgument: a member has `after`, or an idempotency or debounce key, or there are too many;
                or a member is due later than the retention after the batch was opened.
            BackendUnavailable: some may be missing; repeat the call with `start`.
            DuetimeError: see `Scheduler.schedule`; the group with the wrong order is not written.
        """
        batch = self.batch or self.open()
        check_open(batch)
        if start is not None:
            self._next = start
        if self._next is None:
            again = f"start=0 to repeat the same orders, or start={batch.size} to add to them"
            raise batch_conflict(self.name, "add to", "open, and others have opened it", f"pass {again}")
        first = self._next
        listed = iter(orders)
        while some := list(islice(listed, _AT_ONCE)):
            self.batch = self._writes.add(self.name, some, self._next)
            self._next += len(some)
        return self._next - first

    def close(self) -> ActionBatch:
        """Close the batch: no more members can be added; see `Batches.close`."""
        if self.batch is None:
            self.open()
        self.batch = self._writes.close(self.name)
        return self.batch

    def member_id(self, number: int) -> ActionId:
        """Return the id of a member, which may not be scheduled yet.

        Raises:
            InvalidArgument: no batch has a member of this number.
        """
        if not 0 <= number < MOST_MEMBERS:
            problem = f"is out of range: members are numbered from 0 to {MOST_MEMBERS - 1:,}"
            raise InvalidArgument(problem, field="number", value=number)
        return (self.batch or self.open()).member(number).id

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()


class Batches:
    """The batches of one tenant."""

    def __init__(self, writes: BatchWrites) -> None:
        self._writes, self._context, self._do = writes, writes.context, writes.callbacks
        self._store = self._context.store

    def get(self, name: str) -> ActionBatch:
        """Return a batch with its counts, by one read.

        Raises:
            NotFound: the tenant has no such batch.
        """
        return self._writes.get(name)

    def list(self, *, limit: int = 50, cursor: str | None = None) -> BatchPage:
        """Return a page of the batches, by name.

        Raises:
            InvalidCursor: the cursor is no batch's name.
            InvalidArgument: the limit is out of range.
        """
        check_limit(limit)
        if cursor is not None:
            try:
                batch_name(cursor)
            except InvalidArgument:
                raise InvalidCursor from None
        return self._store.batches(self._context.tenant_id, limit=limit, cursor=cursor)

    def members(
        self, name: str, *, status: Status | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page:
        """Return a page of the members by number, without payloads, optionally of one status.

        Raises:
            NotFound: the tenant has no such batch.
            InvalidCursor: the cursor is no number of a member.
        """
        return self._members(self.get(name), (status,) if status else tuple(Status), limit, cursor)

    def close(self, name: str) -> ActionBatch:
        """Close a batch; it is complete as soon as all members are final.

        Raises:
            NotFound: the tenant has no such batch.
            StateConflict: it is closed already.
        """
        return self._writes.close(name)

    def cancel(
        self, name: str, *, dry_run: bool = False, limit: int = 200, cursor: str | None = None
    ) -> BulkResult:
        """Cancel the pending members, and request that the running ones stop; see `Scheduler.cancel_many`.

        An open batch is closed first. The completion action runs when all members are final.

        Raises:
            NotFound: the tenant has no such batch.
            BackendUnavailable: some may be cancelled; call again.
        """
        batch = self.get(name)
        if batch.state is BatchState.OPEN and not dry_run:
            batch = self.close(name)
        page = self._members(batch, _UNSETTLED, limit, cursor)
        return change_many(page, self._do.cancel, dry_run=dry_run, includes_runs=False)

    def redrive(
        self, name: str, *, dry_run: bool = False, limit: int = 200, cursor: str | None = None
    ) -> BulkResult:
        """Run the failed members again; see `Scheduler.redrive_many`.

        Before its completion, the batch waits for them. After it, they are counted again, and the completion
        action does not run again.

        Raises:
            NotFound: the tenant has no such batch.
            BackendUnavailable: some may be redriven; call again.
        """
        now = self._context.clock.now()
        page = self._members(self.get(name), (Status.FAILED,), limit, cursor)
        redrive: Callable[[Action], Action] = lambda row: self._do.redrive(row, now)  # noqa: E731 - for mypy
        return change_many(page, redrive, dry_run=dry_run, includes_runs=False)

    def _members(
        self, batch: ActionBatch, statuses: Sequence[Status], limit: int, cursor: str | None
    ) -> Page:
        check_limit(limit)
        if cursor is not None and not (
            cursor.isascii() and cursor.isdecimal() and len(cursor) <= len(str(MOST_MEMBERS))
        ):
            raise InvalidCursor
        number, found = int(cursor or 0), list[Action]()
        until = min(number + _SEARCHED, batch.size)
        while number < until and len(found) < limit:
            some = range(number, min(number + limit - len(found), until))
            rows = self._store.get_rows([batch.member(one) for one in some])
            found += sorted((row for row in rows if row.status in statuses), key=lambda row: row.id)
            number = some.stop
        shown = tuple(row.without_payload() for row in found)
        return Page(shown, str(number) if number < batch.size else None)
