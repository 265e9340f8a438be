"""Routes that change jobs: register, pause, resume, trigger, skip the next run, set retries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.background_jobs import job_view
from duetime.api.context import ACTIONS, JOBS, ApiContext, caller_at, place_of
from duetime.api.job_requests import (
    CadenceRequest,
    JobRequest,
    PauseRequest,
    RegisterRequest,
    ReplaceRequest,
    SettingsRequest,
    TriggerRequest,
)
from duetime.api.job_views import JobView
from duetime.api.parameters import instant_of
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import ActionSummary, answer
from duetime.app import App
from duetime.declare.handler import Handler
from duetime.declare.job_rules import read_cadences
from duetime.declare.timed_cadences import has_times
from duetime.errors import InvalidPayload, NotFound, UnknownType
from duetime.jobs.jobs import Jobs
from duetime.model.action import Action
from duetime.model.audit import AuditKind
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.payload import Payload

_MANAGE, _DONE, _NEW = Permission.MANAGE_JOBS, HTTPStatus.NO_CONTENT, HTTPStatus.CREATED


class RegisteredView(JobView):
    """A job as it was registered."""

    run_id: str | None = None
    """The run that was triggered with it, if one was requested."""


class JobOperationRoutes(RouteGroup):
    """Serves changes of the tenant's jobs; operators may change code's jobs as far as code allows."""

    tag = "jobs"

    @route(
        "registerJob",
        "POST",
        JOBS,
        _MANAGE,
        status=_NEW,
        second_status=HTTPStatus.OK,
        operation=Operation("register", AuditKind.JOB, is_new=True, creates_work=True),
        header="Location",
    )
    def register(
        self, body: Annotated[RegisterRequest, Body()], request: Request
    ) -> Response[RegisteredView]:
        """Register a job (201), and trigger it on request; 200 if its idempotency key is known."""
        jobs = self.api.scheduler(request).jobs
        handler = runs_of(self.api, body, request, is_triggered=body.trigger)
        stored, registration = _stored(jobs, body.name), body.registration(body.name, handler)
        if body.trigger:
            job, run = jobs.register_and_trigger(registration)
            return self._registered(job, run, request, is_new=stored is None)
        return self._registered(jobs.register(registration), None, request, is_new=stored is None)

    @route(
        "replaceJob",
        "PUT",
        f"{JOBS}/<name>",
        _MANAGE,
        second_status=_NEW,
        operation=Operation("replace", AuditKind.JOB, creates_work=True),
        header="Location",
    )
    def replace(
        self, name: str, body: Annotated[ReplaceRequest, Body()], request: Request
    ) -> Response[RegisteredView]:
        """Replace the tenant's job of that name (200), or register a new one (201)."""
        jobs = self.api.jobs_for(request, name)
        handler = runs_of(self.api, body, request, is_triggered=False)
        stored = _stored(jobs, name)
        job = jobs.register(body.registration(name, handler, replace=True))
        return self._registered(job, None, request, is_new=stored is None)

    def _registered(
        self, job: Job, run: Action | None, request: Request, *, is_new: bool
    ) -> Response[RegisteredView]:
        view = RegisteredView.of(job_view(self.api, job, request), run_id=run.id if run else None)
        location = place_of(request, JOBS, job.name)
        return answer(view, _NEW if is_new else HTTPStatus.OK, Location=location)

    @route(
        "unregisterJob",
        "DELETE",
        f"{JOBS}/<name>",
        _MANAGE,
        status=_DONE,
        operation=Operation("unregister", AuditKind.JOB),
    )
    def unregister(self, name: str, request: Request) -> Response[None]:
        """Unregister a job; its history is retained.

        The job is then not found; its runs and occurrences stay readable until they expire.
        """
        jobs = self.api.jobs_for(request, name)
        jobs.unregister(jobs.get(name).name)
        return _done()

    @route(
        "pauseJob",
        "POST",
        f"{JOBS}/<name>/pause",
        _MANAGE,
        status=_DONE,
        operation=Operation("pause", AuditKind.JOB),
    )
    def pause(
        self, name: str, request: Request, body: Annotated[PauseRequest | None, Body()] = None
    ) -> Response[None]:
        """Pause the job, or one of its cadences."""
        body = body or PauseRequest()
        until = None if body.until is None else instant_of(body.until, "until", self.api.clock.now())
        self.api.jobs_for(request, name).pause(name, reason=body.reason, until=until, cadence=body.cadence)
        return _done()

    @route(
        "resumeJob",
        "POST",
        f"{JOBS}/<name>/resume",
        _MANAGE,
        status=_DONE,
        operation=Operation("resume", AuditKind.JOB),
    )
    def resume(
        self, name: str, request: Request, body: Annotated[CadenceRequest | None, Body()] = None
    ) -> Response[None]:
        """End a pause."""
        self.api.jobs_for(request, name).resume(name, cadence=body.cadence if body else None)
        return _done()

    @route(
        "triggerJob",
        "POST",
        f"{JOBS}/<name>/trigger",
        _MANAGE,
        status=HTTPStatus.ACCEPTED,
        operation=Operation("trigger", AuditKind.JOB, creates_work=True),
        header="Location",
    )
    def trigger(
        self, name: str, request: Request, body: Annotated[TriggerRequest | None, Body()] = None
    ) -> Response[ActionSummary]:
        """Run it now, paused or not."""
        jobs = self.api.jobs_for(request, name)
        payload = payload_for_run(self.api.app, jobs.get(name), body.payload if body else None)
        action = jobs.trigger(name, payload=payload)
        location = place_of(request, ACTIONS, action.id)
        return answer(ActionSummary.of(action), HTTPStatus.ACCEPTED, Location=location)

    @route(
        "skipNextRun",
        "POST",
        f"{JOBS}/<name>/skip-next",
        _MANAGE,
        operation=Operation("skip-next", AuditKind.JOB),
    )
    def skip_next(
        self, name: str, request: Request, body: Annotated[CadenceRequest | None, Body()] = None
    ) -> ActionSummary:
        """Skip the next occurrence, planned or not; the one after it runs."""
        jobs = self.api.jobs_for(request, name)
        return ActionSummary.of(jobs.skip_next(name, cadence=body.cadence if body else None))

    @route(
        "setJobSettings", "PUT", f"{JOBS}/<name>/settings", _MANAGE, operation=Operation("set", AuditKind.JOB)
    )
    def set(self, name: str, body: Annotated[SettingsRequest, Body()], request: Request) -> JobView:
        """Set the retry policy of runs; absent fields return to the declared policy."""
        job = self.api.jobs_for(request, name).set(name, **body.model_dump())
        return job_view(self.api, job, request)


def _stored(jobs: Jobs, name: str) -> Job | None:
    try:
        return jobs.get(name)
    except NotFound:
        return None


def _done() -> Response[None]:
    return Response(HTTPStatus.NO_CONTENT)


Sent = Mapping[str, Any] | None


def runs_of(
    api: ApiContext, body: JobRequest, request: Request, *, is_triggered: bool = False
) -> Payload | str:
    """Return the payload of a job's runs, or the name of the handler if it needs none yet.

    A job that a time makes due needs its payload, and so does one that is triggered.

    Raises:
        UnknownType: no handler has that name that a caller's job may run.
        InvalidPayload: as `_payload_of`.
    """
    is_operator = Permission.SYSTEM in caller_at(request).permissions
    handler = api.app.handlers.get(body.type)
    if handler is None or (handler.job and (handler.payload or not is_operator)):
        handlers = api.app.handlers.items()
        raise UnknownType(body.type, (name for name, handler in handlers if handler.job is None))
    if body.payload is None and not is_triggered and not has_times(read_cadences(body.cadences)):
        return body.type
    return _payload_of(handler, body.payload) or body.type


def _payload_of(handler: Handler, sent: Sent) -> Payload | None:
    """Return the payload of the request; None if the handler takes none.

    Raises:
        InvalidPayload: its model refuses it, or it is missing, or the handler takes none.
    """
    if handler.payload is None:
        _refuse_any(handler.name, sent)
        return None
    if sent is None:
        raise InvalidPayload(handler.name, ["there is none, and its handler takes one; say it as payload"])
    return handler.payload.from_json(json.dumps(sent), by_alias=True)


def payload_for_run(app: App, job: Job, sent: Sent) -> Payload | None:
    """Return the payload of a triggered run; None for the job's own payload, or if it takes none.

    Raises:
        InvalidPayload: as `_payload_of`.
        UnknownType: this app has no handler for the job, so the payload cannot be validated.
    """
    type_name = job.definition.type
    if job.definition.self_scheduled:
        _refuse_any(type_name, sent)
        return None
    if sent is None and (job.definition.payload is not None or job.removed_at is not None):
        return None
    handler = app.handlers.get(type_name)
    if handler is None:
        raise UnknownType(type_name, ())
    return _payload_of(handler, sent)


def _refuse_any(type_name: str, sent: Sent) -> None:
    if sent is not None:
        raise InvalidPayload(type_name, ["its handler takes none; leave payload out"])
