"""The desk: where a caller is served, by a scheduler that acts for the caller's tenant, in the caller's name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.caller import Caller
from duetime.api.preconditions import compare, compared, etag_of_action, etag_of_job, expected_etags
from duetime.app import App
from duetime.clock import Clock
from duetime.errors import Unsupported
from duetime.jobs.jobs import Jobs
from duetime.model.permissions import Permission
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobPorts
from duetime.ports.notifications import InboxPorts
from duetime.ports.undelivered import UndeliveredPorts
from duetime.scheduler import Scheduler
from duetime.settings import Settings

SCHEDULING, JOBS, UNDELIVERED = "/scheduling", "/background-jobs", "/undelivered"
NOTIFICATIONS = "/notifications"
"""What the paths of actions, of jobs, of what is undelivered and of notifications begin with, under the prefix."""


@dataclass(frozen=True, slots=True)
class ApiContext:
    """What the routes need; the app's handlers say what may be scheduled and registered, and are not called here."""

    store: ActionStore
    jobs: JobPorts
    app: App
    clock: Clock
    settings: Settings
    undelivered: UndeliveredPorts | None = None
    notifications: InboxPorts | None = None

    @property
    def notified(self) -> InboxPorts:
        """The lists of notifications, and what was chosen.

        Raises:
            Unsupported: this API was made without back ends for them.
        """
        if self.notifications is None:
            raise Unsupported("this API was made without back ends for notifications")
        return self.notifications

    def scheduler(self, request: Request, *, etags: frozenset[str] = frozenset()) -> Scheduler:
        """The caller's scheduler; code's jobs are shown to those who may see the system."""
        caller = caller_at(request)
        return Scheduler(
            self.store,
            tenant_id=caller.tenant_id,
            actor=caller.actor,
            clock=self.clock,
            settings=self.settings,
            jobs=replace(self.jobs, jobs=compared(self.jobs.jobs, etags)),
            undelivered=self.undelivered,
            sees_system=Permission.SYSTEM in caller.permissions,
        )

    def scheduler_for(self, request: Request, action_id: str) -> Scheduler:
        """The caller's scheduler, to change an action that is as the client has seen it.

        Raises:
            ActionNotFound: the client says how it should be, and it is not there.
            PreconditionFailed: it is not as the client says.
        """
        scheduler = self.scheduler(request)
        if etags := expected_etags(request):
            compare(etags, etag_of_action(scheduler.get(action_id)))
        return scheduler

    def jobs_for(self, request: Request, name: str) -> Jobs:
        """The caller's jobs, to change one that is as the client has seen it.

        Raises:
            JobNotFound: the client says how it should be, and it is not there.
            PreconditionFailed: it is not as the client says; also raised as it is written.
        """
        etags = expected_etags(request)
        jobs = self.scheduler(request, etags=etags).jobs
        if etags:
            compare(etags, etag_of_job(jobs.get(name)))
        return jobs


def caller_at(request: Request) -> Caller:
    """Who has sent a request."""
    caller: Caller = request.context["caller"]
    return caller


def place_of(request: Request, collection: str, name: str) -> str:
    """Where the client finds an action or a job."""
    return f"{request.context['base']}{collection}/{name}"
