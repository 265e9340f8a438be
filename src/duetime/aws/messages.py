"""Due messages as JSON: the body in SQS, and the input of dispatch in EventBridge Scheduler.

Defaults are omitted: ``payload_version`` 1, ``is_keyed`` and ``is_high`` false, and no ``replaced_until``.
"""

from __future__ import annotations

import json
from typing import Any

from duetime import ids, instant
from duetime.errors import UnreadableMessage
from duetime.model.action import ActionRef
from duetime.ports.wakeups import DueMessage

TYPE_LIMIT = 100


def to_json(message: DueMessage, *, delay: int = 0) -> str:
    """Return the message as JSON, with its delay, which the queueing time is computed from."""
    document: dict[str, str | int] = {
        "tenant": message.ref.tenant_id,
        "id": message.ref.id,
        "type": message.type,
        "due_at": instant.text(message.due_at),
        "generation": message.generation,
        "delay": delay,
    }
    if message.payload_version != 1:
        document["payload_version"] = message.payload_version
    if message.is_keyed:
        document["is_keyed"] = True
    if message.is_high:
        document["is_high"] = True
    if message.replaced_until is not None:
        document["replaced_until"] = instant.text(message.replaced_until)
    return json.dumps(document)


def from_json(body: str | dict[str, Any]) -> tuple[DueMessage, int]:
    """Parse a message; return it with its delay in seconds.

    Raises:
        UnreadableMessage: the body has another form.
    """
    try:
        document = json.loads(body) if isinstance(body, str) else body
        until = document.get("replaced_until")
        message = DueMessage(
            ref=ActionRef(ids.TenantId(str(document["tenant"])), ids.ActionId(str(document["id"]))),
            type=str(document["type"])[:TYPE_LIMIT],
            due_at=instant.parse(document["due_at"]),
            generation=int(document["generation"]),
            payload_version=int(document.get("payload_version", 1)),
            is_keyed=document.get("is_keyed") is True,
            is_high=document.get("is_high") is True,
            replaced_until=None if until is None else instant.parse(until),
        )
        return message, int(document.get("delay", 0))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UnreadableMessage(error) from error
