"""The use of quotas: a few items of each tenant, of which a batch changes one."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from datetime import datetime
from itertools import islice

from duetime.ids import TenantId
from duetime.model.usage import Usage, UsageChanges, stale_names, usage_of
from duetime.ports.keyed_items import Fields, Keyed, Kind, Query, Write

USAGE = Kind(
    name="use of quotas",
    partition="{tenant}#counts",
    sort="usage#shard",
    counters=re.compile(r"m\d{6}|d\d{8}", re.ASCII),
    writers="`publish`",
)
_PREFIX = "usage#"
_SHARDS = 8
_AT_ONCE = 50
"""Counts in one change: an expression of DynamoDB has at most 4 KB."""


class UsageCounts(Keyed):
    """Counts of each tenant, as `duetime.model.usage` defines them. A repeated batch counts twice."""

    def add(self, changes: UsageChanges, *, now: datetime) -> None:
        """Add the changes; counts that are stale at `now` may be removed.

        Raises:
            BackendUnavailable: some may be counted.
        """
        by_tenant: defaultdict[TenantId, dict[str, int]] = defaultdict(dict)
        for (tenant_id, name), number in changes.items():
            by_tenant[tenant_id][name] = number
        for tenant_id, added in by_tenant.items():
            removed, names = {name: None for name in stale_names(now) if name not in added}, iter(added)
            while chosen := list(islice(names, _AT_ONCE)):
                shard = random.randrange(_SHARDS)  # noqa: S311 - spreads writes, guards nothing
                key = USAGE.key(f"{_PREFIX}{shard}", tenant=tenant_id)
                sums = {name: added[name] for name in chosen}
                self._items.write(Write(kind=USAGE, key=key, adds=sums, sets=removed), counts_once=True)

    def read(self, tenant_id: TenantId, now: datetime) -> Usage:
        """Return a tenant's use.

        Raises:
            DuetimeError: it cannot be read.
        """
        place = USAGE.key("", tenant=tenant_id).partition
        counts: Counter[str] = Counter()
        for shard in self._items.find(
            Query(kind=USAGE, partition=place, begin=_PREFIX, may_lag=True), _counts
        ):
            counts.update(shard)
        return usage_of(counts, now)


def _counts(item: Fields) -> dict[str, int]:
    return {name: number for name, number in item.items() if name not in {"pk", "sk"}}
