"""Query parameters: unknown and repeated ones are rejected, and times are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime import instant
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.requests import IDENTITY, read_time
from duetime.errors import truncate

LARGEST_PAGE = 100
"""The most items in a page, so that the longest actions stay below Lambda's limit of 6 MB."""

Start = Annotated[str | None, Query(alias="from", description="only what lies after this ISO 8601 instant")]
Until = Annotated[str | None, Query(description="only what lies at or before this ISO 8601 instant")]


def refuse_unknown(request: Request, known: Sequence[str]) -> None:
    """Reject unknown parameters, so that a misspelt filter does not list everything.

    Raises:
        InvalidRequest: with each parameter that is not known.
    """
    unknown = sorted({*(request.query_parameters or {})} - {*known, *IDENTITY})
    if unknown:
        problem = f"is not known here; known are {', '.join(known)}"
        raise InvalidRequest([Flaw(truncate(name, 100), problem) for name in unknown])


def refuse_doubled(request: Request, *, but: Sequence[str] = ()) -> None:
    """Reject repeated parameters.

    Raises:
        InvalidRequest: with each parameter that is said more than once, `but` for these.
    """
    values_by_name = request.resolved_event.get("multiValueQueryStringParameters") or {}
    doubled = sorted(name for name, values in values_by_name.items() if len(values) > 1 and name not in but)
    if doubled:
        raise InvalidRequest([Flaw(truncate(name, 100), "is said twice") for name in doubled])


def instant_of(written: str | None, now: datetime, otherwise: timedelta = timedelta(0)) -> datetime:
    """Return a parameter's instant; without one, now plus `otherwise`.

    Raises:
        InvalidTime: it is no ISO 8601 time, has no offset, or lies outside the years 1970 to 2199.
    """
    return now + otherwise if written is None else instant.resolve(read_time(written), now=now)
