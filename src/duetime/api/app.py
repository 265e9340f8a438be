"""The API's handler: it authenticates the caller, finds the route, checks the permission and calls the route.

It authenticates the caller before it reads the path's parameters, the query or the body.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from duetime.api import PREFIX
from duetime.api.access import Access
from duetime.api.all_routes import routes_of
from duetime.api.audit_middleware import AuditMiddleware
from duetime.api.authenticator import Authenticator, require
from duetime.api.body import RequestContent
from duetime.api.caller import Caller
from duetime.api.context import ApiContext
from duetime.api.errors import RouteNotFound
from duetime.api.health import Health
from duetime.api.normalise_event import normalise
from duetime.api.problems import problem_of
from duetime.api.requests import invalid_request
from duetime.api.routes import RouteTable, add
from duetime.errors import DuetimeError, truncate

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
Handler = Callable[[Event, Any], dict[str, Any]]


def make_door(api: ApiContext, health: Health, access: Access, *, prefix: str = PREFIX) -> Handler:
    """Return the handler of API Gateway's REST proxy events (payload version 1).

    The handler is safe to call from several threads. The resolver keeps the current request in a variable of
    its
    class, so a lock serialises its calls. A Lambda process receives one request at a time and never waits
    here.
    """
    resolver = _resolver(prefix)
    routes = routes_of(api, health, access)
    authenticator = Authenticator(access.grants, api.settings)
    audit = AuditMiddleware(access.trail, api.clock)
    add(resolver, routes, prefix)
    table, lock = RouteTable(routes, prefix), threading.Lock()

    def resolve(event: Event, context: Any, caller: Caller | None, content: RequestContent) -> dict[str, Any]:
        with lock:
            resolver.context.update(caller=caller, base=_base(event, prefix), content=content)
            return resolver.resolve(_with_content(event, content), context)

    def handler(sent: Event, context: Any) -> dict[str, Any]:
        event, entry = normalise(sent), None
        try:
            match = table.find(event["path"])
            caller = None if match and match.is_open else authenticator.caller_of(event)
            if match is None:
                raise RouteNotFound(event["path"], prefix)
            route, content = match.route(event["httpMethod"]), RequestContent.from_event(event)
            if caller is not None and route.needs is not None:
                entry = audit.entry(route, match.name, caller, event, content)
                require(caller, *route.admits)
            if content.error is not None:
                raise content.error
            audit.begin(entry, route)
            response = resolve(event, context, caller, content)
        except DuetimeError as error:
            response = problem_of(error).proxy_response()
        audit.end(entry, response)
        return response

    return handler


def _base(event: Event, prefix: str) -> str:
    """Return the prefix as the client called it: with the stage, or the base of a custom domain."""
    called = str(event["requestContext"]["path"] or event["path"])
    return called.removesuffix(event["path"].removeprefix(prefix))


def _with_content(event: Event, content: RequestContent) -> dict[str, Any]:
    """Return the event with the decoded body, and without its media type, which is already checked."""
    headers = {name: value for name, value in event["headers"].items() if name.lower() != "content-type"}
    return {**event, "headers": headers, "body": content.text, "isBase64Encoded": False}


def _resolver(prefix: str) -> APIGatewayRestResolver:
    resolver = APIGatewayRestResolver(
        enable_validation=True,
        debug=False,
        serializer=partial(json.dumps, separators=(",", ":"), ensure_ascii=False),
        json_body_deserializer=lambda _text: resolver.context["content"].json(),
    )

    def route_not_found(_error: NotFoundError) -> Response[str]:
        return _problem(RouteNotFound(resolver.current_event.path, prefix))

    resolver.not_found(route_not_found)
    resolver.exception_handler(DuetimeError)(_problem)
    resolver.exception_handler(RequestValidationError)(_invalid_request)
    resolver.exception_handler(Exception)(_fault)
    return resolver


def _problem(error: DuetimeError) -> Response[str]:
    problem = problem_of(error)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request failed", extra={"code": error.code, "reason": truncate(error)})
    return problem.response()


def _invalid_request(error: RequestValidationError) -> Response[str]:
    return _problem(invalid_request(error.errors()))


def _fault(error: Exception) -> Response[str]:
    """Log an unexpected error in full; the response contains no detail of it."""
    log.error("request met a fault", exc_info=error)
    return problem_of(DuetimeError()).response()
