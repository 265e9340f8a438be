"""The door: a request comes in from API Gateway, is admitted or refused, and goes to its route.

Whoever calls is known before anything that was sent is read.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from duetime.api import PREFIX, routes
from duetime.api.access import Access
from duetime.api.audit_middleware import AuditMiddleware
from duetime.api.authenticator import Authenticator, require
from duetime.api.background_jobs import BackgroundJobs
from duetime.api.body import body_text, strict_json
from duetime.api.caller import Caller
from duetime.api.coming_runs import ComingRuns
from duetime.api.context import ApiContext
from duetime.api.errors import RouteNotFound
from duetime.api.health import Health
from duetime.api.job_operations import JobOperationRoutes
from duetime.api.many import BulkRoutes
from duetime.api.normalise_event import opened
from duetime.api.notifications import NotificationRoutes
from duetime.api.openapi.route import Description
from duetime.api.preferences import NotificationPreferences
from duetime.api.problems import of_error
from duetime.api.requests import refused
from duetime.api.routes import Route, RouteTable
from duetime.api.scheduling import Scheduling
from duetime.api.undelivered import UndeliveredRoutes
from duetime.errors import DuetimeError, truncate

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
Handler = Callable[[Event, Any], dict[str, Any]]


def make_door(desk: ApiContext, health: Health, access: Access, *, prefix: str = PREFIX) -> Handler:
    """The handler of API Gateway's REST proxy events (payload version 1).

    Safe to call from several threads: the resolver keeps the request it is at in a variable of its class, so that two
    at once could see each other's caller. A Lambda's process is given one request at a time and never waits here.
    """
    resolver = _resolver(prefix)
    served = routes_of(desk, health, access)
    authority, recorder = (
        Authenticator(access.grants, desk.settings),
        AuditMiddleware(access.trail, desk.clock),
    )
    routes.add(resolver, served, prefix)
    directory, lock = RouteTable(served, prefix), threading.Lock()

    def resolved(event: Event, context: Any, caller: Caller | None) -> dict[str, Any]:
        with lock:
            resolver.context.update(caller=caller, base=_base(event, prefix))
            return resolver.resolve(dict(event), context)

    def handler(sent: Event, context: Any) -> dict[str, Any]:
        event, entry = opened(sent), None
        try:
            caller = None if directory.is_open(event["path"]) else authority.caller_of(event)
            found = directory.find(event["httpMethod"], event["path"])
            if caller is not None and found.route.needs is not None:
                entry = recorder.entry(found, caller, event)
                require(caller, *found.route.admits)
            sound = _sound(event)
            recorder.begin(entry, found)
            answer = resolved(sound, context, caller)
        except DuetimeError as refusal:
            answer = of_error(refusal).proxy_answer()
        recorder.end(entry, answer)
        return answer

    return handler


def routes_of(desk: ApiContext, health: Health, access: Access) -> Sequence[Route]:
    """All that is served, under the prefix."""
    served = (
        Scheduling(desk),
        BulkRoutes(desk),
        BackgroundJobs(desk),
        ComingRuns(desk),
        JobOperationRoutes(desk),
        UndeliveredRoutes(desk),
        NotificationRoutes(desk),
        NotificationPreferences(desk),
        access,
        health,
    )
    routes = [route for each in served for route in each.routes()]
    return [*routes, *Description(routes, desk.settings.api_tag).routes()]


def _base(event: Event, prefix: str) -> str:
    """The prefix as the client called it: with the stage, or the base of a custom domain."""
    called = str(event["requestContext"]["path"] or event["path"])
    return called.removesuffix(event["path"].removeprefix(prefix))


def _sound(event: Event) -> dict[str, Any]:
    """The event with a body that is text, and JSON as far as its sender says."""
    kept = {name: value for name, value in event["headers"].items() if name.lower() != "content-type"}
    return {**event, "headers": kept, "body": body_text(event), "isBase64Encoded": False}


def _resolver(prefix: str) -> APIGatewayRestResolver:
    resolver = APIGatewayRestResolver(
        enable_validation=True,
        debug=False,
        serializer=partial(json.dumps, separators=(",", ":"), ensure_ascii=False),
        json_body_deserializer=strict_json,
    )

    def nowhere(_error: NotFoundError) -> Response[str]:
        return _told(RouteNotFound(resolver.current_event.path, prefix))

    resolver.not_found(nowhere)
    resolver.exception_handler(DuetimeError)(_told)
    resolver.exception_handler(RequestValidationError)(_invalid)
    resolver.exception_handler(Exception)(_fault)
    return resolver


def _told(error: DuetimeError) -> Response[str]:
    problem = of_error(error)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request failed", extra={"code": error.code, "reason": truncate(error)})
    return problem.response()


def _invalid(error: RequestValidationError) -> Response[str]:
    return _told(refused(error.errors()))


def _fault(error: Exception) -> Response[str]:
    """A fault of ours: it is logged in full, and the client is told no more than that it happened."""
    log.error("request met a fault", exc_info=error)
    return of_error(DuetimeError()).response()
