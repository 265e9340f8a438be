"""The use of quotas in memory."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from duetime.ids import TenantId
from duetime.model.usage import Usage, UsageChanges, stale_names, usage_of


class MemoryUsageCounts:
    """Counts in a dictionary.

    See `duetime.ports.usage.UsageCounts`.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[TenantId, str]] = Counter()

    def add(self, changes: UsageChanges, *, now: datetime) -> None:
        self._counts.update(changes)
        for tenant_id in {tenant_id for tenant_id, _ in changes}:
            for name in stale_names(now):
                self._counts.pop((tenant_id, name), None)

    def read(self, tenant_id: TenantId, now: datetime) -> Usage:
        mine = {name: number for (owner, name), number in self._counts.items() if owner == tenant_id}
        return usage_of(mine, now)
