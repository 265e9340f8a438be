"""The quotas ``pending`` and ``payload_bytes``: checked before a tenant schedules, against recent counts."""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.errors import DuetimeError, QuotaExceeded
from duetime.ids import TenantId
from duetime.model.quota import Quota, limit_of
from duetime.model.usage import Usage
from duetime.ports.usage import UsageCounts
from duetime.settings import Settings

REREAD_AFTER = timedelta(seconds=10)
_CHECKED = (Quota.PENDING, Quota.PAYLOAD_BYTES)
_MOST = 10_000
"""Tenants whose use a process remembers."""


class UsageQuotas:
    """Checks the quotas of each tenant. If its use cannot be read, a tenant is not limited meanwhile.

    Between two reads it adds what this process schedules.
    """

    def __init__(self, counts: UsageCounts, clock: Clock, settings: Settings) -> None:
        self._counts, self._clock, self._settings = counts, clock, settings
        self._known: dict[TenantId, tuple[Usage | None, datetime]] = {}

    def take(self, tenant_id: TenantId, added: Usage) -> None:
        """Count what the caller schedules next.

        Raises:
            QuotaExceeded: with it, the tenant would have more than a quota; nothing is counted.
        """
        limits = [limit_of(self._settings, tenant_id, quota) for quota in _CHECKED]
        if not any(added) or all(limit is None for limit in limits):
            return
        used, read_at = self._usage(tenant_id)
        if used is None:
            return
        for quota, limit in zip(_CHECKED, limits, strict=True):
            have, more = getattr(used, quota), getattr(added, quota)
            if limit is not None and have + more > limit:
                raise QuotaExceeded(tenant_id, quota, used=have, added=more, limit=limit)
        after = Usage(used.pending + added.pending, used.payload_bytes + added.payload_bytes)
        self._known[tenant_id] = (after, read_at)

    def _usage(self, tenant_id: TenantId) -> tuple[Usage | None, datetime]:
        now, known = self._clock.now(), self._known.get(tenant_id)
        if known is not None and now - known[1] < REREAD_AFTER:
            return known
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[tenant_id] = read = (self._read(tenant_id, now), now)
        return read

    def _read(self, tenant_id: TenantId, now: datetime) -> Usage | None:
        try:
            return self._counts.read(tenant_id, now)
        except DuetimeError:
            return None
