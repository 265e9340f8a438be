"""The routes by which jobs are changed: register one's own, pause and resume, trigger, skip the next, set its retries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.background_jobs import job_view
from duetime.api.context import JOBS, SCHEDULING, ApiContext, caller_at, place_of
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
from duetime.api.routes import Operation, Route
from duetime.api.views import ActionSummary
from duetime.declare.job_rules import has_times, read_cadences
from duetime.errors import JobNotFound
from duetime.jobs.jobs import Jobs
from duetime.jobs.register import Registration
from duetime.model.action import Action
from duetime.model.audit import AuditKind
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.payload import Payload

_MANAGE, _DONE, _NEW = Permission.MANAGE_JOBS, HTTPStatus.NO_CONTENT, HTTPStatus.CREATED
_operation = partial(Operation, about=AuditKind.JOB)
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class JobOperationRoutes:
    """Jobs over HTTP, to be changed: the caller's tenant's, and by operators code's as far as code allows."""

    desk: ApiContext

    def routes(self) -> Iterable[Route]:
        """What is served, under the prefix."""
        job = f"{JOBS}/<name>"
        return (
            Route(
                "POST",
                JOBS,
                self.register,
                _MANAGE,
                _NEW,
                _operation("register", is_new=True),
                also=HTTPStatus.OK,
            ),
            Route("PUT", job, self.replace, _MANAGE, operation=_operation("replace"), also=_NEW),
            Route("DELETE", job, self.unregister, _MANAGE, _DONE, _operation("unregister")),
            Route("POST", f"{job}/pause", self.pause, _MANAGE, _DONE, _operation("pause")),
            Route("POST", f"{job}/resume", self.resume, _MANAGE, _DONE, _operation("resume")),
            Route(
                "POST", f"{job}/trigger", self.trigger, _MANAGE, HTTPStatus.ACCEPTED, _operation("trigger")
            ),
            Route("POST", f"{job}/skip-next", self.skip_next, _MANAGE, operation=_operation("skip-next")),
            Route("PUT", f"{job}/settings", self.set, _MANAGE, operation=_operation("set")),
        )

    def register(
        self, said: Annotated[RegisterRequest, Body()], request: Request
    ) -> Response[RegisteredView]:
        """Register a job (201), and trigger it if asked to; 200 where its idempotency key was seen before."""
        jobs = self.desk.scheduler(request).jobs
        handler = self._handler(said, request, is_triggered=said.trigger)
        standing, wanted = _standing(jobs, said.name), _registration(said.name, handler, said)
        if said.trigger:
            job, run = jobs.register_and_trigger(wanted)
            return self._registered(job, run, request, is_new=standing is None)
        return self._registered(jobs.register(wanted), None, request, is_new=standing is None)

    def replace(
        self, name: str, said: Annotated[ReplaceRequest, Body()], request: Request
    ) -> Response[RegisteredView]:
        """Register a job in the place of the tenant's own of that name (200), or anew (201)."""
        jobs = self.desk.jobs_for(request, name)
        handler = self._handler(said, request, is_triggered=False)
        standing = _standing(jobs, name)
        job = jobs.register(_registration(name, handler, said, replace=True))
        return self._registered(job, None, request, is_new=standing is None)

    def _handler(self, said: JobRequest, request: Request, *, is_triggered: bool) -> Payload | str:
        """What the job runs: a payload, which must be there if a time makes it due, or a handler's name."""
        is_operator = Permission.SYSTEM in caller_at(request).permissions
        handler = handler_for(self.desk.app, said.type, is_operator=is_operator)
        must_be_there = is_triggered or has_times(read_cadences(said.cadences))
        if said.payload is None and not must_be_there:
            return said.type
        return payload_of(handler, said.payload) or said.type

    def _registered(
        self, job: Job, run: Action | None, request: Request, *, is_new: bool
    ) -> Response[RegisteredView]:
        told = RegisteredView(**dict(job_view(self.desk, job, request)), run_id=run.id if run else None)
        status = _NEW if is_new else HTTPStatus.OK
        return Response(status, _JSON, told, headers={"Location": place_of(request, JOBS, job.name)})

    def unregister(self, name: str, request: Request) -> Response[None]:
        """Take back a registered job; its history is kept.

        The job itself is not found from then on; its runs and occurrences are told as long as they are kept.
        """
        jobs = self.desk.jobs_for(request, name)
        jobs.unregister(jobs.get(name).name)
        return _done()

    def pause(
        self, name: str, request: Request, said: Annotated[PauseRequest | None, Body()] = None
    ) -> Response[None]:
        """Run nothing of it from now on, or of one of its cadences."""
        said = said or PauseRequest()
        until = None if said.until is None else instant_of(said.until, self.desk.clock.now())
        jobs = self.desk.jobs_for(request, name)
        jobs.pause(name, reason=said.reason, until=until, cadence=said.cadence)
        return _done()

    def resume(
        self, name: str, request: Request, said: Annotated[CadenceRequest | None, Body()] = None
    ) -> Response[None]:
        """End a pause."""
        self.desk.jobs_for(request, name).resume(name, cadence=said.cadence if said else None)
        return _done()

    def trigger(
        self, name: str, request: Request, said: Annotated[TriggerRequest | None, Body()] = None
    ) -> Response[ActionSummary]:
        """Run it now, paused or not."""
        jobs = self.desk.jobs_for(request, name)
        payload = payload_for_run(self.desk.app, jobs.get(name), said.payload if said else None)
        action = jobs.trigger(name, payload=payload)
        location = {"Location": place_of(request, SCHEDULING, action.id)}
        return Response(HTTPStatus.ACCEPTED, _JSON, ActionSummary.of(action), headers=location)

    def skip_next(
        self, name: str, request: Request, said: Annotated[CadenceRequest | None, Body()] = None
    ) -> ActionSummary:
        """Skip the next occurrence that would run, planned or not; the one after it runs."""
        jobs = self.desk.jobs_for(request, name)
        return ActionSummary.of(jobs.skip_next(name, cadence=said.cadence if said else None))

    def set(self, name: str, said: Annotated[SettingsRequest, Body()], request: Request) -> JobView:
        """Set how runs are retried; what is left out goes by the declared policy again."""
        jobs = self.desk.jobs_for(request, name)
        return job_view(self.desk, jobs.set(name, **said.model_dump()), request)


def _standing(jobs: Jobs, name: str) -> Job | None:
    try:
        return jobs.get(name)
    except JobNotFound:
        return None


def _registration(
    name: str, handler: Payload | str, said: JobRequest, *, replace: bool = False
) -> Registration:
    return Registration(
        name=name,
        handler=handler,
        cadences=said.cadences,
        retry=None if said.retry is None else said.retry.policy(),
        overlap=said.overlap,
        catch_up=said.catch_up,
        precision=said.precision,
        failure_threshold=said.failure_threshold,
        title=said.title,
        category=said.category,
        description=said.description,
        idempotency_key=said.idempotency_key,
        idempotency_ttl=None if said.idempotency_ttl is None else timedelta(seconds=said.idempotency_ttl),
        replace=replace,
    )


def _done() -> Response[None]:
    return Response(HTTPStatus.NO_CONTENT)
