"""Debounce keys in memory, under the lock of the table: which action is the latest of which key."""

from __future__ import annotations

from duetime.ids import ActionId, TenantId
from duetime.instant import LATEST
from duetime.memory.table import MemoryTable
from duetime.model.action import Action, ActionRef, Status
from duetime.model.debounce import DebounceHolder, applied_if_taken
from duetime.model.lease import Applied, Rejected


class MemoryDebounceKeys:
    """The keys, in a dictionary by tenant and key.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.by_key: dict[tuple[TenantId, str], ActionId] = {}

    def find_debounced(self, tenant_id: TenantId, key: str) -> DebounceHolder | None:
        with self._table.lock:
            action_id = self.by_key.get((tenant_id, key))
            if action_id is None:
                return None
            return DebounceHolder(action_id, self._table.get(ActionRef(tenant_id, action_id)), LATEST)

    def put_debounced(self, action: Action, former: DebounceHolder | None) -> bool:
        key = action.tenant_id, action.debounce_key or ""
        with self._table.lock:
            if self._table.get(action.ref) is not None:
                return True
            if self.by_key.get(key) != (former.action_id if former else None):
                return False
            self.by_key[key] = action.id
            self._table.write(None, action)
            return True

    def coalesce(self, row: Action, changed: Action, holder: DebounceHolder) -> Applied | Rejected:
        del holder
        with self._table.lock:
            current = self._table.get(row.ref)
            is_as_read = current is not None and (current.status, current.generation) == (
                Status.PENDING,
                row.generation,
            )
            if current is None or not is_as_read:
                return applied_if_taken(current, changed)
            return Applied(self._table.write(current, changed))

    def forget(self, row: Action) -> None:
        """Remove the key of a row that was removed."""
        key = row.tenant_id, row.debounce_key or ""
        if self.by_key.get(key) == row.id:
            del self.by_key[key]
