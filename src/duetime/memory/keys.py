"""Idempotency keys in memory, under the lock of the table: which action holds which key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duetime.ids import TenantId
from duetime.memory.table import MemoryTable
from duetime.model.action import Action, ActionRef, Status
from duetime.model.idempotency import HeldKey, KeyTerms
from duetime.model.lease import Applied, Rejected


class MemoryIdempotencyKeys:
    """The keys, in a dictionary by tenant and key.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.by_key: dict[tuple[TenantId, str], HeldKey] = {}

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        with self._table.lock:
            first = self.first(action, terms)
            if first is not None:
                return first
            if self._table.get(action.ref) is None:
                key = _tenant_key(action.ref, action.idempotency_key)
                self.by_key[key] = HeldKey.for_action(action, terms.until)
                self._table.write(None, action)
            return action

    def first(self, action: Action, terms: KeyTerms) -> Action | None:
        with self._table.lock:
            held = self.by_key.get(_tenant_key(action.ref, action.idempotency_key))
            if held is None:
                return None
            if held.action_id == action.id:
                return action
            row = self._table.get(ActionRef(action.tenant_id, held.action_id))
            return held.first(action, row, terms.now)

    def remove_key(self, ref: ActionRef, key: str) -> None:
        tenant_key = _tenant_key(ref, key)
        with self._table.lock:
            held = self.by_key.get(tenant_key)
            if held is not None and held.action_id == ref.id:
                del self.by_key[tenant_key]

    def take_again(
        self, read: Action, at: datetime, redrive: Callable[[], Applied | Rejected]
    ) -> Applied | Rejected:
        """Redrive a row.

        A row with a key takes the key again; if another action has it, return `Rejected`.
        """
        with self._table.lock:
            row = self._table.get(read.ref)
            if row is None or row.idempotency_key is None:
                return redrive()
            if (row.status, row.generation) != (Status.FAILED, read.generation):
                return Rejected(row)
            key = _tenant_key(row.ref, row.idempotency_key)
            held = self.by_key.setdefault(key, HeldKey.for_action(row, at))
            return redrive() if held.action_id == row.id else Rejected(row, taken_by=held.action_id)


def _tenant_key(ref: ActionRef, key: str | None) -> tuple[TenantId, str]:
    return ref.tenant_id, key or ""
