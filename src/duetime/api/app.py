"""The API's handler: it authenticates the caller, finds the route, checks the permission and calls the route.

It authenticates the caller before it reads the path's parameters, the query or the body.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from duetime.api import PREFIX
from duetime.api.access import Access
from duetime.api.all_routes import routes_of
from duetime.api.audit_middleware import AuditMiddleware
from duetime.api.authenticator import Authenticator, Caller, require
from duetime.api.body import RequestContent
from duetime.api.context import ApiContext
from duetime.api.cursors import CursorSeal
from duetime.api.errors import RouteNotFound
from duetime.api.health import Health
from duetime.api.normalise_event import normalise
from duetime.api.parameters import refuse_parameters
from duetime.api.problems import problem_of
from duetime.api.renamed_paths import successor_of, with_successor
from duetime.api.requests import invalid_request
from duetime.api.routes import Route, RouteTable
from duetime.errors import DuetimeError, RateExceeded, TenantPaused, truncate
from duetime.jobs.token_buckets import TokenBuckets
from duetime.model.quota import Quota, limit_of

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
_SECOND = timedelta(seconds=1)
Handler = Callable[[Event, Any], dict[str, Any]]


def make_api(api: ApiContext, health: Health, access: Access, *, prefix: str = PREFIX) -> Handler:
    """Return the handler of API Gateway's REST proxy events (payload version 1).

    The handler is safe to call from several threads. The resolver keeps the current request in a variable of
    its
    class, so a lock serialises its calls. A Lambda process receives one request at a time and never waits
    here.
    """
    routes = routes_of(api, health, access)
    resolver, table, lock = _Resolver(routes, prefix), RouteTable(routes, prefix), threading.Lock()
    authenticator = Authenticator(access.grants, api.settings)
    audit = AuditMiddleware(access.trail, api.clock, retention=api.settings.audit_retention)
    buckets = TokenBuckets(api.clock, _SECOND)

    def handler(sent: Event, context: Any) -> dict[str, Any]:
        event, entry, route = normalise(sent), None, None
        successor = successor_of(event["path"], prefix)
        try:
            match = table.find(successor or event["path"])
            caller = None if match and match.is_open else authenticator.caller_of(event)
            if caller is not None:
                _limit_rate(caller, buckets, api)
            if match is None:
                raise RouteNotFound(event["path"], prefix)
            route, content = match.route(event["httpMethod"]), RequestContent.from_event(event)
            if caller is not None and route.admits:
                entry = audit.entry(route, match.arguments, caller, event, content)
                require(caller, *route.admits)
                _refuse_work(api, route, caller, content)
            if content.error is not None:
                raise content.error
            entry = audit.begin(entry, route)
            refuse_parameters(event, route)
            seal = CursorSeal(match, caller, event, content)
            event, content = seal.opened(event, content)
            with lock:
                resolver.context.update(
                    route=route,
                    arguments=match.arguments,
                    caller=caller,
                    base=_base(event, prefix),
                    is_former=successor is not None,
                    content=content,
                    seal=seal,
                )
                response = resolver.resolve(_with_content(event, content), context)
        except DuetimeError as error:
            problem = problem_of(error, route)
            response = {
                "statusCode": problem.status_code,
                "body": problem.body,
                "isBase64Encoded": False,
                "multiValueHeaders": {name: [value] for name, value in problem.headers.items()},
            }
        audit.end(entry, response)
        if successor is None:
            return response
        return with_successor(response, _base(event, prefix) + successor.removeprefix(prefix))

    return handler


def _refuse_work(api: ApiContext, route: Route, caller: Caller, content: RequestContent) -> None:
    """Reject a change that makes runs due.

    Raises:
        TenantPaused: an operator has paused the caller's tenant.
    """
    operation = route.operation
    if operation is None or not operation.creates_work or content.fields.get("dry_run") is True:
        return
    if (pause := api.pause_of(caller.tenant_id)) is not None:
        raise TenantPaused(caller.tenant_id, reason=pause.reason, until=pause.until)


def _limit_rate(caller: Caller, buckets: TokenBuckets, api: ApiContext) -> None:
    """Count a request of a tenant.

    Raises:
        RateExceeded: the tenant has sent as many within a second as its quota allows.
    """
    limit = limit_of(api.settings, caller.tenant_id, Quota.REQUESTS)
    if limit is not None and not buckets.take(caller.tenant_id, limit):
        raise RateExceeded(caller.tenant_id, Quota.REQUESTS, limit=limit)


def _base(event: Event, prefix: str) -> str:
    """Return the prefix as the client called it: with the stage, or the base path of a custom domain."""
    called = str(event["requestContext"]["path"] or event["path"]).rstrip("/")
    return called.removesuffix(event["path"].rstrip("/").removeprefix(prefix))


def _with_content(event: Event, content: RequestContent) -> dict[str, Any]:
    """Return the event with the decoded body, and without its media type, which is already checked."""
    headers = {name: value for name, value in event["headers"].items() if name.lower() != "content-type"}
    return {**event, "headers": headers, "body": content.text, "isBase64Encoded": False}


class _Resolver(APIGatewayRestResolver):
    """Validates and calls the route that `RouteTable` has found; it matches no path itself."""

    def __init__(self, routes: Iterable[Route], prefix: str) -> None:
        super().__init__(
            enable_validation=True,
            debug=False,
            serializer=self._written,
            json_body_deserializer=lambda _text: self.context["content"].json(),
        )
        for route in routes:
            self.route(prefix + route.path, route.method, status_code=route.status)(route.handler)
        self._by_handler = {route.func: route for route in (*self._static_routes, *self._dynamic_routes)}
        self.exception_handler(Exception)(lambda error: _problem(error, self.context["route"]))

    def _written(self, answer: Any) -> str:
        return json.dumps(self.context["seal"].closed(answer), separators=(",", ":"), ensure_ascii=False)

    def _resolve(self) -> ResponseBuilder[Any]:
        route = self._by_handler[self.context["route"].handler]
        self.context.update(_route=route, _path=self.current_event.path)
        return self._call_route(route, self.context["arguments"])


def _problem(error: Exception, route: Route) -> Response[str]:
    """Return the response of an error; an unexpected one is logged in full, and the response hides it."""
    if isinstance(error, RequestValidationError):
        error = invalid_request(error.errors())
    if not isinstance(error, DuetimeError):
        log.error("request met a fault", exc_info=error)
        return problem_of(DuetimeError())
    response = problem_of(error, route)
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request failed", extra={"code": error.code, "reason": truncate(error)})
    return response
