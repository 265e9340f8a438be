"""Keys of items. Each partition key begins with the tenant, so that IAM can restrict a role to a tenant."""

from __future__ import annotations

from typing import Any

from duetime.ids import SEPARATOR, ActionId, TenantId, place_of, shard_of
from duetime.model.action import ActionRef

BATCHES = "batches"
"""A tenant's partition with its batches: no job's name, which has two parts."""

Item = dict[str, Any]
"""An item in DynamoDB's own typed form: ``{"status": {"S": "pending"}}``."""


def partition(tenant_id: str, place: str) -> str:
    """Return the partition of a shard of a tenant's actions, or of a job.

    ``acme#7``, ``acme#billing-nightly``.
    """
    return f"{tenant_id}{SEPARATOR}{place}"


def row_key(ref: ActionRef) -> Item:
    """Return the key of an action's row."""
    return {"pk": {"S": partition(ref.tenant_id, place_of(ref.id))}, "sk": {"S": ref.id}}


def payload_key(ref: ActionRef) -> Item:
    """Return the key of an offloaded payload. Its partition has no rows, so no list reads it."""
    return {
        "pk": {"S": f"{ref.tenant_id}{SEPARATOR}payload{SEPARATOR}{shard_of(ref.id)}"},
        "sk": {"S": ref.id},
    }


def is_batch(item: Item) -> bool:
    """Return whether an item of the actions table is a batch."""
    partition_key: str = item["pk"]["S"]
    return partition_key.endswith(f"{SEPARATOR}{BATCHES}")


def shard_key(ref: ActionRef) -> str:
    """Return an action's partition of the failed index, and of its tenant's due order: ``acme#7``."""
    return partition(ref.tenant_id, shard_of(ref.id))


def correlation_key(tenant_id: str, correlation_id: str) -> str:
    """Return a correlation id's partition of the correlation index: ``acme#subscription:42``."""
    return f"{tenant_id}{SEPARATOR}{correlation_id}"


def ref_of(item: Item) -> ActionRef:
    """Return the reference of the row of `item` or of an index entry."""
    tenant_id = item["pk"]["S"].partition(SEPARATOR)[0]
    return ActionRef(TenantId(tenant_id), ActionId(item["sk"]["S"]))


def is_row(item: Item) -> bool:
    """Return whether an item of the actions table is an action's row."""
    return "status" in item
