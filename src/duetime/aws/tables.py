"""The tables' keys and indexes, for deploys, the local cloud and the contract suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

FORMAT = 1
"""The version of keys and attributes. A deploy rejects tables with another version."""


@dataclass(frozen=True, slots=True)
class IndexShape:
    """A sparse index that projects only keys. It omits rows without its partition attribute."""

    name: str
    partition: str
    sort: str


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table with the keys ``pk`` and ``sk``. All indexed attributes are strings."""

    name: str
    indexes: tuple[IndexShape, ...]
    has_stream: bool


DUE = IndexShape("due", "due_shard", "due_at")
"""Unsettled rows by due time. A row stays in it from put to settle, so a claim costs no index write."""

CORRELATION = IndexShape("correlation", "correlation", "sk")
"""Rows with a correlation id, by tenant and id; oldest first, because ids sort by creation."""

FAILED = IndexShape("failed", "failed", "failed_at")
"""Failed rows by the time of failure, in the shards of their tenant, without redriven rows."""

TENANT_DUE = IndexShape("tenant_due", "tenant_due", "due_at")
"""A tenant's one-shots by due time, in the tenant's shards, also settled ones. Only with ``due_order``."""

JOB_NAMES = IndexShape("jobs", "tenant", "name")
"""A tenant's jobs by name."""

MAINTENANCE = IndexShape("maintenance", "maintenance_shard", "maintain_at")
"""All jobs by the time of their next maintenance."""

AUDIT = IndexShape("audit", "audit_of", "sk")
"""A tenant's audit entries, by age."""

ACTIONS = TableShape("actions", (DUE, CORRELATION, FAILED), has_stream=True)
JOBS = TableShape("jobs", (JOB_NAMES, MAINTENANCE, AUDIT), has_stream=True)
REGIONS = TableShape("regions", (), has_stream=False)
"""A global table with strong consistency. The setting may also be the ARN of a table in a third region."""
ACTIONS_IN_DUE_ORDER = replace(ACTIONS, indexes=(*ACTIONS.indexes, TENANT_DUE))
TTL_ATTRIBUTE = "ttl"


def actions_shape(*, due_order: bool) -> TableShape:
    """Return the actions table, with the index by due time if `due_order`."""
    return ACTIONS_IN_DUE_ORDER if due_order else ACTIONS


def name_of(table: str) -> str:
    """Return the name in a table's ARN, or the name."""
    return table.rpartition("/")[2]


def region_of(table: str) -> str | None:
    """Return the region in a table's ARN; None for a name."""
    return table.split(":")[3] if table.startswith("arn:") else None


def create_table_request(shape: TableShape, name: str) -> Mapping[str, Any]:
    """Return the arguments of DynamoDB's ``CreateTable``."""
    attributes = {"pk", "sk"} | {name for index in shape.indexes for name in (index.partition, index.sort)}
    request: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _keys("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": "S"} for attribute in sorted(attributes)
        ],
    }
    if shape.indexes:
        request["GlobalSecondaryIndexes"] = [_created(index) for index in shape.indexes]
    if shape.has_stream:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return request


def add_index_request(shape: TableShape, index: IndexShape, name: str) -> Mapping[str, Any]:
    """Return the arguments of DynamoDB's ``UpdateTable`` that add an index to an existing table."""
    created = create_table_request(shape, name)
    return {
        "TableName": name,
        "AttributeDefinitions": created["AttributeDefinitions"],
        "GlobalSecondaryIndexUpdates": [{"Create": _created(index)}],
    }


def _created(index: IndexShape) -> dict[str, Any]:
    return {
        "IndexName": index.name,
        "KeySchema": _keys(index.partition, index.sort),
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
