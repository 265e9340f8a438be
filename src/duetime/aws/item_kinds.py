"""The kinds of items in both tables, by their partition: which a tenant owns, and which the system owns."""

from __future__ import annotations

import re
from collections.abc import Mapping

from duetime.aws.keys import Item
from duetime.ids import SEPARATOR, SYSTEM_TENANT

_JOB = r"[a-z][a-z0-9]*(-[a-z0-9]+)+"

OF_TENANTS: Mapping[str, Mapping[str, str]] = {
    "actions": {
        "actions": r"[0-9a-f]",
        "runs": rf"{_JOB}(#[0-9a-f])?",
        "payloads": r"payload#[0-9a-f]",
        "tracebacks": r"traceback#[0-9a-f]",
        "idempotency-keys": r"key#[0-9a-f]",
        "concurrency-keys": r"slots#[0-9a-f]",
        "concurrency-lines": r"(?s:tail#.+)",
        "debounce-keys": r"debounce#[0-9a-f]",
        "rate-limits": r"rate#[0-9a-f]",
        "batches": r"batches",
    },
    "jobs": {
        "jobs": _JOB,
        "grants": r"grants",
        "audit": r"audit#[0-9a-f]*",
        "preferences": r"preferences",
        "inbox": r"inbox",
        "notified": r"notified#.+",
        "counts": r"counts",
    },
}
"""By table: each kind of a tenant's items, and the pattern of its partition after the tenant's name."""

OF_SYSTEM: Mapping[str, str] = {
    "manifest": "names and schemas of types; no tenant's data",
    "bookmark": "the positions of the passes; no tenant's data",
    "format": "the tables' format; no tenant's data",
    "undelivered": "inputs; those of a tenant are exported and erased one by one",
    "pauses": "pauses of work; a tenant's own are exported, and erased at the end",
    "failures": "how often types of tenants failed lately, while their breakers are closed; kept for a day",
    "limits": "rate limits that operators set, and their actors; no tenant's data",
    "erasure": "the position of an export or an erase that runs; removed at its end",
}
"""The system's partitions of the jobs table, and what they hold of tenants.

A job that code declares is `system#job`. It holds the last error of its last run, which an erase removes.
"""

OTHER = "other"
"""The kind of an item that no pattern fits, such as a forged one. It is exported and erased as well."""

AUDIT = "audit"


def kind_of(table: str, item: Item) -> str:
    """Return the kind of a tenant's item in the table ``actions`` or ``jobs``."""
    place = item["pk"]["S"].partition(SEPARATOR)[2]
    return next((kind for kind, pattern in OF_TENANTS[table].items() if re.fullmatch(pattern, place)), OTHER)


def is_classified(table: str, item: Item) -> bool:
    """Return whether the table of kinds has the item's partition."""
    tenant_id, _, place = item["pk"]["S"].partition(SEPARATOR)
    if tenant_id == SYSTEM_TENANT and table == "jobs" and place in OF_SYSTEM:
        return True
    return kind_of(table, item) != OTHER
