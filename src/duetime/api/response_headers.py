"""Headers of every response: no cache stores it, and the console's origin alone may read it."""

from __future__ import annotations

from typing import Any

from duetime.api.app import Event, Handler

_EVERY_RESPONSE = {"Cache-Control": ["no-store"], "X-Content-Type-Options": ["nosniff"]}
"""Against caching, because a response has one tenant's data at one moment; and against content sniffing."""


def with_headers(handler: Handler, origin: str) -> Handler:
    """Return the handler with these headers, and with CORS headers for one origin unless that is empty."""
    cross_origin = {
        "Access-Control-Allow-Origin": [origin],
        "Access-Control-Expose-Headers": ["ETag, Location, Retry-After"],
        "Vary": ["Origin"],
    }
    added = _EVERY_RESPONSE | (cross_origin if origin else {})

    def respond(event: Event, context: Any) -> dict[str, Any]:
        response = handler(event, context)
        return {**response, "multiValueHeaders": {**(response.get("multiValueHeaders") or {}), **added}}

    return respond
