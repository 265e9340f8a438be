"""Concurrency keys in memory, under the lock of the table: which actions hold the slots of which key."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duetime.ids import ActionId, TenantId
from duetime.memory.table import MemoryTable, is_as_read
from duetime.model import transition
from duetime.model.action import Action, ActionRef, Status
from duetime.ports.actions import DamagedRow, Holder


class MemorySlots:
    """The holders of slots, in a dictionary by tenant and key.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.by_key: dict[tuple[TenantId, str], frozenset[ActionId]] = {}

    def holders(self, tenant_id: TenantId, concurrency_key: str) -> frozenset[ActionId]:
        return self.by_key.get((tenant_id, concurrency_key), frozenset())

    def claim_slot(self, row: Action, claimed: Action) -> bool:
        key = claimed.concurrency_key or ""
        with self._table.lock:
            current, holders = self._table.get(row.ref), self.holders(row.tenant_id, key)
            if current is not None and current.claim_nonce == claimed.claim_nonce:
                return True
            is_free = len(holders - {row.id}) < claimed.concurrency_limit
            if current is None or not is_as_read(current, row) or not is_free:
                return False
            self.by_key[row.tenant_id, key] = holders | {row.id}
            self._table.write(
                current,
                replace(
                    claimed,
                    cancel_requested_at=current.cancel_requested_at,
                    cancel_requested_by=current.cancel_requested_by,
                ),
            )
            return True

    def evict(self, tenant_id: TenantId, concurrency_key: str, dead: ActionId, row: Holder | None) -> bool:
        with self._table.lock:
            current = self._table.get(ActionRef(tenant_id, dead))
            if dead not in self.holders(tenant_id, concurrency_key):
                return False
            if current is None or row is None:
                if current is not row:
                    return False
            elif not is_as_read(current, row):
                return False
            elif current.status is Status.PROCESSING:
                self._table.write(current, transition.fenced_off(current))
            self._drop(tenant_id, concurrency_key, dead)
            return True

    def limit_lease(self, row: DamagedRow, until: datetime) -> None:
        """Do nothing: these rows are values, none of which is damaged."""

    def free(self, claimed: Action) -> None:
        """Free the slot of a run that is settled. The caller holds the lock."""
        if claimed.concurrency_key is not None:
            self._drop(claimed.tenant_id, claimed.concurrency_key, claimed.id)

    def _drop(self, tenant_id: TenantId, key: str, holder: ActionId) -> None:
        if others := self.holders(tenant_id, key) - {holder}:
            self.by_key[tenant_id, key] = others
        else:
            self.by_key.pop((tenant_id, key), None)
