"""JSON Schemas of parameters, bodies and responses, from the annotations of the routes' handlers."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from duetime.api.routes import Route

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
                described = {name: _descriptions_of_facts(shown[name]).get(name) for name in shown}
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
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(source))).body
    return definition.body if isinstance(definition, ast.ClassDef) else []


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
