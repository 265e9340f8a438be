"""The actions of one tenant: looked up and changed, one or many. `Scheduler` adds how they are scheduled."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from duetime import ids, instant
from duetime.actions.bulk import BulkResult, change_many, meant
from duetime.actions.cancel import cancel
from duetime.actions.search import Search
from duetime.clock import Clock
from duetime.errors import ActionConflict, ActionNotFound, Unsupported
from duetime.instant import When
from duetime.model.action import Action, ActionRef, Status
from duetime.model.lease import Applied, Rejected
from duetime.model.selection import Filters, Selection, check_limit
from duetime.ports.actions import ActionStore, Page
from duetime.settings import Settings
from duetime.telemetry import spans

if TYPE_CHECKING:
    from duetime.jobs.jobs import Jobs
    from duetime.ports.jobs import JobPorts
    from duetime.ports.undelivered import UndeliveredPorts


class Actions:
    """Looks up and changes a tenant's actions, in one actor's name."""

    def __init__(
        self,
        store: ActionStore,
        *,
        tenant_id: str,
        actor: str,
        clock: Clock,
        settings: Settings,
        jobs: JobPorts | None = None,
        undelivered: UndeliveredPorts | None = None,
        sees_system: bool = True,
        random_bytes: ids.Entropy = os.urandom,
    ) -> None:
        """Make one over given back ends; `from_env` does it for DynamoDB.

        Args:
            store: the actions.
            tenant_id: whose actions.
            actor: in whose name.
            clock: what tells the time.
            settings: the deployment's.
            jobs: the jobs' back ends, for `jobs`.
            undelivered: the back ends for `undelivered`.
            sees_system: whether code's jobs, and their runs, are shown and changed beside the tenant's own.
            entropy: what makes ids random.
        """
        self._store = store
        self._job_ports = (lambda: jobs) if jobs else None
        self._undelivered_ports = (lambda: undelivered) if undelivered else None
        self._sees_system = sees_system
        self._clock, self._entropy = clock, random_bytes
        self._settings = settings
        self.tenant_id = ids.tenant(tenant_id)
        self.actor = ids.actor(actor)

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs that code declares, and this tenant's own.

        Raises:
            Unsupported: this scheduler was made without back ends for jobs.
        """
        from duetime.jobs.jobs import Jobs  # noqa: PLC0415 - who only schedules loads no cadences

        return Jobs(
            self._store,
            self._ports_of_jobs(),
            tenant_id=self.tenant_id,
            actor=self.actor,
            clock=self._clock,
            settings=self._settings,
            sees_system=self._sees_system,
            random_bytes=self._entropy,
        )

    def _ports_of_jobs(self) -> JobPorts:
        if self._job_ports is None:
            raise Unsupported("this scheduler was made without back ends for jobs; pass jobs=JobPorts(…)")
        return self._job_ports()

    def get(self, action_id: str) -> Action:
        """The action as of now.

        Raises:
            ActionNotFound: this tenant has no such action.
        """
        action = self._store.get(self._ref(action_id))
        if action is None:
            raise ActionNotFound(action_id)
        return action

    def list(self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """A page of the actions that meet all filters, without their payloads; of all, where there are none.

        Those of a correlation id come oldest first; failed ones by their failure, the latest first; those of a due range
        soonest first where the deployment has ``due_order``; all others by age, the latest first. One-shots are listed; runs of a job with ``job=`` or ``status="failed"``. `duetime.actions.search` says what has
        an index; by other filters only what was read is looked through, so a page may be short and have a cursor.

        Args:
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the page before, with the same filters.
            filters: see `duetime.model.selection.Filters`.

        Raises:
            InvalidCursor: the cursor belongs to another query.
            InvalidSelection: there is no such filter or status, or a span ends before it begins.
            InvalidIdentifier, InvalidTime: a filter has no such value.
            JobNotFound: there is no such job.
        """
        return self._page(Selection.of(filters, self._clock.now()), limit, cursor)

    def cancel_many(
        self,
        *,
        dry_run: bool = False,
        limit: int = 200,
        cursor: str | None = None,
        **filters: Unpack[Filters],
    ) -> BulkResult:
        """Cancel all pending actions that meet the filters, and ask the running ones to stop, `limit` at a time.

        Call again with the step's `cursor` until that is None::

            step = scheduler.cancel_many(correlation_id="order:17")
            while step.cursor:
                step = scheduler.cancel_many(correlation_id="order:17", cursor=step.cursor)

        Args:
            dry_run: change nothing, and tell what would be changed.
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the step before, with the same filters.
            filters: as `list`; at least one, and none that is None.

        Raises:
            InvalidSelection: there is no filter, or one is None; or the status is one that cannot be cancelled.
            BackendUnavailable: some may be cancelled; call again.
            DuetimeError: as `list`.
        """
        selection = meant(filters, self._clock.now(), "cancel", {Status.PENDING, Status.PROCESSING})
        return self._many(selection, self._cancel, limit, cursor, dry_run=dry_run)

    def redrive_many(
        self,
        *,
        at: When = timedelta(0),
        tz: str | None = None,
        dry_run: bool = False,
        limit: int = 200,
        cursor: str | None = None,
        **filters: Unpack[Filters],
    ) -> BulkResult:
        """Run all failed actions that meet the filters again, `limit` at a time; see `cancel_many`.

        Args:
            at: when they are due: now, or another time.
            tz: the zone of a local `at`.
            dry_run: change nothing, and tell what would be changed.
            limit: how many at most, 1 to 200.
            cursor: the `cursor` of the step before, with the same filters.
            filters: as `cancel_many`; ``status="failed"`` is one.

        Raises:
            DuetimeError: as `cancel_many`, and as `redrive` for `at`.
        """
        now = self._clock.now()
        due_at, selection = (
            instant.resolve(at, now=now, tz=tz),
            meant(filters, now, "redrive", {Status.FAILED}),
        )
        again = partial(self._redrive, due_at=due_at)
        return self._many(selection, again, limit, cursor, dry_run=dry_run)

    def cancel(self, action_id: str) -> Action:
        """Cancel a pending action; ask a running one to stop, which it does if its handler looks.

        Returns:
            The action: cancelled, or still processing with `cancel_requested_at` set.

        Raises:
            ActionNotFound: this tenant has no such action.
            ActionConflict: it is settled already.
        """
        return self._cancel(self._ref(action_id))

    def reschedule(self, action_id: str, at: When, *, tz: str | None = None) -> Action:
        """Give a pending action another due time; an earlier wake of it then changes nothing.

        Raises:
            InvalidTime: as `schedule`.
            ActionNotFound: this tenant has no such action.
            ActionConflict: it is not pending.
        """
        ref, now = self._ref(action_id), self._clock.now()
        due_at = instant.resolve(at, now=now, tz=tz)
        with _span(spans.RESCHEDULE, ref) as told:
            outcome = self._store.reschedule(ref, due_at, by=self.actor, at=now)
            return _moved(ref, outcome, "reschedule", "a pending one", told)

    def redrive(self, action_id: str, *, at: When = timedelta(0), tz: str | None = None) -> Action:
        """Run a failed action again, now or at another time, with all the attempts that its policy allows.

        Raises:
            ActionNotFound: this tenant has no such action.
            ActionConflict: it has not failed, or another action has its idempotency key by now.
        """
        due_at = instant.resolve(at, now=self._clock.now(), tz=tz)
        return self._redrive(self._ref(action_id), due_at)

    def _page(self, selection: Selection, limit: int, cursor: str | None) -> Page:
        check_limit(limit)
        others = [ids.SYSTEM_TENANT] if self._sees_system else []
        due_order = self._settings.due_order
        search = Search(self._store, self._history, self.tenant_id, others, due_order=due_order)
        return search(selection, limit=limit, cursor=cursor)

    def _history(self, name: str, *, limit: int, cursor: str | None) -> Page:
        return self.jobs.history(name, limit=limit, cursor=cursor)

    def _many(
        self,
        selection: Selection,
        change: Callable[[ActionRef], Action],
        limit: int,
        cursor: str | None,
        *,
        dry_run: bool,
    ) -> BulkResult:
        page = self._page(selection, limit, cursor)
        return change_many(page, lambda row: change(row.ref), dry_run=dry_run)

    def _cancel(self, ref: ActionRef) -> Action:
        now = self._clock.now()
        jobs = None if self._job_ports is None else (lambda: self._ports_of_jobs().jobs)
        expires_at = now + self._settings.retention
        with _span(spans.CANCEL, ref) as told:
            outcome = cancel(ref, self._store, jobs, by=self.actor, at=now, expires_at=expires_at)
            return _moved(ref, outcome, "cancel", "a pending or running one", told)

    def _redrive(self, ref: ActionRef, due_at: datetime) -> Action:
        with _span(spans.REDRIVE, ref) as told:
            outcome = self._store.redrive(ref, due_at, by=self.actor, at=self._clock.now())
            possible = "a failed one"
            if isinstance(outcome, Rejected) and outcome.taken_by is not None:
                possible = f"one that still has its idempotency key (action {outcome.taken_by} has it now)"
            return _moved(ref, outcome, "redrive", possible, told)

    def _ref(self, action_id: str) -> ActionRef:
        if not ids.is_action_id(action_id):
            raise ActionNotFound(action_id)
        own = ActionRef(self.tenant_id, ids.ActionId(action_id))
        is_own = ids.is_one_shot(action_id) or not self._sees_system or self._store.get(own) is not None
        return own if is_own else ActionRef(ids.SYSTEM_TENANT, own.id)


def _span(name: str, ref: ActionRef) -> AbstractContextManager[spans.TraceSpan]:
    return spans.span(name, lambda: {spans.ACTION_ID: ref.id, spans.TENANT: ref.tenant_id})


def _moved(
    ref: ActionRef, outcome: Applied | Rejected, asked: str, possible: str, told: spans.TraceSpan
) -> Action:
    if outcome.action is None:
        raise ActionNotFound(ref.id)
    told.about(outcome.action)
    if isinstance(outcome, Applied):
        return outcome.action
    raise ActionConflict(ref.id, asked=asked, status=outcome.action.status.value, possible=possible)
