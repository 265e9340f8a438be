"""Cache headers: no cache stores a response, because each has one tenant's data at one moment."""

from __future__ import annotations

from typing import Any

from duetime.api.app import Event, Handler

_HEADERS = {"Cache-Control": ["no-store"], "X-Content-Type-Options": ["nosniff"]}


def no_store(handler: Handler) -> Handler:
    """Return the handler with headers against caching and content sniffing."""

    def answered(event: Event, context: Any) -> dict[str, Any]:
        answer = handler(event, context)
        return {**answer, "multiValueHeaders": {**(answer.get("multiValueHeaders") or {}), **_HEADERS}}

    return answered
