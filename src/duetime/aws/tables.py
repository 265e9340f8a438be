"""The tables' shape, in one place: what a deploy creates, the local cloud and the contract suite too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

FORMAT = 1
"""The version of keys and attributes; a deploy refuses tables of another."""


@dataclass(frozen=True, slots=True)
class IndexShape:
    """A sparse index that projects keys only: rows without its partition attribute are not in it."""

    name: str
    partition: str
    sort: str


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table: its keys are ``pk`` and ``sk``, all indexed attributes are texts."""

    name: str
    indexes: tuple[IndexShape, ...]
    has_stream: bool


DUE = IndexShape("due", "due_shard", "due_at")
"""Unsettled rows by due time. A row is in it from the put to the settle: a claim costs no index write."""

CORRELATION = IndexShape("correlation", "correlation", "sk")
"""Rows with a correlation id, by tenant and id; oldest first, since ids sort by creation."""

FAILED = IndexShape("failed", "failed", "failed_at")
"""Failed rows by when they failed, in the shards of their tenant; those redriven are in it no more."""

TENANT_DUE = IndexShape("tenant_due", "tenant_due", "due_at")
"""A tenant's one-shots by due time, in the tenant's shards, settled ones too. It is there only with ``due_order``."""

JOB_NAMES = IndexShape("jobs", "tenant", "name")
"""A tenant's jobs by name."""

ATTEND = IndexShape("attend", "attend_shard", "attend_at")
"""All jobs by when somebody must look after them at the latest."""

AUDIT = IndexShape("audit", "audit_of", "sk")
"""A tenant's audit entries, by age."""

ACTIONS = TableShape("actions", (DUE, CORRELATION, FAILED), has_stream=True)
JOBS = TableShape("jobs", (JOB_NAMES, ATTEND, AUDIT), has_stream=True)
ACTIONS_IN_DUE_ORDER = replace(ACTIONS, indexes=(*ACTIONS.indexes, TENANT_DUE))
TTL_ATTRIBUTE = "ttl"


def actions_shape(*, due_order: bool) -> TableShape:
    """The actions table of a deployment that has the index by due time, or has not."""
    return ACTIONS_IN_DUE_ORDER if due_order else ACTIONS


def create_table_request(shape: TableShape, name: str) -> Mapping[str, Any]:
    """The arguments of DynamoDB's ``CreateTable``."""
    attributes = {"pk", "sk"} | {each for index in shape.indexes for each in (index.partition, index.sort)}
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
    """The arguments of DynamoDB's ``UpdateTable`` that add an index to a table that is there."""
    whole = create_table_request(shape, name)
    return {
        "TableName": name,
        "AttributeDefinitions": whole["AttributeDefinitions"],
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
