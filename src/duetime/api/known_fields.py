"""The fields that each route accepts: those of its body, at any depth, and of its query.

The audit trail stores no other fields, because a misspelt field may contain a secret.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import BaseModel

from duetime.api.routes import Route

Fields = Mapping[str, Any]
"""Annotations by public field names."""


def fields_of(route: Route) -> Fields:
    """Return the annotations of the fields that a route accepts in its body and its query."""
    known: dict[str, Any] = {}
    for name, annotation in typing.get_type_hints(route.handler, include_extras=True).items():
        source = next((item for item in _metadata(annotation) if isinstance(item, Body | Query)), None)
        fields = dict(_model_fields(annotation))
        if fields and source is not None:
            known |= fields
        elif isinstance(source, Query) or (source is None and name not in _other_parameters(route)):
            known[getattr(source, "alias", None) or name] = annotation
    return known


def only_known(sent: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """Return the sent values, at any depth, whose fields are known."""
    known = {name: value for name, value in sent.items() if name in fields}
    return {
        name: _known_value(value, fields[name]) for name, value in known.items() if _fits(value, fields[name])
    }


def _known_value(value: Any, annotation: Any) -> Any:
    if isinstance(value, Mapping) and (fields := dict(_model_fields(annotation))):
        return only_known(value, fields)
    if isinstance(value, list):
        return [_known_value(item, annotation) for item in value if _fits(item, annotation)]
    return value


def _fits(value: Any, annotation: Any) -> bool:
    """Return whether the value is no object, or the annotation admits objects."""
    return not isinstance(value, Mapping) or any(
        issubclass(cls, BaseModel | Mapping) for cls in _types_in(annotation)
    )


def _other_parameters(route: Route) -> tuple[str, ...]:
    """Return the handler's annotations outside body and query: the path's, the request, the response."""
    in_path = (part[1:-1] for part in route.path.split("/") if part.startswith("<"))
    return (*in_path, "request", "return")


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ()


def _model_fields(annotation: Any) -> Iterator[tuple[str, Any]]:
    for cls in _types_in(annotation):
        if issubclass(cls, BaseModel):
            yield from ((field.alias or name, field.annotation) for name, field in cls.model_fields.items())


def _types_in(annotation: Any) -> Iterator[type]:
    """Yield the classes in an annotation, at any depth."""
    origin = typing.get_origin(annotation)
    if isinstance(annotation, type) and origin is None:
        yield annotation
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield origin
    for arg in typing.get_args(annotation):
        yield from _types_in(arg)
