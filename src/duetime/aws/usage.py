"""The use of quotas in the jobs table: a few items of each tenant, of which a batch updates one.

They are in the partition of the run counts, such as ``acme#counts``, under ``usage#3``. Each attribute is a
count of `duetime.model.usage`.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import translate_errors
from duetime.aws.keys import Item, partition
from duetime.aws.run_counts import PARTITION
from duetime.ids import TenantId
from duetime.model.usage import Usage, UsageChanges, stale_names, usage_of

_PREFIX = "usage#"
_SHARDS = 8
_AT_ONCE = 50
"""Counts in one update: an expression has at most 4 KB."""
_ATTRIBUTE = re.compile(r"m\d{6}|d\d{8}", re.ASCII)


class DynamoUsageCounts:
    """One update for each tenant in a batch.

    See `duetime.ports.usage.UsageCounts`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def add(self, changes: UsageChanges, *, now: datetime) -> None:
        by_tenant: defaultdict[TenantId, dict[str, int]] = defaultdict(dict)
        for (tenant_id, name), number in changes.items():
            by_tenant[tenant_id][name] = number
        for tenant_id, added in by_tenant.items():
            removed = [name for name in stale_names(now) if name not in added]
            names = iter(added)
            while chosen := list(islice(names, _AT_ONCE)):
                self._add(tenant_id, {name: added[name] for name in chosen}, removed)

    def _add(self, tenant_id: TenantId, added: Mapping[str, int], removed: list[str]) -> None:
        shard = random.randrange(_SHARDS)  # noqa: S311 - spreads writes, guards nothing
        sums = ", ".join(f"{name} :{name}" for name in added)
        update: Any = {
            "TableName": self._table.name,
            "Key": {"pk": {"S": partition(tenant_id, PARTITION)}, "sk": {"S": f"{_PREFIX}{shard}"}},
            "UpdateExpression": f"ADD {sums} REMOVE {', '.join(removed)}",
            "ExpressionAttributeValues": {f":{name}": {"N": str(number)} for name, number in added.items()},
        }
        with translate_errors(SERVICE):  # a transaction has a token: a repeated request counts nothing twice
            self._table.client.transact_write_items(TransactItems=[{"Update": update}])

    def read(self, tenant_id: TenantId, now: datetime) -> Usage:
        items = self._table.items(
            KeyConditionExpression="pk = :counts AND begins_with(sk, :usage)",
            ExpressionAttributeValues={
                ":counts": {"S": partition(tenant_id, PARTITION)},
                ":usage": {"S": _PREFIX},
            },
        )
        counts: Counter[str] = Counter()
        for shard in readable(items, _counts, "use of quotas"):
            counts.update(shard)
        return usage_of(counts, now)


def _counts(item: Item) -> dict[str, int]:
    return {name: int(value["N"]) for name, value in item.items() if _ATTRIBUTE.fullmatch(name)}
