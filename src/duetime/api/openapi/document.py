"""The document: all routes as OpenAPI 3.1."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from importlib import import_module
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from duetime.api import PREFIX
from duetime.api.context import Access, ApiContext, Health
from duetime.api.problems import MEDIA_TYPE, PROBLEMS, TYPE_PREFIX
from duetime.api.routes import Route, routes_of
from duetime.app import App
from duetime.clock import SystemClock
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.model.audit import AuditKind
from duetime.ports.access import AuditTrail, Grants
from duetime.ports.job_store import JobPorts
from duetime.settings import Settings

Model = type[BaseModel]
Mode = Literal["validation", "serialization"]
Schema = dict[str, Any]
References = Mapping[tuple[Model, Mode], Schema]

REFERENCE = "#/components/schemas/"


class _Untitled(GenerateJsonSchema):
    """Generates schemas without titles of fields, with their docstrings, and with the values of enums."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False

    def model_schema(self, schema: Any) -> Schema:
        # Pydantic's `use_attribute_docstrings` would read the source whenever a class is created: too slow
        # for a cold start.
        generated = super().model_schema(schema)
        for model in schema["cls"].__mro__:
            if issubclass(model, BaseModel) and model is not BaseModel:
                shown = vars(model).get("shown", {})
                described = {name: _description(classes) for name, classes in shown.items()}
                described |= _docstrings_below_fields(model)
                for name, description in described.items():
                    if name in generated.get("properties", {}):
                        generated["properties"][name].setdefault("description", description)
        return generated

    def enum_schema(self, schema: Any) -> Schema:
        generated = super().enum_schema(schema)
        generated.setdefault("description", f"one of {', '.join(map(str, generated['enum']))}")
        return generated


def schemas_of(models: Iterable[tuple[Model, Mode]]) -> tuple[References, dict[str, Schema]]:
    """Return a reference to each model, as it is sent or received, and all schemas by name."""
    references: Any
    references, generated = models_json_schema(
        list(dict.fromkeys(models)), ref_template=REFERENCE + "{model}", schema_generator=_Untitled
    )
    return references, dict(sorted(generated["$defs"].items()))


def _docstrings_below_fields(source: type) -> dict[str, str]:
    found = {}
    for lines in pairwise(_lines_of(source)):
        match lines:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split()).replace("``", "`")
    return found


def _description(shown: Sequence[tuple[type, str]]) -> str | None:
    return next((text for source, name in shown if (text := _descriptions_of_facts(source).get(name))), None)


@cache
def _descriptions_of_facts(source: type) -> dict[str, str]:
    """Return the descriptions of fields and properties, without what concerns the code alone."""
    properties = [line for line in _lines_of(source) if isinstance(line, ast.FunctionDef)]
    found = {line.name: (ast.get_docstring(line) or "").partition("\n")[0] for line in properties}
    found |= dict(re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", inspect.getdoc(source) or "", re.MULTILINE))
    found |= _docstrings_below_fields(source)
    return {name: _as_description(text) for name, text in found.items()}


def _as_description(text: str) -> str:
    plain = re.sub(r"[;.] [Ss]ee `duetime.*", ".", " ".join(text.split())).replace("``", "`")
    return re.sub(r"\bNone\b", "null", plain[:1].upper() + plain[1:])


def _lines_of(source: type) -> list[ast.stmt]:
    return _classes_of(source.__module__).get(source.__qualname__, [])


@cache
def _classes_of(module: str) -> dict[str, list[ast.stmt]]:
    """Return the lines of a module's classes by name; to find a class, `inspect` parses the whole module."""
    lines = ast.parse(inspect.getsource(import_module(module))).body
    return {line.name: line.body for line in lines if isinstance(line, ast.ClassDef)}


_DESCRIPTIONS = {
    "action_id": "the action's id",
    "token": "what `run.token` returned to the handler; no other right is needed",
    "name": "the job's name",
    "undelivered_id": "the id of what is undelivered",
    "notification_id": "the notification's id",
    "tenant": "the tenant's name",
    "definition_id": "the definition's id, unique within its job",
    "backfill_id": "the backfill's id, unique within its job",
    "batch_name": "the batch's name",
    "pause_id": "the pause's id",
    "role": "the role's name: of a group of the user pool, or of the settings",
    "limit": "how many at most",
    "cursor": "`next_cursor` of the page before, with the same filters",
    "count": "how many times at most",
    "cadence": "a cadence's text, such as `daily 02:30 tz=Europe/Paris`",
    "status": "only those with this status",
    "Idempotency-Key": "a repeat of the key returns the first action; as `idempotency_key` in the body",
    "If-Match": "the `ETag` that was seen: if it has changed meanwhile, nothing is done (412)",
}
"""The descriptions of parameters whose annotations have none."""


class RouteSignature(NamedTuple):
    """The parameters, the body and the response of a route."""

    parameters: list[Schema]
    body: Model | None
    is_body_required: bool
    response: Model | None


def signature_of(route: Route) -> RouteSignature:
    """Return the route's parameters, body and response."""
    hints = get_type_hints(route.handler, include_extras=True)
    identifier = {"type": "string", "minLength": 1}
    parameters = [
        _parameter(name, "path", dict(identifier), is_required=True)
        for name in re.findall(r"<(\w+)>", route.path)
    ]
    body, is_body_required = None, False
    for name, parameter in inspect.signature(route.handler).parameters.items():
        annotation, *metadata = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (None,)
        match next((item for item in metadata if isinstance(item, FieldInfo)), None):
            case Body():
                body, is_body_required = _model(annotation), parameter.default is parameter.empty
            case Query() | Header() as source:
                parameters += _parameters(name, annotation, source, parameter.default)
    if route.checks_if_match:
        parameters.append(_parameter("If-Match", "header", {"type": "string"}, is_required=False))
    return RouteSignature(parameters, body, is_body_required, _model(hints["return"]))


def _model(annotation: Any) -> Model | None:
    """Return the model of an annotation, without None and without the response around it."""
    if get_origin(annotation) is Response:
        [annotation] = get_args(annotation)
    if get_origin(annotation) in {Union, UnionType}:
        annotation = next(arg for arg in get_args(annotation) if arg is not NoneType)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _parameters(name: str, annotation: Any, source: FieldInfo, default: Any) -> Iterator[Schema]:
    """Yield one parameter; of a model, one for each of its fields."""
    if model := _model(annotation):
        definition = schemas_of([(model, "validation")])[1][model.__name__]
        for field, schema in definition["properties"].items():
            yield _parameter(field, "query", schema, is_required=field in definition.get("required", ()))
        return
    schema = TypeAdapter(Annotated[annotation, source]).json_schema(
        ref_template=REFERENCE + "{model}", schema_generator=_Untitled
    )
    schema.pop("$defs", None)
    is_required = default is inspect.Parameter.empty
    if not is_required:
        schema["default"] = default
    if isinstance(source, Header):
        yield _parameter(str(source.alias).title(), "header", schema, is_required=is_required)
    else:
        yield _parameter(source.alias or name, "query", schema, is_required=is_required)


def _parameter(name: str, location: str, schema: Schema, *, is_required: bool) -> Schema:
    description = schema.pop("description", None) or _DESCRIPTIONS.get(name, "")
    choices = [choice for choice in schema.pop("anyOf", ()) if choice != {"type": "null"}]
    if schema.get("default", ...) is None:
        del schema["default"]
    if choices:
        schema |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    return {
        "name": name,
        "in": location,
        "required": is_required,
        "description": description,
        "schema": schema,
    }


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
        _S.NOT_FOUND: "<" in route.path or route.has_ids,
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
    "quotas": "What a tenant may have or cause, and what it uses.",
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
    access = Access(Grants(MemoryItems(), clock), AuditTrail(MemoryItems()))
    context = ApiContext(store, jobs, App(), clock, Settings())
    return routes_of(context, Health(MemoryBookmarks()), access)


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
