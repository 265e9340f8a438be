"""What has no cache, and no browser's guess, between an answer and who asked: each tells of one tenant, at one moment."""

from __future__ import annotations

from typing import Any

from duetime.api.app import Event, Handler

_HEADERS = {"Cache-Control": ["no-store"], "X-Content-Type-Options": ["nosniff"]}


def no_store(handler: Handler) -> Handler:
    """The handler with answers that nobody on the way keeps, and that are read as the type they say."""

    def answered(event: Event, context: Any) -> dict[str, Any]:
        answer = handler(event, context)
        return {**answer, "multiValueHeaders": {**(answer.get("multiValueHeaders") or {}), **_HEADERS}}

    return answered
