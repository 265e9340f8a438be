"""The invalid fields of a rejected request: every problem with the status 422 lists them in `errors`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.known_fields import body_fields, query_fields
from duetime.api.routes import Route
from duetime.errors import DuetimeError, truncate

_BY_CODE: Mapping[str, str] = MappingProxyType(
    {
        "invalid-backfill": "from",
        "invalid-cursor": "cursor",
        "invalid-payload": "payload",
        "invalid-reason": "reason",
        "invalid-selection": "status",
        "priority-not-enabled": "priority",
        "type-not-hosted": "type",
        "unknown-type": "type",
    }
)
"""The field of errors that name none."""

_ALIASES = {"job": "name", "nominal_after": "from", "nominal_until": "until", "tenant_id": "tenant"}
"""The API's names of fields of the SDK, where the route has no field of that name."""

_OF_RETRY = ("attempts", "backoff", "jitter", "give_up_after")
_LONGEST = 400
_QUOTED = re.compile(r"'[^']*'")


def flaws_of(error: DuetimeError, route: Route | None) -> tuple[Flaw, ...]:
    """Return the invalid fields of a request; without a typed field, the one that the message names first."""
    if isinstance(error, InvalidRequest):
        return error.flaws
    known = _fields(route)
    field = getattr(error, "field", "") or _named(str(error), known) or _BY_CODE.get(error.code, "")
    public = field if field in known else _ALIASES.get(field, field)
    return (Flaw(public or "the request", truncate(error, _LONGEST)),)


def _fields(route: Route | None) -> tuple[str, ...]:
    if route is None:
        return ()
    return (*body_fields(route), *query_fields(route), *re.findall("<([^>]+)>", route.path))


def _named(message: str, fields: tuple[str, ...]) -> str:
    """Return the field that a message names first, such as `cadences` in "the cadence daily occurs twice".

    Quoted values are ignored.
    """
    words = {field.removesuffix("s"): field for field in fields} | {field: field for field in fields}
    if "retry" in fields:
        words |= {part: f"retry.{part}" for part in _OF_RETRY}
    found = re.search(
        rf"\b({'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b", _QUOTED.sub("", message)
    )
    return words[found[1]] if found and fields else ""
