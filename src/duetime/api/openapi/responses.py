"""Responses: the problems with which each route may answer, API Gateway's own included."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

from duetime.api.openapi.schemas import REFERENCE, RouteSignature, Schema
from duetime.api.problems import MEDIA_TYPE, PROBLEMS, TYPE_PREFIX
from duetime.api.routes import Route
from duetime.model.audit import AuditKind

PROBLEM = "Problem"
_S = HTTPStatus

_GATEWAY_PROBLEMS = {
    _S.UNAUTHORIZED: ("unauthenticated", "The ID token or the signature is missing, forged or has expired"),
    _S.TOO_MANY_REQUESTS: ("throttled", "Too many requests at once; come again in a second"),
    _S.GATEWAY_TIMEOUT: ("unavailable", "The API did not answer in time"),
}
_RETRY_AFTER = {_S.TOO_MANY_REQUESTS, _S.SERVICE_UNAVAILABLE}

_NAMES_BY_STATUS = {
    _S.REQUEST_ENTITY_TOO_LARGE: "ContentTooLarge",
    _S.UNPROCESSABLE_ENTITY: "UnprocessableContent",
}
"""The names of RFC 9110, which Python uses since 3.13."""

_NEVER_CONFLICT = {AuditKind.GRANT, AuditKind.MANY, AuditKind.NOTIFICATION}
"""Changes of these kinds never answer 409."""

_STORED_TAGS = {"actions", "jobs"}
"""The tags of routes that answer 409 if a stored row cannot be read."""

_OPTIONAL_TAGS = {"undelivered", "notifications"}
"""The tags of routes whose back ends an API may lack."""

_CADENCE_MEMBERS = {
    "text": ("string", "what was to be read"),
    "problem": ("string", "what is wrong with it"),
    "remedy": ("string", "what to write"),
    "start": ("integer", "the column at which the fault begins"),
    "width": ("integer", "how many characters it has"),
}


def references_of(route: Route, signature: RouteSignature) -> dict[str, Schema]:
    """Return the route's problems by status, as references to components."""
    return {
        str(status.value): {"$ref": f"#/components/responses/{_name(status)}"}
        for status in _statuses(route, signature)
    }


def _statuses(route: Route, signature: RouteSignature) -> Iterable[HTTPStatus]:
    names = {parameter["name"] for parameter in signature.parameters}
    changes = route.operation is not None and route.operation.about not in _NEVER_CONFLICT
    applies = {
        _S.BAD_REQUEST: signature.body or "cadence" in names,
        _S.UNAUTHORIZED: not route.is_open,
        _S.FORBIDDEN: not route.is_open,
        _S.NOT_FOUND: "<" in route.path,
        _S.CONFLICT: changes or ("<" in route.path and route.tag in _STORED_TAGS),
        _S.PRECONDITION_FAILED: route.checks_if_match,
        _S.REQUEST_ENTITY_TOO_LARGE: signature.body,
        _S.UNSUPPORTED_MEDIA_TYPE: signature.body,
        _S.UNPROCESSABLE_ENTITY: (not route.is_open or route.is_by_token) and (names or signature.body),
        _S.TOO_MANY_REQUESTS: True,
        _S.INTERNAL_SERVER_ERROR: True,
        _S.NOT_IMPLEMENTED: route.tag in _OPTIONAL_TAGS,
        _S.SERVICE_UNAVAILABLE: True,
        _S.GATEWAY_TIMEOUT: True,
    }
    return (status for status, is_possible in applies.items() if is_possible)


def problem_responses() -> dict[str, Schema]:
    """Return the components that `references_of` refers to: one for each status."""
    statuses = {status for status, _ in PROBLEMS.values()} | _GATEWAY_PROBLEMS.keys()
    return {_name(status): _response(status) for status in sorted(statuses - {_S.METHOD_NOT_ALLOWED})}


def _response(status: HTTPStatus) -> Schema:
    titles = {code: title for code, (answered, title) in PROBLEMS.items() if answered is status}
    if status in _GATEWAY_PROBLEMS:
        titles |= [_GATEWAY_PROBLEMS[status]]
    kinds = {"properties": {"type": {"enum": [TYPE_PREFIX + code for code in titles]}}}
    response: Schema = {
        "description": "; ".join(dict.fromkeys(titles.values())),
        "content": {MEDIA_TYPE: {"schema": {"allOf": [{"$ref": REFERENCE + PROBLEM}, kinds]}}},
    }
    if status in _RETRY_AFTER:
        response["headers"] = {
            "Retry-After": {"description": "seconds to wait", "schema": {"type": "integer"}}
        }
    return response


def _name(status: HTTPStatus) -> str:
    """Return the component of a status, such as ``NotFound`` for 404."""
    return _NAMES_BY_STATUS.get(status) or "".join(word.capitalize() for word in status.name.split("_"))


def problem_schema() -> Schema:
    """Return the schema of every problem."""
    return {
        "type": "object",
        "description": "An error (RFC 9457). Clients branch on the stable `type`; `detail` is for people.",
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
                "description": "of conflicts of idempotency and debounce keys: the action of the key",
            },
            "parts": {
                "type": "object",
                "description": "of `unhealthy`: each part's state",
                "additionalProperties": {"type": "string"},
            },
            "quota": {
                "type": "string",
                "description": "of `quota-exceeded` and `rate-exceeded`: which quota",
            },
            "used": {"type": "integer", "description": "of `quota-exceeded`: how many the tenant has"},
            "added": {"type": "integer", "description": "of `quota-exceeded`: how many were to be added"},
            "limit": {"type": "integer", "description": "of both: how many it may have"},
            **{
                name: {"type": kind, "description": f"of a cadence: {description}"}
                for name, (kind, description) in _CADENCE_MEMBERS.items()
            },
        },
    }
