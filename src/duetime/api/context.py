"""The API's context: the back ends, and a scheduler for each caller's tenant and actor.

It imports no route: a cold start needs none.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from duetime import instant
from duetime.actions.usage_quotas import UsageQuotas
from duetime.api.authenticator import Caller
from duetime.api.preconditions import compare, compared, etag_of_action, etag_of_job, expected_etags
from duetime.api.redactor import Redactor
from duetime.app import App
from duetime.clock import Clock
from duetime.environment import USUAL_CONCURRENCY
from duetime.errors import StateConflict, Unsupported, truncate
from duetime.ids import DEFAULT_WORKER, TenantId
from duetime.jobs.tenant_context import TenantContext
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action
from duetime.model.permissions import Permission
from duetime.model.work_pause import Hold, PausableWork, WorkPause, work_of
from duetime.ports.access import AuditTrail, Grants
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobPorts
from duetime.ports.notifications import InboxPorts
from duetime.ports.rate_limits import NoSetLimits, SetLimits
from duetime.ports.run_counts import RunCounts
from duetime.ports.run_logs import RunLogs
from duetime.ports.undelivered import UndeliveredPorts
from duetime.ports.wakeups import Bookmarks
from duetime.settings import Settings

if TYPE_CHECKING:
    from datetime import datetime

    from aws_lambda_powertools.event_handler.request import Request

    from duetime.actions.hand_overs import HandOvers
    from duetime.jobs.jobs import Jobs
    from duetime.scheduler import Scheduler

ACTIONS, JOBS, UNDELIVERED = "/actions", "/jobs", "/undelivered"
NOTIFICATIONS = "/notifications"
"""The first path segments of the collections, under the prefix."""


@dataclass(frozen=True, slots=True)
class ApiContext:
    """The dependencies of the routes. The app's handlers define payload types; the API does not call them."""

    store: ActionStore
    jobs: JobPorts
    app: App
    clock: Clock
    settings: Settings
    undelivered: UndeliveredPorts | None = None
    notifications: InboxPorts | None = None
    counts: RunCounts | None = None
    pauses: KnownPauses | None = None
    quotas: UsageQuotas | None = None
    limits: SetLimits = field(default_factory=NoSetLimits)
    run_logs: RunLogs | None = None
    worker_concurrency: int = USUAL_CONCURRENCY

    @property
    def notified(self) -> InboxPorts:
        """Return the inboxes and the preferences.

        Raises:
            Unsupported: this API was made without back ends for them.
        """
        if self.notifications is None:
            raise Unsupported("this API was made without back ends for notifications")
        return self.notifications

    @property
    def known_pauses(self) -> KnownPauses:
        """Return the pauses of tenants.

        Raises:
            Unsupported: this API was made without a back end for them.
        """
        if self.pauses is None:
            raise Unsupported("this API was made without a back end for pauses of tenants")
        return self.pauses

    @property
    def hand_overs(self) -> HandOvers:
        """Return the handed-over actions of all tenants: the token alone decides."""
        from duetime.actions.hand_overs import HandOvers  # noqa: PLC0415 - at the first request with a token
        from duetime.jobs.trusted_reading import KnownRegion  # noqa: PLC0415 - as above

        return HandOvers(
            self.store,
            lambda: self.jobs.jobs,
            clock=self.clock,
            settings=self.settings,
            tenants=None,
            region=KnownRegion(self.jobs.regions, self.clock),
            jitter_draw=random.random,
        )

    def check_not_paused(self, tenant_id: TenantId) -> None:
        """Check that runs of a tenant may become due.

        Raises:
            StateConflict: an operator has paused it.
        """
        if (pause := self.pause_of(tenant_id)) is not None:
            end = f"until {instant.text(pause.until)}" if pause.until else "until an operator resumes it"
            what = f"the tenant {tenant_id!r} is paused {end}"
            raise StateConflict(what, truncate(pause.reason), code="tenant-paused")

    def pause_of(self, tenant_id: TenantId) -> WorkPause | None:
        """Return the pause of a tenant; None if its work may begin."""
        return None if self.pauses is None else self.pauses.of_tenant(tenant_id)

    def hold_of(self, row: Action) -> Hold | None:
        """Return what holds an action; None if a run of it may begin."""
        return None if self.pauses is None else self.pauses.hold_of(self._work(row))

    def skip_of(self, row: Action) -> WorkPause | None:
        """Return the pause under which an action is skipped when it is due; None without one."""
        return None if self.pauses is None else self.pauses.known_skip_of(self._work(row))

    def ready_at(self, row: Action) -> datetime:
        """Return from when on a run of an overdue action may begin; `LATEST` if that is not known."""
        if self.pauses is None:
            return row.due_at
        return self.pauses.ready_at(self._work(row), late=self.settings.grace, is_first=row.attempt == 0)

    def _work(self, row: Action) -> PausableWork:
        return work_of(row, self.jobs.routes.queue_for(row.type) or DEFAULT_WORKER)

    def scheduler(self, request: Request, *, etags: frozenset[str] = frozenset()) -> Scheduler:
        """Return the caller's scheduler; callers with the permission `system` see code's jobs."""
        from duetime.scheduler import Scheduler  # noqa: PLC0415 - at the first request that needs it

        caller = caller_at(request)
        context = TenantContext(
            store=self.store,
            tenant_id=caller.tenant_id,
            actor=caller.actor,
            clock=self.clock,
            settings=self.settings,
            sees_system=Permission.SYSTEM in caller.permissions,
            payload_of=lambda row: reader_at(self, request).of_action(row).payload,
        )
        jobs = replace(self.jobs, jobs=compared(self.jobs.jobs, etags))
        return Scheduler.in_context(context, jobs, self.undelivered, self.quotas)

    def scheduler_for(self, request: Request, action_id: str) -> Scheduler:
        """Return the caller's scheduler after the action's ETag matches ``If-Match``.

        Raises:
            NotFound: the client says how it should be, and it is not there.
            RequestError: it is not as the client says.
        """
        scheduler = self.scheduler(request)
        if etags := expected_etags(request):
            compare(etags, etag_of_action(scheduler.get(action_id)))
        return scheduler

    def jobs_for(self, request: Request, name: str) -> Jobs:
        """Return the caller's jobs after the job's ETag matches ``If-Match``.

        Raises:
            NotFound: the client says how it should be, and it is not there.
            RequestError: it is not as the client says; also raised as it is written.
        """
        etags = expected_etags(request)
        jobs = self.scheduler(request, etags=etags).jobs
        if etags:
            compare(etags, etag_of_job(jobs.get(name)))
        return jobs


@dataclass(frozen=True, slots=True)
class Access:
    """The grants made at run time, and the audit trail."""

    grants: Grants
    trail: AuditTrail


@dataclass(frozen=True, slots=True)
class Health:
    """What the routes of the deployment's health read.

    Attributes:
        bookmarks: those of the passes.
        waiting: counts the failure queue's messages.
        runbook: the address of the operators' runbook.
    """

    bookmarks: Bookmarks
    waiting: Callable[[], int] | None = None
    runbook: str | None = None


def caller_at(request: Request) -> Caller:
    """Return the caller of a request."""
    caller: Caller = request.context["caller"]
    return caller


def reader_at(api: ApiContext, request: Request) -> Redactor:
    """Return the redactor for a request's caller."""
    return Redactor(api.app, Permission.READ_PAYLOADS in caller_at(request).permissions)


def place_of(request: Request, collection: str, name: str) -> str:
    """Return the path of an action or a job, with the stage."""
    return f"{request.context['base']}{collection}/{name}"
