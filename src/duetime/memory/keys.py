"""Idempotency keys in memory: which action has which, behind the rows' own lock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from duetime.ids import TenantId
from duetime.memory.lists import MemoryLists
from duetime.model.action import Action, ActionRef, Status
from duetime.model.idempotency import HeldKey, KeyTerms
from duetime.model.lease import Applied, Rejected


class MemoryIdempotencyKeys(MemoryLists):
    """The keys, in a dictionary."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._keys: dict[tuple[TenantId, str], HeldKey] = {}

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """See `duetime.ports.actions.ActionStore`, here and below."""
        place = _place(action.ref, action.idempotency_key)
        with self.lock:
            held = self._keys.get(place)
            if held is not None and held.action_id != action.id:
                previous = self._rows.get(ActionRef(action.tenant_id, held.action_id))
                first = held.first(action, previous, terms.now)
                if first is not None:
                    return first
            if action.ref not in self._rows:
                self._keys[place] = HeldKey.of(action, terms.until)
                self.write(None, action)
            return action

    def remove_key(self, ref: ActionRef, key: str) -> None:
        place = _place(ref, key)
        with self.lock:
            held = self._keys.get(place)
            if held is not None and held.action_id == ref.id:
                del self._keys[place]

    def remove_expired(self, now: datetime) -> None:
        """A key in memory goes with its row."""
        with self.lock:
            before = [row for row in self._rows.values() if row.idempotency_key is not None]
            super().remove_expired(now)
            for row in before:
                if row.ref not in self._rows:
                    self.remove_key(row.ref, row.idempotency_key or "")

    def take_again(
        self, ref: ActionRef, at: datetime, redrive: Callable[[], Applied | Rejected]
    ) -> Applied | Rejected:
        """Redrive a row; one that has a key takes it again, unless another action has it by now."""
        with self.lock:
            row = self._rows.get(ref)
            if row is None or row.idempotency_key is None or row.status is not Status.FAILED:
                return redrive()
            held = self._keys.setdefault(_place(ref, row.idempotency_key), HeldKey.of(row, at))
            return redrive() if held.action_id == ref.id else Rejected(row, taken_by=held.action_id)


def _place(ref: ActionRef, key: str | None) -> tuple[TenantId, str]:
    return ref.tenant_id, key or ""
