"""The quotas ``pending`` and ``payload_bytes``: checked before a tenant schedules, against recent counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from duetime.clock import Clock
from duetime.errors import DuetimeError, QuotaExceeded
from duetime.ids import TenantId
from duetime.model.action import Action
from duetime.model.idempotency import KeyTerms
from duetime.model.quota import Quota, limit_of
from duetime.model.usage import Usage, usage_by
from duetime.ports.usage import UsageCounts
from duetime.settings import Settings

Orders: TypeAlias = Sequence[tuple[Action, KeyTerms | None]]
"""New actions, each with the terms of its idempotency key."""
FirstOfKey: TypeAlias = Callable[[Action, KeyTerms], Action | None]
"""`duetime.ports.action_store.ActionStore.first_of_key`."""

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

    def take_new(self, tenant_id: TenantId, orders: Orders, first_of_key: FirstOfKey) -> Sequence[Action]:
        """Count the new actions of orders, and return the counted ones.

        The keys are read only if all orders together exceed a quota.

        Raises:
            QuotaExceeded: as for `take`; an order whose key is taken exceeds nothing.
            KeyConflict: a key is of an action with another type or payload.
        """
        new = [action for action, _ in orders]
        try:
            self.take(tenant_id, usage_by(new))
        except QuotaExceeded:
            new = [action for action, terms in orders if not (terms and first_of_key(action, terms))]
            self.take(tenant_id, usage_by(new))
        return new

    def used(self, tenant_id: TenantId) -> Usage | None:
        """Return what a tenant uses, as this process knows it; None if it cannot be read."""
        return self._usage(tenant_id)[0]

    def give_back(self, tenant_id: TenantId, repeats: Collection[Action]) -> None:
        """Remove counted actions that were not scheduled, since their keys were taken."""
        known = self._known.get(tenant_id)
        if known is not None and known[0] is not None:
            less = (max(have - more, 0) for have, more in zip(known[0], usage_by(repeats), strict=True))
            self._known[tenant_id] = (Usage(*less), known[1])

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
