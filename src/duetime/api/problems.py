"""Problems: the HTTP form of every error (RFC 9457, ``application/problem+json``).

`PROBLEMS` is the one table of HTTP statuses. A client may branch on `type`, which is stable; `detail` is for
people.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from aws_lambda_powertools.event_handler import Response

from duetime.api.errors import Unhealthy, WrongMethod
from duetime.api.flaws import flaws_of
from duetime.api.routes import Route
from duetime.cadence.errors import InvalidText
from duetime.errors import DebounceConflict, DuetimeError, IdempotencyConflict, QuotaExceeded, RateExceeded

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
        "undelivered-not-found": (HTTPStatus.NOT_FOUND, "Nothing undelivered has this id"),
        "notification-not-found": (HTTPStatus.NOT_FOUND, "There is no such notification"),
        "invalid-token": (HTTPStatus.NOT_FOUND, "No hand-over has this token"),
        "hand-over-ended": (HTTPStatus.CONFLICT, "The hand-over has ended already"),
        "standby-region": (HTTPStatus.CONFLICT, "This region stands by"),
        "not-handed-over": (HTTPStatus.CONFLICT, "The handler has not returned yet"),
        "invalid-hand-over": (HTTPStatus.UNPROCESSABLE_ENTITY, "The hand-over does not allow this"),
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
        "invalid-time": (HTTPStatus.UNPROCESSABLE_ENTITY, "The time cannot be honoured"),
        "invalid-selection": (HTTPStatus.UNPROCESSABLE_ENTITY, "The filters cannot be meant"),
        "invalid-identifier": (HTTPStatus.UNPROCESSABLE_ENTITY, "A name cannot be part of a key"),
        "invalid-backfill": (HTTPStatus.UNPROCESSABLE_ENTITY, "The range or the bound is not possible"),
        "invalid-commit": (HTTPStatus.UNPROCESSABLE_ENTITY, "The entries cannot be committed"),
        "invalid-checkpoint": (HTTPStatus.UNPROCESSABLE_ENTITY, "The checkpoint cannot be stored"),
        "invalid-reason": (HTTPStatus.UNPROCESSABLE_ENTITY, "The reason is empty or too long"),
        "invalid-payload": (HTTPStatus.UNPROCESSABLE_ENTITY, "The payload's own model refuses it"),
        "priority-not-enabled": (HTTPStatus.UNPROCESSABLE_ENTITY, "The deployment enables no high priority"),
        "unknown-type": (HTTPStatus.UNPROCESSABLE_ENTITY, "No handler is registered for the type"),
        "type-not-hosted": (HTTPStatus.UNPROCESSABLE_ENTITY, "No worker hosts the type"),
        "tenant-required": (HTTPStatus.UNPROCESSABLE_ENTITY, "The deployment has several tenants"),
        "bad-declaration": (HTTPStatus.UNPROCESSABLE_ENTITY, "The job cannot work as declared"),
        "naive-instant": (HTTPStatus.UNPROCESSABLE_ENTITY, "The time cannot be honoured"),
        "error": (HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here"),
        "bad-settings": (HTTPStatus.INTERNAL_SERVER_ERROR, "The service is misconfigured"),
        "misconfigured": (HTTPStatus.INTERNAL_SERVER_ERROR, "The service is misconfigured"),
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
    if status < HTTPStatus.INTERNAL_SERVER_ERROR or isinstance(error, Unhealthy):
        return str(error)
    return _COME_AGAIN if status is HTTPStatus.SERVICE_UNAVAILABLE else _FOR_THE_OPERATOR


def _headers(error: DuetimeError, status: HTTPStatus) -> dict[str, str | list[str]]:
    if isinstance(error, WrongMethod):
        return {"Allow": ", ".join(error.allowed)}
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        return {"Retry-After": str(RETRY_AFTER)}
    if status is HTTPStatus.TOO_MANY_REQUESTS or error.code == "not-handed-over":
        return {"Retry-After": "1"}
    return {}


def _more(error: DuetimeError, status: HTTPStatus, route: Route | None) -> Mapping[str, Any]:
    if status is HTTPStatus.UNPROCESSABLE_ENTITY:
        return {"errors": [asdict(flaw) for flaw in flaws_of(error, route)]}
    if isinstance(error, (IdempotencyConflict, DebounceConflict)):
        return {"action_id": error.action_id}
    if isinstance(error, InvalidText):
        return {name: getattr(error, name) for name in ("text", "problem", "remedy", "start", "width")}
    if isinstance(error, QuotaExceeded):
        return {name: getattr(error, name) for name in ("quota", "used", "added", "limit")}
    if isinstance(error, RateExceeded):
        return {"quota": error.quota, "limit": error.limit}
    return {"parts": error.parts} if isinstance(error, Unhealthy) else {}
