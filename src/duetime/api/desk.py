"""The desk: where a caller is served, by a scheduler that acts for the caller's tenant, in the caller's name."""

from __future__ import annotations

from dataclasses import dataclass

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.caller import Caller
from duetime.app import App
from duetime.clock import Clock
from duetime.job_ports import JobPorts
from duetime.permissions import Permission
from duetime.ports import ActionStore
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.undelivered_ports import UndeliveredPorts

SCHEDULING, JOBS, UNDELIVERED = "/scheduling", "/background-jobs", "/undelivered"
"""What the paths of actions, of jobs and of what is undelivered begin with, under the prefix."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the routes need; the app's handlers say what may be scheduled and registered, and are not called here."""

    store: ActionStore
    jobs: JobPorts
    app: App
    clock: Clock
    settings: Settings
    undelivered: UndeliveredPorts | None = None

    def scheduler(self, request: Request) -> Scheduler:
        """The caller's scheduler; code's jobs are shown to those who may see the system."""
        caller = caller_at(request)
        return Scheduler(
            self.store,
            tenant_id=caller.tenant_id,
            actor=caller.actor,
            clock=self.clock,
            settings=self.settings,
            jobs=self.jobs,
            undelivered=self.undelivered,
            sees_system=Permission.SYSTEM in caller.permissions,
        )


def caller_at(request: Request) -> Caller:
    """Who has sent a request."""
    caller: Caller = request.context["caller"]
    return caller


def place_of(request: Request, collection: str, name: str) -> str:
    """Where the client finds an action or a job."""
    return f"{request.context['base']}{collection}/{name}"
