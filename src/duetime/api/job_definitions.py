"""Routes of a job's definitions: list them with their differences, compare two, and roll back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.background_jobs import job_view
from duetime.api.context import JOBS, ApiRoutes, reader_at
from duetime.api.definition_views import StoredDefinitionList, StoredDefinitionView
from duetime.api.job_views import JobView
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.errors import JobDefinitionNotFound
from duetime.model.audit import AuditKind
from duetime.model.job import StoredDefinition
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_JOBS, Permission.MANAGE_JOBS
_DEFINITIONS = f"{JOBS}/<name>/definitions"
_LONGEST = 30

DefinitionId = Annotated[
    str | None, Query(description="the id of the definition to compare it with", max_length=_LONGEST)
]


class RollBackRequest(RequestBody):
    """The definition to which a job returns."""

    definition: Annotated[
        str, Field(description="the id of one of the job's definitions, such as `3`", max_length=_LONGEST)
    ]


class JobDefinitionRoutes(ApiRoutes):
    """Serves the definitions of the caller's jobs, and of code's jobs to operators."""

    tag = "jobs"

    @route("listJobDefinitions", "GET", _DEFINITIONS, _READ)
    def list(self, name: str, request: Request) -> StoredDefinitionList:
        """Return the definitions that the job has had, the present one first, with what each changed.

        Ended ones are stored for 400 days. Of a job of code, there is one for each version.
        """
        stored, redactor = self._stored(name, request), reader_at(self.api, request)
        before = [None, *stored[:-1]]
        views = [
            StoredDefinitionView.from_stored(definition, previous, redactor)
            for definition, previous in zip(stored, before, strict=True)
        ]
        return StoredDefinitionList(items=views[::-1])

    @route("getJobDefinition", "GET", f"{_DEFINITIONS}/<definition_id>", _READ)
    def get(
        self, name: str, definition_id: str, request: Request, against: DefinitionId = None
    ) -> StoredDefinitionView:
        """Return a definition, with what differs from the one before it, or from that of `against`."""
        stored = self._stored(name, request)
        shown = _of_id(name, stored, definition_id)
        place = stored.index(shown)
        before = _of_id(name, stored, against) if against else stored[place - 1] if place else None
        return StoredDefinitionView.from_stored(shown, before, reader_at(self.api, request))

    def _stored(self, name: str, request: Request) -> Sequence[StoredDefinition]:
        return self.api.scheduler(request).jobs.definitions(name)

    @route(
        "rollBackJob",
        "POST",
        f"{JOBS}/<name>/roll-back",
        _MANAGE,
        operation=Operation("roll-back", AuditKind.JOB, creates_work=True),
    )
    def roll_back(self, name: str, body: Annotated[RollBackRequest, Body()], request: Request) -> JobView:
        """Let a former definition of the tenant's job come into force again, as a new change."""
        job = self.api.jobs_for(request, name).roll_back(name, body.definition)
        return job_view(self.api, job, request)


def _of_id(name: str, stored: Sequence[StoredDefinition], definition_id: str) -> StoredDefinition:
    for definition in stored:
        if definition.id == definition_id:
            return definition
    raise JobDefinitionNotFound(name, definition_id)
