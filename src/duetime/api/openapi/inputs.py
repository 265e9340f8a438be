"""Inputs: what a route takes and gives, read off its method's annotations, as the resolver reads them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from duetime.api.openapi.names import PATH_PARAMETERS
from duetime.api.openapi.schemas import PLACE, Model, Schema, Untitled, schemas_of
from duetime.api.routes import Route
from duetime.model.audit import AuditKind

_USUAL = {
    "limit": "how many at most",
    "cursor": "`next_cursor` of the page before, with the same filters",
    "count": "how many times at most",
    "cadence": "a cadence's text, such as `daily 02:30 tz=Europe/Paris`",
    "status": "only those with this status",
    "Idempotency-Key": "the same key again is answered with the first action; as `idempotency_key` in the body",
}
"""What is said of parameters that say nothing themselves."""


_IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "the `ETag` that was seen: if it has changed meanwhile, nothing is done (412)",
    "schema": {"type": "string"},
}


@dataclass(frozen=True, slots=True)
class Signature:
    """What a route takes beside its path, and what it gives."""

    parameters: list[Schema]
    body: Model | None
    must_have_body: bool
    answer: Model | None


def signature_of(route: Route) -> Signature:
    """The route's parameters, body and answer."""
    hints = get_type_hints(route.answer, include_extras=True)
    parameters, body, must = list(_path_parameters(route.path)), None, False
    for name, parameter in inspect.signature(route.answer).parameters.items():
        written, place = _place(hints[name])
        match place:
            case Body():
                body, must = _model(written), parameter.default is parameter.empty
            case Query() | Header():
                parameters += _parameters(name, written, place, parameter.default)
    if is_compared(route):
        parameters.append(_IF_MATCH)
    return Signature(parameters, body, must, _model(hints["return"]))


def is_compared(route: Route) -> bool:
    """Whether it changes one action, one job or the preferences, which a client has seen, and can say so."""
    about = None if route.operation is None else route.operation.about
    return about is AuditKind.PREFERENCES or (
        about in {AuditKind.ACTION, AuditKind.JOB} and "<" in route.path
    )


def _place(hint: Any) -> tuple[Any, FieldInfo | None]:
    """The type that is written, and whether it stands in the body, the query or a header."""
    if get_origin(hint) is not Annotated:
        return hint, None
    written, *more = get_args(hint)
    return written, next((each for each in more if isinstance(each, FieldInfo)), None)


def _model(written: Any) -> Model | None:
    """The model of a type, without None and without the response around it."""
    if get_origin(written) is Response:
        [written] = get_args(written)
    if get_origin(written) in {Union, UnionType}:
        written = next(arg for arg in get_args(written) if arg is not NoneType)
    return written if isinstance(written, type) and issubclass(written, BaseModel) else None


def _path_parameters(path: str) -> Iterable[Schema]:
    for name in re.findall(r"<(\w+)>", path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_PARAMETERS[name],
            "schema": {"type": "string", "minLength": 1},
        }


def _parameters(name: str, written: Any, place: FieldInfo, default: Any) -> Iterable[Schema]:
    """One parameter; or, of a model, one for each of its fields."""
    if model := _model(written):
        definition = schemas_of([(model, "validation")])[1][model.__name__]
        needed = definition.get("required", ())
        for each, schema in definition["properties"].items():
            yield _parameter(each, "query", schema, is_needed=each in needed)
    else:
        schema = TypeAdapter(Annotated[written, place]).json_schema(
            ref_template=PLACE + "{model}", schema_generator=Untitled
        )
        schema.pop("$defs", None)
        is_header = isinstance(place, Header)
        known_as = str(place.alias).title() if is_header else place.alias or name
        if default is not inspect.Parameter.empty:
            schema["default"] = default
        where = "header" if is_header else "query"
        yield _parameter(known_as, where, schema, is_needed="default" not in schema)


def _parameter(name: str, where: str, schema: Schema, *, is_needed: bool) -> Schema:
    described = schema.pop("description", None) or _USUAL.get(name, "")
    return {
        "name": name,
        "in": where,
        "required": is_needed,
        "description": described,
        "schema": _without_null(schema),
    }


def _without_null(schema: Schema) -> Schema:
    """Of what may be left out: in a query there is no null, and to say nothing is the default."""
    kept = {name: value for name, value in schema.items() if name != "default" or value is not None}
    choices = [each for each in kept.pop("anyOf", ()) if each != {"type": "null"}]
    if not choices:
        return kept
    return {**kept, **choices[0]} if len(choices) == 1 else {**kept, "anyOf": choices}
