"""Idempotency and debounce keys: one item for each, in one transaction with its action's row.

An idempotency key has no time to live: it is removed after its row, or taken over. That of a debounce key
moves with the due time.
"""

from __future__ import annotations

import zlib
from datetime import datetime

from duetime import ids
from duetime.ids import SHARDS, ActionId
from duetime.model.idempotency import HeldKey
from duetime.ports.keyed_items import INSTANT, TEXT, Fields, Key, Kind

IDEMPOTENCY_KEY = Kind(
    name="idempotency key",
    partition="{tenant}#key#{shard}",
    sort="key",
    fields={"action_id": TEXT, "content": TEXT, "until": INSTANT},
    guard=("action_id",),
    expires="with its row",
    writers="callers, `arm`",
)
DEBOUNCE_KEY = Kind(
    name="debounce key",
    partition="{tenant}#debounce#{shard}",
    sort="key",
    fields={"action_id": TEXT},
    guard=("action_id",),
    expires="400 days",
    writers="callers",
)


def key_of(kind: Kind, tenant_id: str, text: str | None) -> Key:
    """Return the key of a key's item. Its partition has no rows, so no list of actions reads it."""
    return kind.key(text or "", tenant=tenant_id, shard=shard_of_key(text or ""))


def shard_of_key(text: str) -> str:
    """Return one of 16 shards."""
    return f"{zlib.crc32(text.encode()) % len(SHARDS):x}"


def to_held(item: Fields) -> HeldKey:
    """Return the holder of an idempotency key.

    Raises:
        ValueError: it is no action's id.
    """
    return HeldKey(_action_of(item), item["content"], item["until"])


def to_latest(item: Fields) -> tuple[ActionId, datetime]:
    """Return the latest action of a debounce key, and when the key may be removed.

    Raises:
        ValueError: it is no action's id.
    """
    return _action_of(item), item["ttl"]


def _action_of(item: Fields) -> ActionId:
    action_id: str = item["action_id"]
    if not ids.is_action_id(action_id):
        raise ValueError(f"action_id {action_id!r} is no action's id")
    return ActionId(action_id)
