"""Step 1, *schedule*: create a pending action from a payload and a due time.

The caller writes it with one conditional put. `arm` sets the timer later, from the table's stream.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from duetime import ids
from duetime.errors import InvalidArgument, InvalidPayload, too_large
from duetime.ids import Entropy, TenantId, due_shard_of, new_action_id
from duetime.model.action import Action
from duetime.model.built_in import check_type
from duetime.model.event_chain import current_depth

if TYPE_CHECKING:
    from duetime.payload import Payload

IN_ROW_LIMIT = 2_048
"""Bytes: a larger payload is an item of its own, so that claim and settle do not pay for it."""

PAYLOAD_LIMIT = 400_000
"""Bytes: a DynamoDB item holds 409,600, its keys included; emulators hold some thousand fewer."""


def rate_key_of(payload: object, key: object) -> str | None:
    """Return the key of an order under its type's rate limit: the given one, or that of the payload.

    A process that does not declare the type's handler cannot compute a key; the worker does it then.

    Raises:
        InvalidArgument: the key cannot be part of a table key or be computed, or the type has no limit by
            key.
    """
    declared = vars(type(payload))
    rate = declared.get("type_rate")
    if key is None:
        return rate.key_of(payload) or None if rate else None
    if "type_rate" in declared and (rate is None or rate.key is None):
        raise InvalidArgument(
            "limits nothing: the type declares no rate with a key; omit it, or declare one",
            field="rate_key",
            value=key,
        )
    return ids.key("rate_key", key)


def new_action(
    payload: Payload,
    *,
    due_at: datetime,
    now: datetime,
    tenant_id: TenantId,
    actor: str,
    due_shards: int,
    random_bytes: Entropy = os.urandom,
    **facts: Any,
) -> Action:
    """Return a new pending action; nothing is written yet.

    Args:
        payload: its payload.
        due_at: when it is due.
        now: the present time.
        tenant_id: its tenant.
        actor: who schedules it.
        due_shards: the number of the due shards.
        random_bytes: the source of randomness for its id.
        facts: its further fields, such as its keys.

    Raises:
        InvalidPayload: `payload` is no `Payload`, or has no JSON form; or the payload does not fit into one
            DynamoDB item.
    """
    _check_is_payload(payload)
    check_type(payload.type_name)
    written, size = written_payload(payload)
    action_id = new_action_id(now, random_bytes)
    return Action(
        tenant_id=tenant_id,
        id=action_id,
        type=payload.type_name,
        due_at=due_at,
        due_shard=due_shard_of(action_id, due_shards),
        created_by=actor,
        payload=written,
        payload_version=payload.type_version,
        payload_size=offloaded(size),
        depth=current_depth(),
        **facts,
    )


def written_payload(payload: Payload) -> tuple[str, int]:
    """Return a payload as JSON, and its bytes.

    Raises:
        InvalidPayload: it has no JSON form; or it does not fit into one DynamoDB item.
    """
    written = payload.to_json()
    size = len(written) if written.isascii() else len(written.encode())
    if size > PAYLOAD_LIMIT:
        raise too_large(payload.type_name, size, PAYLOAD_LIMIT)
    return written, size


def offloaded(size: int) -> int:
    """Return the size of a payload that is too large for its row; 0 of another."""
    return size if size > IN_ROW_LIMIT else 0


def _check_is_payload(payload: object) -> None:
    """Reject dicts and payload classes. Each payload type has a ``type_name``; this imports no pydantic."""
    if not hasattr(type(payload), "type_name"):
        name = payload.__name__ if isinstance(payload, type) else type(payload).__name__
        raise InvalidPayload(
            name, ["it is no payload; pass an instance of a payload class, such as SendReceipt(order='o-17')"]
        )
