"""Operations: one route as the document tells it."""

from __future__ import annotations

import inspect
from http import HTTPStatus

from duetime.api.openapi.inputs import Signature
from duetime.api.openapi.names import LOCATED, TAGGED, operation_id, tag
from duetime.api.openapi.refusals import refusals_of
from duetime.api.openapi.schemas import References, Schema
from duetime.api.routes import Route

_JSON = "application/json"
_WORDS = {
    HTTPStatus.OK: "Done.",
    HTTPStatus.CREATED: "Made.",
    HTTPStatus.ACCEPTED: "Asked for; it is done soon.",
    HTTPStatus.NO_CONTENT: "Done; there is nothing to tell.",
}
_ETAG = {"ETag": {"description": "what stands for it as it is, for `If-Match`", "schema": {"type": "string"}}}
_LOCATION = {
    "Location": {"description": "where it is, as a path with the stage", "schema": {"type": "string"}}
}


def operation(route: Route, taken: Signature, references: References, *, api_tag: str) -> Schema:
    """The operation; `references` has each model's place."""
    told = inspect.getdoc(route.answer) or ""
    made: Schema = {
        "operationId": operation_id(route),
        "tags": [tag(route, api_tag)],
        "summary": told.splitlines()[0].rstrip("."),
        "description": told.replace("``", "`"),
        "parameters": taken.parameters,
        "responses": _answers(route, taken, references) | refusals_of(route, taken),
        **_guard(route),
    }
    if taken.body is not None:
        schema = references[taken.body, "validation"]
        made["requestBody"] = {
            "description": inspect.getdoc(taken.body),
            "required": taken.must_have_body,
            "content": {_JSON: {"schema": schema}},
        }
    return {name: value for name, value in made.items() if value != [] or name == "security"}


def _guard(route: Route) -> Schema:
    """An open route has no security; of any other the document's own holds, and the permission is told."""
    if route.is_open:
        return {"security": []}
    return {"x-permission": " or ".join(route.admits)} if route.admits else {}


def _answers(route: Route, taken: Signature, references: References) -> Schema:
    statuses = [route.status] if route.also is None else sorted([route.status, route.also])
    return {str(status.value): _answer(route, status, _content(taken, references)) for status in statuses}


def _content(taken: Signature, references: References) -> Schema:
    if taken.answer is None:
        return {_JSON: {"schema": {"type": "object"}}}
    return {_JSON: {"schema": references[taken.answer, "serialization"]}}


def _answer(route: Route, status: HTTPStatus, content: Schema) -> Schema:
    response: Schema = {"description": "What was asked for." if route.method == "GET" else _WORDS[status]}
    if operation_id(route) in LOCATED:
        response["headers"] = _LOCATION
    if operation_id(route) in TAGGED:
        response["headers"] = _ETAG
    if status is not HTTPStatus.NO_CONTENT:
        response["content"] = content
    return response
