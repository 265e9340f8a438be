"""Concurrency keys in memory: who holds the slots of which, behind the rows' own lock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duetime.ids import ActionId, TenantId
from duetime.memory.keys import MemoryIdempotencyKeys
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status


class MemorySlots(MemoryIdempotencyKeys):
    """The slots, in a dictionary."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._holders: dict[tuple[TenantId, str], frozenset[ActionId]] = {}

    def holders(self, tenant_id: TenantId, concurrency_key: str) -> frozenset[ActionId]:
        """See `duetime.ports.actions.ActionStore`, here and below."""
        return self._holders.get((tenant_id, concurrency_key), frozenset())

    def claim_slot(self, row: Action, claimed: Action) -> bool:
        key = claimed.concurrency_key or ""
        with self.lock:
            standing, holders = self._rows.get(row.ref), self.holders(row.tenant_id, key)
            if standing is not None and standing.claim_nonce == claimed.claim_nonce:
                return True
            is_free = len(holders - {row.id}) < claimed.concurrency_limit
            if standing is None or not _is_as_read(standing, row) or not is_free:
                return False
            self._holders[row.tenant_id, key] = holders | {row.id}
            asked_at, asked_by = standing.cancel_requested_at, standing.cancel_requested_by
            self.write(standing, replace(claimed, cancel_requested_at=asked_at, cancel_requested_by=asked_by))
            return True

    def evict(self, tenant_id: TenantId, concurrency_key: str, dead: ActionId, row: Action | None) -> bool:
        with self.lock:
            standing = self._rows.get(ActionRef(tenant_id, dead))
            if dead not in self.holders(tenant_id, concurrency_key):
                return False
            if standing is None or row is None:
                if standing is not row:
                    return False
            elif not _is_as_read(standing, row):
                return False
            elif standing.status is Status.PROCESSING:
                self.write(standing, transition.fenced_off(standing))
            self._drop(tenant_id, concurrency_key, dead)
            return True

    def free_slot(self, claimed: Action) -> None:
        """Free the slot of a run that is settled; the lock is held."""
        if claimed.concurrency_key is not None:
            self._drop(claimed.tenant_id, claimed.concurrency_key, claimed.id)

    def _drop(self, tenant_id: TenantId, key: str, holder: ActionId) -> None:
        left = self.holders(tenant_id, key) - {holder}
        self._holders[tenant_id, key] = left
        if not left:
            del self._holders[tenant_id, key]


def _is_as_read(standing: Action, row: Action) -> bool:
    told = [(each.status, each.generation, each.fence, each.lease_until) for each in (standing, row)]
    return told[0] == told[1]
