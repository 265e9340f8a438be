"""Query parameters: unknown and repeated ones are rejected, and times are parsed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from duetime import instant
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.known_fields import admits_lists, query_fields
from duetime.api.requests import IDENTITY, read_time
from duetime.api.routes import Route
from duetime.errors import truncate

LARGEST_PAGE = 100
"""The most items in a page, so that the longest actions stay below Lambda's limit of 6 MB."""

Start = Annotated[str | None, Query(alias="from", description="only what lies after this ISO 8601 instant")]
Until = Annotated[str | None, Query(description="only what lies at or before this ISO 8601 instant")]


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
        InvalidTime: it is no ISO 8601 time, has no offset, or lies outside the years 1970 to 2199.
    """
    if written is None:
        return now + otherwise
    return instant.resolve(read_time(written, field), now=now, field=field)
