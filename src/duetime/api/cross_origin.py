"""What lets the console's pages, and no other origin's, read answers. What they may send, API Gateway says beforehand."""

from __future__ import annotations

from typing import Any

from duetime.api.app import Event, Handler

_READABLE = "ETag, Location, Retry-After"
"""Headers that a browser would otherwise keep from a page."""


def for_origin(handler: Handler, origin: str) -> Handler:
    """The handler with answers that pages of one origin may read; as it is where there is none."""
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
