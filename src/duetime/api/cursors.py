"""Bind each cursor to its list: to the tenant, the operation, the path and the filters.

A cursor has a mark, a hash of these. It is no secret: a forged one still reads only what its caller may see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from duetime.api.authenticator import Caller
from duetime.api.gateway_event import RequestContent
from duetime.api.routes import RouteMatch
from duetime.errors import InvalidCursor

_FREE = frozenset(
    {"cursor", "limit", "dry_run", "at", "in", "tz", "precision", "language", "until", "created_until"}
)
"""Fields that do not change which items follow; and the ends of a window, which the first page may set."""

_DIGITS = 12


class CursorSeal:
    """Adds the mark of one request to the cursor in its response, and checks it in the next request."""

    def __init__(
        self, match: RouteMatch, caller: Caller | None, event: Mapping[str, Any], content: RequestContent
    ) -> None:
        filters = {
            **event["queryStringParameters"],
            **event["multiValueQueryStringParameters"],
            **content.fields,
        }
        route = match.methods.get(event["httpMethod"])
        query = (
            caller and caller.tenant_id,
            route and route.operation_id,
            sorted(match.arguments.items()),
            sorted((name, str(value)) for name, value in filters.items() if name not in _FREE),
        )
        self._mark = "." + sha256(json.dumps(query).encode()).hexdigest()[:_DIGITS]

    def closed(self, answer: Any) -> Any:
        """Return a response's content with the mark at its `next_cursor`."""
        if not isinstance(answer, dict) or not answer.get("next_cursor"):
            return answer
        return {**answer, "next_cursor": answer["next_cursor"] + self._mark}

    def opened(
        self, event: Mapping[str, Any], content: RequestContent
    ) -> tuple[dict[str, Any], RequestContent]:
        """Return a request with the cursor that the list understands.

        Raises:
            InvalidCursor: it is no cursor of this list and these filters.
        """
        query = event["queryStringParameters"]
        if "cursor" in query:
            cursor = self._without_mark(query["cursor"])
            several = {**event["multiValueQueryStringParameters"], "cursor": [cursor]}
            event = {
                **event,
                "queryStringParameters": {**query, "cursor": cursor},
                "multiValueQueryStringParameters": several,
            }
        if isinstance(sent := content.fields.get("cursor"), str):
            content = content._replace(value={**content.value, "cursor": self._without_mark(sent)})
        return dict(event), content

    def _without_mark(self, cursor: str) -> str:
        if not cursor.endswith(self._mark):
            raise InvalidCursor
        return cursor.removesuffix(self._mark)
