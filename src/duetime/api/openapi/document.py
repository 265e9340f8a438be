"""The document: all routes as OpenAPI 3.1."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from http import HTTPStatus

from duetime.api import PREFIX
from duetime.api.all_routes import routes_of
from duetime.api.context import ApiContext
from duetime.api.openapi.responses import PROBLEM, problem_responses, problem_schema, references_of
from duetime.api.openapi.schemas import (
    Mode,
    Model,
    References,
    RouteSignature,
    Schema,
    schemas_of,
    signature_of,
)
from duetime.api.route_ports import Access, Details, Health
from duetime.api.routes import Route
from duetime.app import App
from duetime.clock import SystemClock
from duetime.memory.access import MemoryAuditTrail, MemoryGrants
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.ports.jobs import JobPorts
from duetime.settings import Settings

VERSION = "0.1.0"
"""The package's version, of which a function's bundle has no metadata."""

_ABOUT = """\
Schedules actions, and looks after jobs, of the caller's tenant.

A person sends an ID token of the deployment's user pool. A service signs its requests and calls the other
URL.
`x-permission` is the permission that the caller needs; either of two suffices. The token or the signature
identifies the caller: `tenant`, `tenant_id`, `actor`, `user` and `created_by` in a request are ignored.
Unknown fields and parameters are rejected, and so is a repeated filter.

Times are ISO 8601; in responses in UTC, with `Z`. A list has `next_cursor` while there is more; send it as
`cursor`. Every error is a problem (RFC 9457). Later versions may add fields to responses and problems."""

_SECURITY = {
    "idToken": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The ID token of a sign-in to the user pool, as it is: without `Bearer`.",
        "x-amazon-apigateway-authtype": "cognito_user_pools",
    },
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "AWS Signature Version 4 for `execute-api`; the setting `identities` has signers.",
        "x-amazon-apigateway-authtype": "awsSigv4",
    },
}


_TAGS = {
    "actions": "One-shots, and the runs of jobs: schedule, look up, cancel, reschedule, redrive.",
    "jobs": "What recurs or follows events: look at, explain, register, operate.",
    "hand-overs": "Handed-over actions, for the holders of their tokens.",
    "undelivered": "What queues, the stream or EventBridge gave up on; for operators.",
    "notifications": "Notifications, and the preferences for them.",
    "access": "The caller, the permissions of roles, and which caller requested which change.",
    "pauses": "Pauses of types, keys, workers and tenants: what they cover waits, or is skipped.",
    "tenants": "Pauses of tenants, for operators of the deployment.",
    "batches": "Batches of actions, and their progress.",
    "search": "What a text may mean, and saved views of screens.",
    "limits": "Rate limits of payload types, for operators of the deployment.",
    "service": "The deployment itself.",
}
_SUCCESS = {
    HTTPStatus.OK: "Done.",
    HTTPStatus.CREATED: "Made.",
    HTTPStatus.ACCEPTED: "Requested; it is done soon.",
    HTTPStatus.NO_CONTENT: "Done; the response has no content.",
}
_HEADERS = {
    "ETag": "what stands for it as it is, for `If-Match`",
    "Location": "where it is, as a path with the stage",
}


def every_route() -> Sequence[Route]:
    """Return the routes of an API over empty memory back ends."""
    clock, store = SystemClock(), MemoryStore()
    jobs = JobPorts(MemoryJobStore(store), MemoryRoutes([]))
    access = Access(MemoryGrants(), MemoryAuditTrail(), clock)
    context = ApiContext(store, jobs, App(), clock, Settings())
    return routes_of(context, Health({}, Details(context, MemoryBookmarks())), access)


def generate(prefix: str = PREFIX) -> Schema:
    """Return the document of every API that has this prefix."""
    signatures = [(route, signature_of(route)) for route in every_route()]
    sent: list[tuple[Model | None, Mode]] = [(signature.body, "validation") for _, signature in signatures]
    received: list[tuple[Model | None, Mode]] = [
        (signature.response, "serialization") for _, signature in signatures
    ]
    references, schemas = schemas_of((model, mode) for model, mode in sent + received if model)
    paths: dict[str, Schema] = {}
    for route, signature in sorted(signatures, key=lambda pair: pair[0].path):
        path = paths.setdefault(route.path.replace("<", "{").replace(">", "}"), {})
        path[route.method.lower()] = _operation(route, signature, references)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "duetime",
            "version": VERSION,
            "summary": "The admin API of a scheduler for serverless AWS.",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": prefix}],
        "security": [{name: []} for name in _SECURITY],
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": schemas | {PROBLEM: problem_schema()},
            "responses": problem_responses(),
            "securitySchemes": _SECURITY,
        },
    }


def _operation(route: Route, signature: RouteSignature, references: References) -> Schema:
    documentation = inspect.getdoc(route.handler) or ""
    operation: Schema = {
        "operationId": route.operation_id,
        "tags": [route.tag],
        "summary": documentation.splitlines()[0].rstrip("."),
        "description": documentation.replace("``", "`"),
    }
    if signature.parameters:
        operation["parameters"] = signature.parameters
    operation["responses"] = _successes(route, signature, references) | references_of(route, signature)
    if route.is_open:
        operation["security"] = []
    elif route.admits:
        operation["x-permission"] = " or ".join(route.admits)
    if signature.body is not None:
        operation["requestBody"] = {
            "description": inspect.getdoc(signature.body),
            "required": signature.is_body_required,
            "content": {"application/json": {"schema": references[signature.body, "validation"]}},
        }
    return operation


def _successes(route: Route, signature: RouteSignature, references: References) -> Schema:
    schema = {"type": "object"}
    if signature.response is not None:
        schema = references[signature.response, "serialization"]
    responses: Schema = {}
    for status in sorted({route.status, route.second_status or route.status}):
        description = "The requested content." if route.method == "GET" else _SUCCESS[status]
        response: Schema = {"description": description}
        responses[str(status.value)] = response
        if name := route.header:
            response["headers"] = {name: {"description": _HEADERS[name], "schema": {"type": "string"}}}
        if status is not HTTPStatus.NO_CONTENT:
            response["content"] = {"application/json": {"schema": schema}}
    return responses
