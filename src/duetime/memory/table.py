"""The actions table in memory: rows, partitions and the due index behind one lock."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from duetime import instant
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.batch import COUNTED_AT
from duetime.model.change import Change
from duetime.ports.row_queries import BY_DUE_SHARD, BY_ID, IndexEntry, Key, Span, list_of, within

DueKey = tuple[datetime, str, str]
K = TypeVar("K", DueKey, ActionId)


class MemoryTable:
    """The rows, in a dictionary. The table calls `on_change` with each change, in order: this is its stream.

    A caller that holds `lock` can read and write several rows as one step, as a transaction does in DynamoDB.

    See `duetime.ports.row_queries.Rows`.
    """

    def __init__(self, on_change: Callable[[Change], None]) -> None:
        self.lock = threading.RLock()
        self._on_change = on_change
        self.by_ref: dict[ActionRef, Action] = {}
        self._lists: dict[Key, list[ActionId]] = {}
        self.due_index: defaultdict[str, list[DueKey]] = defaultdict(list)

    def step(self, *, is_new: bool = False) -> threading.RLock:
        """Return the lock."""
        del is_new
        return self.lock

    def get(self, ref: ActionRef) -> Action | None:
        return self.by_ref.get(ref)

    readable = get

    def select(self, span: Span) -> Sequence[IndexEntry]:
        """Return a part of an index; a list of ids is sorted already."""
        if span.by is BY_DUE_SHARD:
            return self._due(span)
        with self.lock:
            if span.by is not BY_ID:
                return within(span, self.by_ref.values())
            names = self._lists.get(span.part, [])
            first, last = bisect_right(names, span.low[0]), bisect_left(names, span.high[0])
            if span.is_newest_first:
                shown = names[max(first, last - span.limit) : last][::-1]
            else:
                shown = names[first : min(last, first + span.limit)]
            tenant_id = TenantId(span.part[0])
            return [((name,), self.by_ref[ActionRef(tenant_id, name)]) for name in shown]

    def _due(self, span: Span) -> Sequence[IndexEntry]:
        if not (entries := self.due_index.get(span.part[0], ())):
            return ()
        with self.lock:
            first, last = (
                bisect_right(entries, _due_from(span.low)),
                bisect_left(entries, _due_from(span.high)),
            )
            found = entries[first : min(last, first + span.limit)]
        return [
            ((instant.text(at), tenant, name), ActionRef(TenantId(tenant), ActionId(name)))
            for at, tenant, name in found
        ]

    def write(self, old: Action | None, new: Action) -> Action:
        """Replace the row `old` by `new`, or add `new` if `old` is None. The caller holds the lock."""
        if old is None:
            _insert(self._lists.setdefault(_list(new), []), new.id)
        elif not old.status.is_final:
            entries = self.due_index[old.due_shard]
            del entries[bisect_left(entries, _due_key(old))]
        if not new.status.is_final:
            _insert(self.due_index[new.due_shard], _due_key(new))
        self.by_ref[new.ref] = new
        self._on_change(Change(old, new))
        return new

    def remove_expired(self, now: datetime) -> Sequence[Action]:
        """Remove the rows that have expired, as DynamoDB's time to live does, and return them."""
        with self.lock:
            expired = [row for row in self.by_ref.values() if row.kept_until and row.kept_until <= now]
            for row in expired:
                del self.by_ref[row.ref]
                entries = self._lists[_list(row)]
                del entries[bisect_left(entries, row.id)]
                self._on_change(Change(row, None))
            return expired

    def earliest_due(self) -> datetime | None:
        with self.lock:
            return min([entries[0][0] for entries in self.due_index.values() if entries], default=None)

    def has_held(self) -> bool:
        """Return whether there is a held action, or a batch that is not complete."""
        lasts = [entries[-1][0] for entries in self.due_index.values() if entries]
        return bool(lasts) and max(lasts) >= COUNTED_AT

    def unsettled(self) -> dict[str, list[datetime]]:
        """Return the due times of unsettled rows by due shard, for simulations. Empty shards are absent."""
        with self.lock:
            return {
                shard: [entry[0] for entry in entries] for shard, entries in self.due_index.items() if entries
            }

    def rows(self) -> tuple[Action, ...]:
        """Return all rows, oldest first, for tests and simulations."""
        with self.lock:
            return tuple(sorted(self.by_ref.values(), key=lambda row: row.id))


def _insert(entries: list[K], entry: K) -> None:
    """Insert an entry in order. Most new ones belong at the end."""
    if entries and entry < entries[-1]:
        insort(entries, entry)
    else:
        entries.append(entry)


def _list(row: Action) -> Key:
    return row.tenant_id, list_of(row.id)


def _due_key(row: Action) -> DueKey:
    return (row.due_at, row.tenant_id, row.id)


def _due_from(key: Key) -> DueKey:
    tenant, name = (*key[1:], "", "")[:2]
    return instant.parse(key[0]) if key[0] else instant.EARLIEST, tenant, name
