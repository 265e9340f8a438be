"""The port of run counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.run_counts import MinuteCounts, RunCount


class RunCounts(Protocol):
    """Counts of ended runs by tenant, name and minute.

    They are for display: a repeated batch counts twice.
    """

    def add(self, counts: Collection[RunCount], *, expires_at: datetime) -> None:
        """Add the runs to the counts of their minutes; remove those counts at `expires_at` or later.

        Raises:
            BackendUnavailable: some may be counted.
        """

    def read(self, tenant_id: TenantId, since: datetime, until: datetime) -> Iterable[MinuteCounts]:
        """Return the counts of the minutes that begin at or after `since` and before `until`, in no order."""
