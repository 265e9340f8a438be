"""Step 1, *schedule*: a payload and a due time become one pending action, and one conditional put.

It runs in the caller's Lambda and makes no second call that could fail: the timer is set by `arm`, which
reads the table's stream.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from duetime.errors import InvalidPayload, PayloadTooLarge
from duetime.ids import Entropy, TenantId, due_shard_of, new_action_id
from duetime.model.action import Action
from duetime.model.concurrency import Concurrency

if TYPE_CHECKING:
    from duetime.payload import Payload

IN_ROW_LIMIT = 2_048
"""Bytes: a larger payload is an item of its own, so that claim and settle do not pay for it."""

PAYLOAD_LIMIT = 400 * 1_024 - 1_024
"""Bytes: a DynamoDB item holds 400 KB, its keys included."""


def new_action(
    payload: Payload,
    *,
    due_at: datetime,
    now: datetime,
    tenant_id: TenantId,
    actor: str,
    correlation_id: str | None,
    due_shards: int,
    random_bytes: Entropy = os.urandom,
    idempotency_key: str | None = None,
    concurrency: Concurrency | None = None,
    trace: str | None = None,
) -> Action:
    """A fresh pending action; nothing is written yet.

    Raises:
        InvalidPayload: it is no `Payload`, or JSON cannot carry it.
        PayloadTooLarge: one DynamoDB item cannot hold it.
    """
    _refuse_what_is_none(payload)
    written = payload.to_json()
    size = len(written) if written.isascii() else len(written.encode())
    if size > PAYLOAD_LIMIT:
        raise PayloadTooLarge(payload.type_name, size, PAYLOAD_LIMIT)
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
        payload_offloaded=size > IN_ROW_LIMIT,
        correlation_id=correlation_id,
        idempotency_key=idempotency_key,
        concurrency_key=concurrency.key if concurrency else None,
        concurrency_limit=concurrency.limit if concurrency else 1,
        trace=trace,
    )


def _refuse_what_is_none(payload: object) -> None:
    """A dict, or the class in place of one of it.

    Seen by the name that each class of payloads has, without loading them.
    """
    if not hasattr(type(payload), "type_name"):
        name = payload.__name__ if isinstance(payload, type) else type(payload).__name__
        raise InvalidPayload(
            name, ["it is no payload; make one of a class, such as SendReceipt(order='o-17')"]
        )
