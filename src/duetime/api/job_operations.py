"""Routes that change jobs: register, pause, resume, trigger, skip the next run, set retries."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.background_jobs import job_view
from duetime.api.context import ACTIONS, JOBS, ApiRoutes, caller_at, place_of
from duetime.api.job_payloads import handler_for, payload_for_run, payload_of
from duetime.api.job_requests import (
    CadenceRequest,
    JobRequest,
    PauseRequest,
    RegisterRequest,
    ReplaceRequest,
    SettingsRequest,
    TriggerRequest,
)
from duetime.api.job_views import JobView, RegisteredView
from duetime.api.parameters import instant_of
from duetime.api.registrations import registration_of
from duetime.api.routes import Operation, route
from duetime.api.views import ActionSummary
from duetime.declare.job_rules import read_cadences
from duetime.declare.timed_cadences import has_times
from duetime.errors import JobNotFound
from duetime.jobs.jobs import Jobs
from duetime.model.action import Action
from duetime.model.audit import AuditKind
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.payload import Payload

_MANAGE, _DONE, _NEW = Permission.MANAGE_JOBS, HTTPStatus.NO_CONTENT, HTTPStatus.CREATED
_JSON = "application/json"


class JobOperationRoutes(ApiRoutes):
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
        handler = self._handler(body, request, is_triggered=body.trigger)
        stored, registration = _stored(jobs, body.name), registration_of(body.name, handler, body)
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
        handler = self._handler(body, request, is_triggered=False)
        stored = _stored(jobs, name)
        job = jobs.register(registration_of(name, handler, body, replace=True))
        return self._registered(job, None, request, is_new=stored is None)

    def _handler(self, body: JobRequest, request: Request, *, is_triggered: bool) -> Payload | str:
        """What the job runs: a payload, which must be there if a time makes it due, or a handler's name."""
        is_operator = Permission.SYSTEM in caller_at(request).permissions
        handler = handler_for(self.api.app, body.type, is_operator=is_operator)
        must_be_there = is_triggered or has_times(read_cadences(body.cadences))
        if body.payload is None and not must_be_there:
            return body.type
        return payload_of(handler, body.payload) or body.type

    def _registered(
        self, job: Job, run: Action | None, request: Request, *, is_new: bool
    ) -> Response[RegisteredView]:
        view = RegisteredView(**dict(job_view(self.api, job, request)), run_id=run.id if run else None)
        status = _NEW if is_new else HTTPStatus.OK
        return Response(status, _JSON, view, headers={"Location": place_of(request, JOBS, job.name)})

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
        location = {"Location": place_of(request, ACTIONS, action.id)}
        return Response(HTTPStatus.ACCEPTED, _JSON, ActionSummary.from_action(action), headers=location)

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
        return ActionSummary.from_action(jobs.skip_next(name, cadence=body.cadence if body else None))

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
    except JobNotFound:
        return None


def _done() -> Response[None]:
    return Response(HTTPStatus.NO_CONTENT)
