"""Dispatch: the part of the API behind the route table, imported at the first request for a route.

It checks the permission, writes the audit trail, validates the request and calls the route.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder
from aws_lambda_powertools.event_handler.api_gateway import Route as ResolverRoute
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from duetime.api.audit_middleware import AuditMiddleware
from duetime.api.authenticator import Caller, require
from duetime.api.context import ApiContext
from duetime.api.gateway_event import RequestContent
from duetime.api.parameters import body_fields, refuse_parameters
from duetime.api.problems import invalid_request, problem_of
from duetime.api.routes import Route, RouteMatch, ServedRequest
from duetime.errors import DuetimeError, InvalidCursor, truncate
from duetime.ports.access import AuditTrail

_FREE = frozenset(
    {"cursor", "limit", "dry_run", "at", "in", "tz", "precision", "language", "until", "created_until"}
)
"""Fields that do not change which items follow; and the ends of a window, which the first page may set."""

_DIGITS = 12


class CursorSeal:
    """Adds the mark of one request to the cursor in its response, and checks it in the next request."""

    def __init__(
        self, match: RouteMatch, caller: Caller | None, event: Mapping[str, Any], content: RequestContent
    ) -> None:
        filters = {
            **event["queryStringParameters"],
            **event["multiValueQueryStringParameters"],
            **content.fields,
        }
        route = match.methods.get(event["httpMethod"])
        query = (
            caller and caller.tenant_id,
            route and route.operation_id,
            sorted(match.arguments.items()),
            sorted((name, str(value)) for name, value in filters.items() if name not in _FREE),
        )
        self._mark = "." + sha256(json.dumps(query).encode()).hexdigest()[:_DIGITS]

    def closed(self, answer: Any) -> Any:
        """Return a response's content with the mark at its `next_cursor`."""
        if not isinstance(answer, dict) or not answer.get("next_cursor"):
            return answer
        return {**answer, "next_cursor": answer["next_cursor"] + self._mark}

    def opened(
        self, event: Mapping[str, Any], content: RequestContent
    ) -> tuple[dict[str, Any], RequestContent]:
        """Return a request with the cursor that the list understands.

        Raises:
            InvalidCursor: it is no cursor of this list and these filters.
        """
        query = event["queryStringParameters"]
        if "cursor" in query:
            cursor = self._without_mark(query["cursor"])
            several = {**event["multiValueQueryStringParameters"], "cursor": [cursor]}
            event = {
                **event,
                "queryStringParameters": {**query, "cursor": cursor},
                "multiValueQueryStringParameters": several,
            }
        if isinstance(sent := content.fields.get("cursor"), str):
            content = content._replace(value={**content.value, "cursor": self._without_mark(sent)})
        return dict(event), content

    def _without_mark(self, cursor: str) -> str:
        if not cursor.endswith(self._mark):
            raise InvalidCursor
        return cursor.removesuffix(self._mark)


log = logging.getLogger(__name__)

HOLDER = "token-holder"
"""The actor of changes by token: the token names no person."""


class Dispatcher:
    """Calls the routes.

    A resolver serves one request at a time, so each request takes an idle one, or makes one. A Lambda process
    needs a second one only where a route serves further requests.
    """

    def __init__(self, api: ApiContext, trail: AuditTrail, prefix: str) -> None:
        self._api, self._prefix, self._idle = api, prefix, list[_Resolver]()
        self._audit = AuditMiddleware(trail, api.clock, retention=api.settings.audit_retention)

    def __call__(self, request: ServedRequest) -> dict[str, Any]:
        """Return the response of a request, or of its problem."""
        entry, route = None, None
        event, match, caller = request.event, request.match, request.caller
        try:
            route = match.route(event["httpMethod"])
            content = RequestContent.from_event(event, route.body_limit)
            if route.is_by_token and route.operation is not None and content.error is None:
                holder, named = self._holder(match.arguments["token"], event)
                entry = self._audit.entry(route, named, holder, event, content)
            if caller is not None and route.admits:
                entry = self._audit.entry(route, match.arguments, caller, event, content)
                require(caller, *route.admits)
                self._refuse_work(route, caller, content)
            if content.error is not None:
                raise content.error
            entry = self._audit.begin(entry, route)
            refuse_parameters(event, route)
            seal = CursorSeal(match, caller, event, content)
            event, content = seal.opened(event, content)
            facts = {
                "route": route,
                "arguments": match.arguments,
                "caller": caller,
                "base": request.base,
                "serve": request.serve,
                "content": content,
                "seal": seal,
            }
            response = self._resolve(_with_content(event, content), request.context, facts)
        except DuetimeError as error:
            response = problem_response(error, route)
        self._audit.end(entry, response)
        return response

    def _resolve(self, event: Mapping[str, Any], context: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
        try:
            resolver = self._idle.pop()
        except IndexError:
            resolver = _Resolver(self._prefix)
        try:
            return resolver.answer(event, context, facts)
        finally:
            self._idle.append(resolver)

    def _holder(self, token: str, event: Mapping[str, Any]) -> tuple[Caller, Mapping[str, str]]:
        """Return the holder of a token as the audit trail's caller, and the action that it names.

        Raises:
            NotFound: no run made it; nothing is written to any trail.
        """
        row = self._api.hand_overs.owner(token)
        address = event["requestContext"]["identity"].get("sourceIp")
        caller = Caller(row.tenant_id, HOLDER, address=address if isinstance(address, str) else None)
        return caller, {"action_id": row.id}

    def _refuse_work(self, route: Route, caller: Caller, content: RequestContent) -> None:
        """Reject a change that makes runs due.

        Raises:
            StateConflict: an operator has paused the caller's tenant.
        """
        operation = route.operation
        if operation and operation.creates_work and not operation.is_preview(content.fields):
            self._api.check_not_paused(caller.tenant_id)


def problem_response(error: DuetimeError, route: Route | None = None) -> dict[str, Any]:
    """Return the problem of an error as API Gateway's response."""
    problem = problem_of(error, route)
    return {
        "statusCode": problem.status_code,
        "body": problem.body,
        "isBase64Encoded": False,
        "multiValueHeaders": {name: [value] for name, value in problem.headers.items()},
    }


def _with_content(event: Mapping[str, Any], content: RequestContent) -> dict[str, Any]:
    """Return the event with the decoded body, and without its media type, which is already checked."""
    headers = {name: value for name, value in event["headers"].items() if name.lower() != "content-type"}
    return {**event, "headers": headers, "body": content.text, "isBase64Encoded": False}


class _Resolver(APIGatewayRestResolver):
    """Validates and calls the route that `RouteTable` has found; it matches no path itself."""

    def __init__(self, prefix: str) -> None:
        super().__init__(
            enable_validation=True,
            debug=False,
            serializer=self._written,
            json_body_deserializer=self._read,
        )
        self._prefix, self._known = prefix, dict[Callable[..., Any], ResolverRoute]()
        self.exception_handler(Exception)(lambda error: _problem(error, self.context["route"]))

    def answer(self, event: Mapping[str, Any], context: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response of a request.

        `resolve` sets the event in the base class, for all resolvers; here, that of this one comes first.
        """
        self.current_event = APIGatewayProxyEvent(dict(event), self._read)
        self.context.update(facts)
        return self.resolve(event, context)

    def _read(self, _text: str) -> Any:
        return self.context["content"].json()

    def _written(self, answer: Any) -> str:
        return json.dumps(self.context["seal"].closed(answer), separators=(",", ":"), ensure_ascii=False)

    def _resolve(self) -> ResponseBuilder[Any]:
        route = self._registered(self.context["route"])
        self.context.update(_route=route, _path=self.current_event.path)
        return self._call_route(route, self.context["arguments"])

    def _registered(self, route: Route) -> ResolverRoute:
        """Return the resolver's form of a route, with its validators; make it at its first request."""
        if route.handler not in self._known:
            self.route(self._prefix + route.path, route.method, status_code=route.status)(route.handler)
            listed = (*self._static_routes, *self._dynamic_routes)
            self._known |= {known.func: known for known in listed}
        return self._known[route.handler]


def _problem(error: Exception, route: Route) -> Response[str]:
    """Return the response of an error; an unexpected one is logged in full, and the response hides it."""
    if isinstance(error, RequestValidationError):
        error = invalid_request(error.errors(), body_fields(route))
    if not isinstance(error, DuetimeError):
        log.error("request met a fault", exc_info=error)
        return problem_of(DuetimeError())
    response = problem_of(error, route)
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request failed", extra={"code": error.code, "reason": truncate(error)})
    return response
