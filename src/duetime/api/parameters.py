"""The fields that each route accepts: those of its body, at any depth, and of its query.

Unknown and repeated parameters are rejected. The audit trail stores no other fields, because a misspelt field
may contain a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import BaseModel

from duetime import instant
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.requests import IDENTITY, read_time
from duetime.api.routes import Route
from duetime.errors import truncate

LARGEST_PAGE = 100
"""The most items in a page, so that the longest actions stay below Lambda's limit of 6 MB."""

Start = Annotated[str | None, Query(alias="from", description="only what lies after this ISO 8601 instant")]
Until = Annotated[str | None, Query(description="only what lies at or before this ISO 8601 instant")]

Fields = Mapping[str, Any]
"""Annotations by public field names."""


def body_fields(route: Route) -> Fields:
    """Return the annotations of the fields that a route accepts in its body."""
    return _fields(route.handler, Body)


def query_fields(route: Route) -> Fields:
    """Return the annotations of the parameters that a route accepts in its query."""
    return _fields(route.handler, Query)


def admits_lists(annotation: Any) -> bool:
    """Return whether a parameter may be repeated."""
    return list in _types_in(annotation)


def fields_at(fields: Fields, path: Sequence[str | int]) -> Fields:
    """Return the annotations of the fields of the object at a path; none if any field is allowed there."""
    for part in path:
        if not isinstance(part, int):
            fields = dict(_model_fields(fields.get(part)))
    return fields


@cache
def _fields(handler: Callable[..., Any], source: type) -> Fields:
    known: dict[str, Any] = {}
    for name, annotation in get_type_hints(handler, include_extras=True).items():
        for metadata in getattr(annotation, "__metadata__", ()):
            if isinstance(metadata, source):
                known |= dict(_model_fields(annotation)) or {
                    getattr(metadata, "alias", None) or name: annotation
                }
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


def _model_fields(annotation: Any) -> Iterator[tuple[str, Any]]:
    for cls in _types_in(annotation):
        if issubclass(cls, BaseModel):
            yield from ((field.alias or name, field.annotation) for name, field in cls.model_fields.items())


def _types_in(annotation: Any) -> Iterator[type]:
    """Yield the classes in an annotation, at any depth."""
    if isinstance(cls := get_origin(annotation) or annotation, type):
        yield cls
    for arg in get_args(annotation):
        yield from _types_in(arg)


def refuse_parameters(event: Mapping[str, Any], route: Route) -> None:
    """Reject unknown parameters, so that a misspelt filter does not list everything; and repeated ones.

    Raises:
        InvalidRequest: with each parameter that is unknown, or else repeated.
    """
    known = query_fields(route)
    if not known:
        return
    flaws = dict.fromkeys(
        sorted(event["queryStringParameters"].keys() - known.keys() - IDENTITY),
        f"is not known here; known are {', '.join(known)}",
    ) or {
        name: "is given twice"
        for name, values in sorted(event["multiValueQueryStringParameters"].items())
        if len(values) > 1 and not admits_lists(known.get(name))
    }
    if flaws:
        raise InvalidRequest([Flaw(truncate(name, 100) or "''", problem) for name, problem in flaws.items()])


def instant_of(
    written: str | None, field: str, now: datetime, otherwise: timedelta = timedelta(0)
) -> datetime:
    """Return a parameter's instant; without one, now plus `otherwise`.

    Raises:
        InvalidArgument: it is no ISO 8601 time, has no offset, or lies outside the years 1970 to 2199.
    """
    if written is None:
        return now + otherwise
    return instant.resolve(read_time(written, field), now=now, field=field)
