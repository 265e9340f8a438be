"""Problems: the HTTP form of every error (RFC 9457, ``application/problem+json``).

`PROBLEMS` is the one table of HTTP statuses. A client may branch on `type`, which is stable; `detail` is for
people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from aws_lambda_powertools.event_handler import Response

from duetime.api.errors import Flaw, InvalidRequest, RequestError
from duetime.api.parameters import Fields, body_fields, fields_at, query_fields
from duetime.api.routes import Route
from duetime.cadence.errors import InvalidText
from duetime.errors import DuetimeError, KeyConflict, QuotaExceeded, RateExceeded, truncate

_BY_CODE: Mapping[str, str] = MappingProxyType(
    {
        "invalid-payload": "payload",
        "type-not-hosted": "type",
        "unknown-type": "type",
    }
)
"""The field of errors that name none."""

_ALIASES = {"job": "name", "nominal_after": "from", "nominal_until": "until", "tenant_id": "tenant"}
"""The API's names of fields of the SDK, where the route has no field of that name."""

_OF_RETRY = ("attempts", "backoff", "jitter", "give_up_after")
_LONGEST = 400
_QUOTED = re.compile(r"'[^']*'")


def flaws_of(error: DuetimeError, route: Route | None) -> tuple[Flaw, ...]:
    """Return the invalid fields of a request; without a typed field, the one that the message names first."""
    if isinstance(error, InvalidRequest):
        return error.flaws
    known = _fields(route)
    field = getattr(error, "field", "") or _named(str(error), known) or _BY_CODE.get(error.code, "")
    public = field if field in known else _ALIASES.get(field, field)
    return (Flaw(public or "the request", truncate(error, _LONGEST)),)


def _fields(route: Route | None) -> tuple[str, ...]:
    if route is None:
        return ()
    return (*body_fields(route), *query_fields(route), *re.findall("<([^>]+)>", route.path))


def _named(message: str, fields: tuple[str, ...]) -> str:
    """Return the field that a message names first, such as `cadences` in "the cadence daily occurs twice".

    Quoted values are ignored.
    """
    words = {field.removesuffix("s"): field for field in fields} | {field: field for field in fields}
    if "retry" in fields:
        words |= {part: f"retry.{part}" for part in _OF_RETRY}
    found = re.search(
        rf"\b({'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b", _QUOTED.sub("", message)
    )
    return words[found[1]] if found and fields else ""


MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:duetime:problem:"
RETRY_AFTER = 5
"""Seconds after which a client may repeat a call to an unavailable service."""

PROBLEMS: Mapping[str, tuple[HTTPStatus, str]] = MappingProxyType(
    {
        "malformed-body": (HTTPStatus.BAD_REQUEST, "The body is no JSON"),
        **dict.fromkeys(
            (
                "invalid-text",
                "invalid-cadence",
                "invalid-cron",
                "ambiguous-days",
                "never-fires",
                "unknown-zone",
                "invalid-expression",
            ),
            (HTTPStatus.BAD_REQUEST, "The cadence cannot be read, or never fires"),
        ),
        "forbidden": (HTTPStatus.FORBIDDEN, "The caller may not do this"),
        "approver-not-allowed": (HTTPStatus.FORBIDDEN, "Another person must approve"),
        "action-not-found": (HTTPStatus.NOT_FOUND, "There is no such action"),
        "batch-not-found": (HTTPStatus.NOT_FOUND, "There is no such batch"),
        "definition-not-found": (HTTPStatus.NOT_FOUND, "The job has no such definition"),
        "backfill-not-found": (HTTPStatus.NOT_FOUND, "The job has no such backfill"),
        "job-not-found": (HTTPStatus.NOT_FOUND, "There is no such job"),
        "undelivered-input-not-found": (HTTPStatus.NOT_FOUND, "Nothing undelivered has this id"),
        "notification-not-found": (HTTPStatus.NOT_FOUND, "There is no such notification"),
        "hand-over-not-found": (HTTPStatus.NOT_FOUND, "No hand-over has this token"),
        "hand-over-ended": (HTTPStatus.CONFLICT, "The hand-over has ended already"),
        "standby-region": (HTTPStatus.CONFLICT, "This region stands by"),
        "not-handed-over": (HTTPStatus.CONFLICT, "The handler has not returned yet"),
        "route-not-found": (HTTPStatus.NOT_FOUND, "There is no such route"),
        "wrong-method": (HTTPStatus.METHOD_NOT_ALLOWED, "The route has no such method"),
        "action-conflict": (HTTPStatus.CONFLICT, "The action's status does not allow this"),
        "batch-conflict": (HTTPStatus.CONFLICT, "The batch's state does not allow this"),
        "idempotency-conflict": (HTTPStatus.CONFLICT, "The idempotency key stands for another action"),
        "debounce-conflict": (HTTPStatus.CONFLICT, "The debounce key stands for another type's action"),
        "job-conflict": (HTTPStatus.CONFLICT, "The job as it stands does not allow this"),
        "backfill-conflict": (HTTPStatus.CONFLICT, "The job's backfills as they stand do not allow this"),
        "preferences-conflict": (HTTPStatus.CONFLICT, "The preferences have changed meanwhile"),
        "unreadable-row": (HTTPStatus.CONFLICT, "The stored action cannot be read"),
        "job-name-taken": (HTTPStatus.CONFLICT, "Another job has the name"),
        "quota-exceeded": (HTTPStatus.CONFLICT, "The tenant has as much as its quota allows"),
        "rate-exceeded": (HTTPStatus.TOO_MANY_REQUESTS, "The tenant sends requests too fast"),
        "tenant-paused": (HTTPStatus.CONFLICT, "An operator has paused the tenant"),
        "commit-refused": (HTTPStatus.CONFLICT, "A condition of the commit did not hold"),
        "already-committed": (HTTPStatus.CONFLICT, "The run has committed already"),
        "precondition-failed": (HTTPStatus.PRECONDITION_FAILED, "It has changed meanwhile"),
        "body-too-large": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large"),
        "payload-too-large": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The payload is too large"),
        "reads-too-large": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The read does not fit beside the others"),
        "wrong-media-type": (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body is not JSON"),
        "invalid-request": (HTTPStatus.UNPROCESSABLE_ENTITY, "The request is not what the route takes"),
        "invalid-cursor": (HTTPStatus.UNPROCESSABLE_ENTITY, "The cursor belongs to another query"),
        "invalid-argument": (HTTPStatus.UNPROCESSABLE_ENTITY, "A value is not allowed"),
        "invalid-payload": (HTTPStatus.UNPROCESSABLE_ENTITY, "The payload's own model refuses it"),
        "unknown-type": (HTTPStatus.UNPROCESSABLE_ENTITY, "No handler is registered for the type"),
        "type-not-hosted": (HTTPStatus.UNPROCESSABLE_ENTITY, "No worker hosts the type"),
        "bad-declaration": (HTTPStatus.UNPROCESSABLE_ENTITY, "The job cannot work as declared"),
        "naive-instant": (HTTPStatus.UNPROCESSABLE_ENTITY, "The time cannot be honoured"),
        **dict.fromkeys(
            ("error", "operation-failed", "unreadable-message"),
            (HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here"),
        ),
        "bad-settings": (HTTPStatus.INTERNAL_SERVER_ERROR, "The service is misconfigured"),
        "misconfigured": (HTTPStatus.INTERNAL_SERVER_ERROR, "The service is misconfigured"),
        "other-format": (HTTPStatus.INTERNAL_SERVER_ERROR, "Another version has made the tables"),
        "unsupported": (HTTPStatus.NOT_IMPLEMENTED, "This deployment cannot do that"),
        "unavailable": (HTTPStatus.SERVICE_UNAVAILABLE, "A service did not answer"),
        "unhealthy": (HTTPStatus.SERVICE_UNAVAILABLE, "A part of the service is ill"),
    }
)
"""The status and the title of each error's `code`."""

_COME_AGAIN = f"a change may or may not have been made; repeat the call in {RETRY_AFTER} seconds"
_FOR_THE_OPERATOR = "repeating the call will not help; the operator finds the reason in the API's log"


def problem_of(error: DuetimeError, route: Route | None = None) -> Response[str]:
    """Return the problem of an error at a route as a response; an unknown code becomes an internal error."""
    code = error.code if error.code in PROBLEMS else DuetimeError.code
    status, title = PROBLEMS[code]
    document = {
        "type": TYPE_PREFIX + code,
        "title": title,
        "status": status.value,
        "detail": _detail(error, status),
        **_more(error, status, route),
    }
    return Response(status.value, MEDIA_TYPE, json.dumps(document), headers=_headers(error, status))


def _detail(error: DuetimeError, status: HTTPStatus) -> str:
    if status < HTTPStatus.INTERNAL_SERVER_ERROR or isinstance(error, RequestError):
        return str(error)
    return _COME_AGAIN if status is HTTPStatus.SERVICE_UNAVAILABLE else _FOR_THE_OPERATOR


def _headers(error: DuetimeError, status: HTTPStatus) -> dict[str, str | list[str]]:
    headers = dict[str, str | list[str]](error.headers if isinstance(error, RequestError) else {})
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_AFTER)
    if status is HTTPStatus.TOO_MANY_REQUESTS or error.code == "not-handed-over":
        headers["Retry-After"] = "1"
    return headers


_MEMBERS: Mapping[type[DuetimeError], tuple[str, ...]] = {
    KeyConflict: ("action_id",),
    InvalidText: ("text", "problem", "remedy", "start", "width"),
    QuotaExceeded: ("quota", "used", "added", "limit"),
    RateExceeded: ("quota", "limit"),
}
"""The attributes of errors that are further members of their problems."""


def _more(error: DuetimeError, status: HTTPStatus, route: Route | None) -> Mapping[str, Any]:
    if status is HTTPStatus.UNPROCESSABLE_ENTITY:
        return {"errors": [asdict(flaw) for flaw in flaws_of(error, route)]}
    if isinstance(error, RequestError):
        return error.members
    names = (name for kind, names in _MEMBERS.items() if isinstance(error, kind) for name in names)
    return {name: getattr(error, name) for name in names}


_WORDS = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "model_attributes_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_parsing_size": "must be a smaller whole number",
}


_MOST_FLAWS = 20
_OF_A_KEY = "[key]"
"""Pydantic's marker of an invalid key in an object."""


def invalid_request(errors: Sequence[Mapping[str, Any]], body: Fields) -> InvalidRequest:
    """Return pydantic's errors as flaws, at most the first 20, without values.

    The first unknown field of an object is followed by those that are known there.

    Args:
        errors: pydantic's errors.
        body: the fields that the route accepts in its body.
    """
    flaws, listed = list[Flaw](), set[str]()
    for error in errors[:_MOST_FLAWS]:
        where, problem = _where(error["loc"]), _problem(error)
        if error["type"] == "extra_forbidden" and (parent := where.rpartition(".")[0]) not in listed:
            listed.add(parent)
            if known := fields_at(body, error["loc"][1:-1]):
                problem += f"; known are {', '.join(known)}"
        flaws.append(Flaw(where, problem))
    return InvalidRequest(flaws)


def _where(place: Sequence[str | int]) -> str:
    part, *path = (str(name) for name in place if name != _OF_A_KEY)
    return truncate(".".join(path), 100) or f"the {part}"


def _problem(error: Mapping[str, Any]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ")
    return _WORDS.get(error["type"]) or message.replace("Input should be", "must be")
