"""The port of the use of quotas."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.usage import Usage, UsageChanges


class UsageCounts(Protocol):
    """Counts of each tenant, as `duetime.model.usage` defines them. A repeated batch counts twice."""

    def add(self, changes: UsageChanges, *, now: datetime) -> None:
        """Add the changes; counts that are stale at `now` may be removed.

        Raises:
            BackendUnavailable: some may be counted.
        """

    def read(self, tenant_id: TenantId, now: datetime) -> Usage:
        """Return a tenant's use.

        Raises:
            DuetimeError: it cannot be read.
        """
