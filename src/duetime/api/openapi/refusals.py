"""Refusals: which problems a route may answer with, told from what it takes and whom it asks.

What API Gateway refuses itself, before the function is called, is told, too: a client cannot see the difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

from duetime.api.openapi.inputs import Signature, is_compared
from duetime.api.openapi.names import subject
from duetime.api.openapi.schemas import PLACE, Schema
from duetime.api.problems import MEDIA_TYPE, PROBLEMS, TYPE_PREFIX
from duetime.api.routes import Route
from duetime.model.audit import AuditKind

PROBLEM = "Problem"
_S = HTTPStatus

_BY_GATEWAY = {
    _S.UNAUTHORIZED: ("unauthenticated", "The ID token or the signature is missing, forged or has expired"),
    _S.TOO_MANY_REQUESTS: ("throttled", "Too many requests at once; come again in a second"),
    _S.GATEWAY_TIMEOUT: ("unavailable", "The API did not answer in time"),
}
_RETRY_AFTER = {_S.TOO_MANY_REQUESTS, _S.SERVICE_UNAVAILABLE}

_NAMED = {_S.REQUEST_ENTITY_TOO_LARGE: "ContentTooLarge", _S.UNPROCESSABLE_ENTITY: "UnprocessableContent"}
"""As RFC 9110 names them: Python does so from 3.13 on, and the document must not depend on who makes it."""

_NEVER_CONFLICT = {AuditKind.GRANT, AuditKind.MANY, AuditKind.NOTIFICATION}
"""Who grants replaces; of many, those that changed meanwhile are told as left; what was read stays read."""

_OPTIONAL = {"undelivered", "notifications"}
"""What an API may be made without the back ends of."""


def refusals_of(route: Route, taken: Signature) -> dict[str, Schema]:
    """The route's problems by status, as references."""
    return {
        str(status.value): {"$ref": f"#/components/responses/{_name(status)}"}
        for status in sorted(_statuses(route, taken))
    }


def _statuses(route: Route, taken: Signature) -> Iterable[HTTPStatus]:
    yield from (_S.TOO_MANY_REQUESTS, _S.INTERNAL_SERVER_ERROR, _S.SERVICE_UNAVAILABLE, _S.GATEWAY_TIMEOUT)
    if not route.is_open:
        yield from (_S.UNAUTHORIZED, _S.FORBIDDEN)
    if not route.is_open and (taken.parameters or taken.body):
        yield _S.UNPROCESSABLE_ENTITY
    if taken.body or {"cursor", "cadence"} & {parameter["name"] for parameter in taken.parameters}:
        yield _S.BAD_REQUEST
    if taken.body:
        yield from (_S.REQUEST_ENTITY_TOO_LARGE, _S.UNSUPPORTED_MEDIA_TYPE)
    if "<" in route.path:
        yield _S.NOT_FOUND
    if route.operation is not None and route.operation.about not in _NEVER_CONFLICT:
        yield _S.CONFLICT
    if is_compared(route):
        yield _S.PRECONDITION_FAILED
    if subject(route) in _OPTIONAL:
        yield _S.NOT_IMPLEMENTED


def responses() -> dict[str, Schema]:
    """The components that `refusals_of` refers to: one for each status."""
    statuses = {status for status, _ in PROBLEMS.values()} | _BY_GATEWAY.keys()
    return {_name(status): _response(status) for status in sorted(statuses - {_S.METHOD_NOT_ALLOWED})}


def _response(status: HTTPStatus) -> Schema:
    titles = {code: title for code, (answered, title) in PROBLEMS.items() if answered is status}
    if status in _BY_GATEWAY:
        titles |= [_BY_GATEWAY[status]]
    kinds = {"properties": {"type": {"enum": [TYPE_PREFIX + code for code in titles]}}}
    schema = {"allOf": [{"$ref": PLACE + PROBLEM}, kinds]}
    response: Schema = {
        "description": "; ".join(dict.fromkeys(titles.values())),
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
    if status in _RETRY_AFTER:
        response["headers"] = {
            "Retry-After": {"description": "seconds to wait", "schema": {"type": "integer"}}
        }
    return response


def _name(status: HTTPStatus) -> str:
    """``NotFound`` for 404."""
    return _NAMED.get(status) or "".join(word.capitalize() for word in status.name.split("_"))


def problem_schema() -> Schema:
    """What every problem is like."""
    return {
        "type": "object",
        "description": "A refusal (RFC 9457). A client may branch on `type`, which is stable; `detail` is for people.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "description": f"`{TYPE_PREFIX}` and the problem's code"},
            "title": {"type": "string", "description": "the same for every problem of the type"},
            "status": {"type": "integer", "description": "the HTTP status"},
            "detail": {"type": "string", "description": "what is wrong with this request"},
            "errors": {
                "type": "array",
                "description": "of `invalid-request`: each flaw, the first 20 if there are more",
                "items": {
                    "type": "object",
                    "required": ["where", "problem"],
                    "properties": {
                        "where": {"type": "string", "description": "the field or parameter"},
                        "problem": {"type": "string", "description": "what is wrong with it"},
                    },
                },
            },
            "action_id": {
                "type": "string",
                "description": "of `idempotency-conflict`: the action that the key stands for",
            },
            "parts": {
                "type": "object",
                "description": "of `unhealthy`: each part's state",
                "additionalProperties": {"type": "string"},
            },
            **_of_a_cadence(),
        },
    }


def _of_a_cadence() -> Schema:
    """What is told of a cadence that cannot be read."""
    told = {
        "text": ("string", "what was to be read"),
        "problem": ("string", "what is wrong with it"),
        "remedy": ("string", "what to write"),
        "start": ("integer", "the column at which the fault begins"),
        "width": ("integer", "how many characters it has"),
    }
    return {
        name: {"type": kind, "description": f"of a cadence: {words}"} for name, (kind, words) in told.items()
    }
