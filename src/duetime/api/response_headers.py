"""Headers of every response: the console's origin alone may read it, and no cache stores it.

Only a route of public content sets its own ``Cache-Control``.
"""

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
    added = cross_origin if origin else {}

    def respond(event: Event, context: Any) -> dict[str, Any]:
        response = handler(event, context)
        headers = {**_EVERY_RESPONSE, **(response.get("multiValueHeaders") or {}), **added}
        return {**response, "multiValueHeaders": headers}

    return respond
