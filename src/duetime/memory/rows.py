"""The table in memory: rows by what leads to them, their partitions, and the due index, all behind one lock."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from datetime import datetime

from duetime.ids import ActionId, TenantId, place_of
from duetime.model.action import Action, ActionRef, Status
from duetime.model.change import Change
from duetime.settings import DUE_SHARDS

DueKey = tuple[datetime, str, str]


class MemoryRows:
    """The rows, in a dictionary. `on_change` is called with each change, in order: it is the table's stream.

    Whoever holds `lock` may look at several rows and write them as one step, as a transaction does in DynamoDB.
    """

    def __init__(
        self, *, due_shards: int = DUE_SHARDS, on_change: Callable[[Change], None] = lambda _change: None
    ) -> None:
        self.due_shards: Sequence[str] = tuple(map(str, range(due_shards)))
        self.lock = threading.RLock()
        self._on_change = on_change
        self._rows: dict[ActionRef, Action] = {}
        self._partitions: dict[tuple[TenantId, str], list[ActionId]] = {}
        self._due: dict[str, list[DueKey]] = {shard: [] for shard in self.due_shards}

    def get(self, ref: ActionRef) -> Action | None:
        """See `duetime.ports.actions.ActionStore`."""
        return self._rows.get(ref)

    def held(self, claimed: Action) -> Action | None:
        """The row, if it is processing under the fence of `claimed`."""
        row = self._rows.get(claimed.ref)
        is_mine = row is not None and row.status is Status.PROCESSING and row.fence == claimed.fence
        return row if is_mine else None

    def write(self, old: Action | None, new: Action) -> Action:
        """Put `new` in place of the row `old`, or where there was none; the lock is held."""
        if old is None:
            insort(self._partitions.setdefault(_partition(new), []), new.id)
        elif not old.status.is_final:
            entries = self._due[old.due_shard]
            del entries[bisect_left(entries, _due_key(old))]
        if not new.status.is_final:
            insort(self._due[new.due_shard], _due_key(new))
        self._rows[new.ref] = new
        self._on_change(Change(old, new))
        return new

    def remove_expired(self, now: datetime) -> None:
        """Play DynamoDB's time to live: drop the rows that have expired."""
        with self.lock:
            for row in [row for row in self._rows.values() if row.expires_at and row.expires_at <= now]:
                del self._rows[row.ref]
                entries = self._partitions[_partition(row)]
                del entries[bisect_left(entries, row.id)]
                self._on_change(Change(row, None))

    def earliest_due(self) -> datetime | None:
        """The due time of the unsettled row that is due first."""
        with self.lock:
            return min([entries[0][0] for entries in self._due.values() if entries], default=None)

    def unsettled(self) -> dict[str, list[datetime]]:
        """The due times of unsettled rows, by due shard, of those that have any: for simulations, as `rows` is."""
        with self.lock:
            return {shard: [entry[0] for entry in entries] for shard, entries in self._due.items() if entries}

    def rows(self) -> tuple[Action, ...]:
        """All rows, oldest first: for tests and simulations, which may look at everything."""
        with self.lock:
            return tuple(sorted(self._rows.values(), key=lambda row: row.id))


def _partition(row: Action) -> tuple[TenantId, str]:
    return row.tenant_id, place_of(row.id)


def _due_key(row: Action) -> DueKey:
    return (row.due_at, row.tenant_id, row.id)
