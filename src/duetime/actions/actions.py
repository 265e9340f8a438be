"""Read and change the actions of one tenant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Protocol

from duetime import ids
from duetime.actions.cancel import cancel
from duetime.actions.search import RunHistory, Search, stored_payload
from duetime.errors import InvalidArgument, NotFound, StateConflict, truncate
from duetime.jobs.tenant_context import TenantContext
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action, ActionRef, Status
from duetime.model.expiry import check_expiry
from duetime.model.lease import Applied, Rejected
from duetime.model.selection import Selection, check_limit
from duetime.ports.actions import DamagedRow, Page
from duetime.ports.job_store import JobStore
from duetime.telemetry import spans

LONGEST_REASON = 500
"""Characters of the reason of a dismissal."""


class CountAgain(Protocol):
    """Has the batch of a failed member wait for it."""

    def __call__(self, row: Action, /, *, is_redriven: bool) -> None:
        """Call it before the member is redriven, and after it."""


class Actions:
    """The actions of one tenant, and those of code's jobs if the context includes them."""

    def __init__(
        self,
        context: TenantContext,
        history: RunHistory,
        jobs: Callable[[], JobStore] | None,
        count_again: CountAgain,
        region: Callable[[], KnownRegion],
    ) -> None:
        """Use the context's store.

        Args:
            context: the tenant and its back end.
            history: reads a job's runs.
            jobs: loads the store of jobs, which holds their locks; None if the back end has no jobs.
            count_again: has the batch of a failed member wait for it, before and after its redrive.
            region: loads the active region, which alone ends hand-overs.
        """
        self._context, self._store, self._jobs = context, context.store, jobs
        self._count_again, self._region = count_again, region
        tenants = [ids.SYSTEM_TENANT] if context.sees_system else []
        self._search = Search(
            context.store,
            history,
            context.tenant_id,
            tenants,
            due_order=context.settings.due_order,
            payload_of=context.payload_of or stored_payload,
        )

    def get(self, action_id: str) -> Action:
        """Return an action; see `Scheduler.get`."""
        action = self._store.get(self.ref(action_id))
        if action is None:
            raise NotFound("action", action_id)
        return action

    def page(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        """Return a page of the actions in a selection."""
        check_limit(limit)
        return self._search(selection, limit=limit, cursor=cursor)

    def cancel(self, ref: ActionRef, row: Action | None = None) -> Action:
        """Cancel an action; see `Scheduler.cancel`. For this and the methods below, `row` saves a read."""
        by, now = self._context.actor, self._context.clock.now()
        kept_until = now + self._context.settings.retention
        first = iter([row] if row else [])
        with _span(spans.CANCEL, ref) as span:
            outcome = cancel(
                lambda: next(first, None) or self._row(ref),
                self._store,
                self._jobs,
                by=by,
                at=now,
                kept_until=kept_until,
            )
            action = _applied(ref, outcome, "cancel", "a pending or running one", span)
        if not action.is_handed_over:
            return action
        from duetime.jobs.end_hand_over import EndHandOver  # noqa: PLC0415 - few actions are handed over

        if not self._region().is_active():
            return action  # the request is stored; only the active region ends a hand-over
        end = EndHandOver(self._store, self._jobs, settings=self._context.settings)
        is_done = end.obey_cancel(action, now=self._context.clock.now())
        return (self._row(action.ref) or action) if is_done else action

    def reschedule(self, ref: ActionRef, due_at: datetime, expires_at: datetime | None) -> Action:
        """Change the due time of an action; see `Scheduler.reschedule`."""
        with _span(spans.RESCHEDULE, ref) as span:
            row = self._row(ref)
            if row is not None and row.is_held:
                possible = "one that does not wait for others (cancel it, and schedule another)"
                raise _conflict(ref, "reschedule", "held", possible)
            if expires_at is None and row is not None and row.status is Status.PENDING:
                expires_at = row.expires_at
                check_expiry(due_at, expires_at)
            change = partial(self._store.reschedule, due_at=due_at, expires_at=expires_at)
            outcome = self._change(row, change, Status.PENDING)
            return _applied(ref, outcome, "reschedule", "a pending one", span)

    def redrive(self, ref: ActionRef, due_at: datetime, row: Action | None = None) -> Action:
        """Run a failed action again; see `Scheduler.redrive`."""
        change = partial(self._store.redrive, due_at=due_at)
        with _span(spans.REDRIVE, ref) as span:
            row = row or self._row(ref)
            if row is not None and row.batch is not None and row.status is Status.FAILED:
                self._count_again(row, is_redriven=False)
            outcome = self._change(row, change, Status.FAILED)
            if isinstance(outcome, Applied) and outcome.action.batch is not None:
                self._count_again(outcome.action, is_redriven=True)
            possible = "a failed one"
            if isinstance(outcome, Rejected) and outcome.taken_by is not None:
                possible = f"one that still has its idempotency key (action {outcome.taken_by} has it now)"
            return _applied(ref, outcome, "redrive", possible, span)

    def dismiss(self, ref: ActionRef, reason: str) -> Action:
        """Remove a failed action from the dead letters; see `Scheduler.dismiss`."""
        if not 1 <= len(reason.strip()) <= LONGEST_REASON:
            raise InvalidArgument(
                f"the reason has {len(reason)} characters; write 1 to {LONGEST_REASON}, not only spaces,"
                " such as: the order was refunded by hand",
                field="reason",
            )
        change = partial(self._store.dismiss, reason=truncate(reason.strip(), LONGEST_REASON))
        with _span(spans.DISMISS, ref) as span:
            outcome = self._change(self._row(ref), change, Status.FAILED)
            return _applied(ref, outcome, "dismiss", "a failed one that is not dismissed", span)

    def _change(
        self, row: Action | None, change: Callable[..., Applied | Rejected], status: Status
    ) -> Applied | Rejected:
        """Change the row as read. One that has changed since is rejected: this change may be its past."""
        if row is None or row.status is not status:
            return Rejected(row)
        return change(row, by=self._context.actor, at=self._context.clock.now())

    def _row(self, ref: ActionRef) -> Action | None:
        """Return the row without an offloaded payload.

        Raises:
            UnreadableRow: duetime did not write it.
        """
        damaged: list[DamagedRow] = []
        rows = self._store.get_rows([ref], damaged=damaged)
        if damaged:
            return self._store.get(ref)
        return rows[0] if rows else None

    def ref(self, action_id: str) -> ActionRef:
        """Return the reference of an action: the tenant's own, or one of the system's.

        Raises:
            NotFound: the text is no action id.
        """
        if not ids.is_action_id(action_id):
            raise NotFound("action", action_id)
        own = ActionRef(self._context.tenant_id, ids.ActionId(action_id))
        is_own = (
            ids.is_one_shot(action_id) or not self._context.sees_system or self._store.get(own) is not None
        )
        return own if is_own else ActionRef(ids.SYSTEM_TENANT, own.id)


def _span(name: str, ref: ActionRef) -> AbstractContextManager[spans.TraceSpan]:
    return spans.span(name, lambda: {spans.ACTION_ID: ref.id, spans.TENANT: ref.tenant_id})


def _applied(
    ref: ActionRef, outcome: Applied | Rejected, operation: str, possible: str, span: spans.TraceSpan
) -> Action:
    if outcome.action is None:
        raise NotFound("action", ref.id)
    span.about(outcome.action)
    if isinstance(outcome, Applied):
        return outcome.action
    status = outcome.action.status.value
    if possible == f"a {status} one":
        possible += " that no other call changes meanwhile (read it again, then repeat)"
    raise _conflict(ref, operation, status, possible)


def _conflict(ref: ActionRef, operation: str, status: str, possible: str) -> StateConflict:
    problem = f"it is {status}, and only {possible} can be"
    return StateConflict(f"cannot {operation} action {ref.id}", problem, code="action-conflict")
