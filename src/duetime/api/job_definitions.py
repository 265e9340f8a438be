"""A job's definitions: list them with their differences, compare two, and roll back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.background_jobs import job_view
from duetime.api.context import JOBS, reader_at
from duetime.api.job_views import JobOptionsView, JobView, option_fields
from duetime.api.redactor import Redactor
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import View, shows
from duetime.errors import NotFound
from duetime.jobs.register import definition_hint
from duetime.model.audit import AuditKind
from duetime.model.job import Definition, StoredDefinition, is_manual
from duetime.model.permissions import Permission

_READ, _MANAGE = Permission.READ_JOBS, Permission.MANAGE_JOBS
_DEFINITIONS = f"{JOBS}/<name>/definitions"
_LONGEST = 30

DefinitionId = Annotated[
    str | None, Query(description="the id of the definition to compare it with", max_length=_LONGEST)
]


class _ScheduleView(View):
    """What a job runs, and when: the first fields of its definition."""

    type: str
    """The payload type, whose handler runs it."""
    cadences: list[str]
    """Their texts; none for a job that is only triggered."""


@shows(Definition, "after_timeout title category")
class DefinitionView(JobOptionsView, _ScheduleView):
    """What a registration of a job sets."""


def definition_view(definition: Definition, redactor: Redactor) -> DefinitionView:
    """Return the view of a definition for one caller."""
    cadences = [] if is_manual(definition) else definition.cadences
    fields = option_fields(definition, redactor.of_definition(definition))
    return DefinitionView.of(definition, cadences=cadences, **fields)


class FieldChangeView(View):
    """A field that differs between two definitions."""

    field: str
    """Its name in a definition."""
    before: Any
    """Its former value; null without one. Sensitive values of payloads are hidden."""
    after: Any
    """Its later value."""


def changes_between(before: Definition, after: Definition, redactor: Redactor) -> Iterator[FieldChangeView]:
    """Yield the fields that differ, in the order of `DefinitionView`."""
    old, new = (
        definition_view(definition, redactor).model_dump(mode="json") for definition in (before, after)
    )
    for field in DefinitionView.model_fields:
        if field == "redacted":
            continue
        differs = (
            (before.payload, before.payload_version) != (after.payload, after.payload_version)
            if field == "payload"  # also if the values that differ are hidden
            else old[field] != new[field]
        )
        if differs:
            yield FieldChangeView(field=field, before=old[field], after=new[field])


@shows(StoredDefinition, "id version since until")
class StoredDefinitionView(View):
    """A definition that a job has or had."""

    by: str | None
    """Who registered it; null if that is not recorded."""
    definition: DefinitionView
    """What it sets."""
    changes: list[FieldChangeView]
    """What differs from the definition before it, or from that of `against`; none for the first."""


class StoredDefinitionList(View):
    """A job's definitions."""

    items: list[StoredDefinitionView]
    """The present one first."""


class RollBackRequest(RequestBody):
    """The definition to which a job returns."""

    definition: Annotated[
        str, Field(description="the id of one of the job's definitions, such as `3`", max_length=_LONGEST)
    ]


class JobDefinitionRoutes(RouteGroup):
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
            _stored_view(definition, previous, redactor)
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
        return _stored_view(shown, before, reader_at(self.api, request))

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
    raise NotFound("definition", definition_id, definition_hint(name))


def _stored_view(
    stored: StoredDefinition, before: StoredDefinition | None, redactor: Redactor
) -> StoredDefinitionView:
    """Return the view of a stored definition beside the one that it is compared with."""
    changes = before and changes_between(before.definition, stored.definition, redactor)
    definition = definition_view(stored.definition, redactor)
    return StoredDefinitionView.of(
        stored, by=stored.by or None, definition=definition, changes=list(changes or ())
    )
