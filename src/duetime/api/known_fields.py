"""What a route knows of what it is sent: the fields of its body, and of what stands in them, and the names of its query.

The audit trail keeps no other. A field that is misspelt is refused, but its value may be one that nobody else may see.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import BaseModel

from duetime.api.routes import Route

Fields = Mapping[str, Any]
"""Annotations, by the names that a client uses."""


def fields_of(route: Route) -> Fields:
    """What may be said to a route, in its body and its query."""
    known: dict[str, Any] = {}
    for name, annotation in typing.get_type_hints(route.answer, include_extras=True).items():
        said = next((each for each in _said_of(annotation) if isinstance(each, Body | Query)), None)
        models = dict(_fields_of(annotation))
        if models and said is not None:
            known |= models
        elif isinstance(said, Query) or (said is None and name not in _parts_of(route)):
            known[getattr(said, "alias", None) or name] = annotation
    return known


def kept(sent: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """What was sent, without what these fields do not know."""
    known = {name: value for name, value in sent.items() if name in fields}
    return {name: _kept(value, fields[name]) for name, value in known.items() if _may_be(value, fields[name])}


def _kept(value: Any, annotation: Any) -> Any:
    if isinstance(value, Mapping) and (fields := dict(_fields_of(annotation))):
        return kept(value, fields)
    if isinstance(value, list):
        return [_kept(each, annotation) for each in value if _may_be(each, annotation)]
    return value


def _may_be(value: Any, annotation: Any) -> bool:
    """Whether there are names to hold an object against, or it is none."""
    return not isinstance(value, Mapping) or any(
        issubclass(each, BaseModel | Mapping) for each in _types_in(annotation)
    )


def _parts_of(route: Route) -> tuple[str, ...]:
    """The parameters that are not said in body or query: what stands in the path, the request, what is answered."""
    in_path = (part[1:-1] for part in route.path.split("/") if part.startswith("<"))
    return (*in_path, "request", "return")


def _said_of(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ()


def _fields_of(annotation: Any) -> Iterator[tuple[str, Any]]:
    for each in _types_in(annotation):
        if issubclass(each, BaseModel):
            yield from ((field.alias or name, field.annotation) for name, field in each.model_fields.items())


def _types_in(annotation: Any) -> Iterator[type]:
    """The classes that an annotation names, at any depth."""
    origin = typing.get_origin(annotation)
    if isinstance(annotation, type) and origin is None:
        yield annotation
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield origin
    for arg in typing.get_args(annotation):
        yield from _types_in(arg)
