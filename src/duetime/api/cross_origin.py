"""Cross-origin headers, so that the console's origin alone may read responses."""

from __future__ import annotations

from typing import Any

from duetime.api.app import Event, Handler

_READABLE = "ETag, Location, Retry-After"
"""Headers that a browser exposes only on request."""


def for_origin(handler: Handler, origin: str) -> Handler:
    """Return the handler with CORS headers for one origin; the unchanged handler if the origin is empty."""
    if not origin:
        return handler
    headers = {
        "Access-Control-Allow-Origin": [origin],
        "Access-Control-Expose-Headers": [_READABLE],
        "Vary": ["Origin"],
    }

    def answered(event: Event, context: Any) -> dict[str, Any]:
        answer = handler(event, context)
        return {**answer, "multiValueHeaders": {**(answer.get("multiValueHeaders") or {}), **headers}}

    return answered
