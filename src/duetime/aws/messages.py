"""A due message as JSON: the body in SQS, and the input that EventBridge Scheduler hands to dispatch.

``payload_version`` is left out where it is 1, ``is_keyed`` where it is false, ``looks_until`` where there is none.
"""

from __future__ import annotations

import json
from typing import Any

from duetime import ids, instant
from duetime.errors import DuetimeError, truncate
from duetime.model.action import ActionRef
from duetime.ports.wakeups import DueMessage

TYPE_LIMIT = 100


class UnreadableMessage(DuetimeError, ValueError):
    """A message that duetime did not write; it ends in the dead letters."""

    code = "unreadable-message"

    def __init__(self, problem: object) -> None:
        super().__init__(f"not a due message: {truncate(problem, 200)}")


def to_json(message: DueMessage, *, delay: int = 0) -> str:
    """The message, with the delay that it is sent with: when it was queued is read off both."""
    told: dict[str, str | int] = {
        "tenant": message.ref.tenant_id,
        "id": message.ref.id,
        "type": message.type,
        "due_at": instant.text(message.due_at),
        "gen": message.generation,
        "delay": delay,
    }
    if message.payload_version != 1:
        told["payload_version"] = message.payload_version
    if message.is_keyed:
        told["is_keyed"] = True
    if message.looks_until is not None:
        told["looks_until"] = instant.text(message.looks_until)
    return json.dumps(told)


def from_json(body: str | dict[str, Any]) -> tuple[DueMessage, int]:
    """The message and its delay in seconds.

    Raises:
        UnreadableMessage: it is no JSON object of that form.
    """
    try:
        told = json.loads(body) if isinstance(body, str) else body
        until = told.get("looks_until")
        message = DueMessage(
            ref=ActionRef(ids.TenantId(str(told["tenant"])), ids.ActionId(str(told["id"]))),
            type=str(told["type"])[:TYPE_LIMIT],
            due_at=instant.parse(told["due_at"]),
            generation=int(told["gen"]),
            payload_version=int(told.get("payload_version", 1)),
            is_keyed=told.get("is_keyed") is True,
            looks_until=None if until is None else instant.parse(until),
        )
        return message, int(told.get("delay", 0))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableMessage(f"{type(error).__name__}: {error}") from error
