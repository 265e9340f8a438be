"""Keys: what leads to an item. The tenant begins every partition, so that IAM can bound a role to it."""

from __future__ import annotations

import zlib
from typing import Any

from duetime.ids import SEPARATOR, SHARDS, ActionId, TenantId, place_of, shard_of
from duetime.model.action import ActionRef

Item = dict[str, Any]
"""An item in DynamoDB's own typed form: ``{"status": {"S": "pending"}}``."""


def partition(tenant_id: str, place: str) -> str:
    """Where a shard of a tenant's actions, or a job of its, is: ``acme#7``, ``acme#billing-nightly``."""
    return f"{tenant_id}{SEPARATOR}{place}"


def row_key(ref: ActionRef) -> Item:
    """The key of an action's row."""
    return {"pk": {"S": partition(ref.tenant_id, place_of(ref.id))}, "sk": {"S": ref.id}}


def payload_key(ref: ActionRef) -> Item:
    """The key of a payload set apart; its partition holds no rows, so no list reads it."""
    return {
        "pk": {"S": f"{ref.tenant_id}{SEPARATOR}payload{SEPARATOR}{shard_of(ref.id)}"},
        "sk": {"S": ref.id},
    }


def idempotency_key(tenant_id: str, key: str) -> Item:
    """The key of an idempotency key's item; its partition holds no rows, so no list reads it."""
    return {"pk": {"S": partition(tenant_id, f"key{SEPARATOR}{_shard(key)}")}, "sk": {"S": key}}


def slots_key(tenant_id: str, concurrency_key: str) -> Item:
    """The key of the item that tells who holds the slots of a concurrency key; it holds no rows, so no list reads it."""
    return {
        "pk": {"S": partition(tenant_id, f"slots{SEPARATOR}{_shard(concurrency_key)}")},
        "sk": {"S": concurrency_key},
    }


def notified(tenant_id: str, what: str) -> str:
    """Where it is kept what a tenant was told of, and how often: ``acme#notified#deliveries``."""
    return partition(tenant_id, f"notified{SEPARATOR}{what}")


def shard_key(ref: ActionRef) -> str:
    """An action's partition of the failed index, and of its tenant's due order: ``acme#7``."""
    return partition(ref.tenant_id, shard_of(ref.id))


def correlation_key(tenant_id: str, correlation_id: str) -> str:
    """A correlation id's partition of the correlation index: ``acme#subscription:42``."""
    return f"{tenant_id}{SEPARATOR}{correlation_id}"


def ref_of(item: Item) -> ActionRef:
    """What leads to the row that `item`, or an index' entry, speaks of."""
    tenant_id = item["pk"]["S"].partition(SEPARATOR)[0]
    return ActionRef(TenantId(tenant_id), ActionId(item["sk"]["S"]))


def _shard(key: str) -> str:
    return f"{zlib.crc32(key.encode()) % len(SHARDS):x}"


def is_row(item: Item) -> bool:
    """Whether an item of the actions table is an action's row."""
    return "status" in item
