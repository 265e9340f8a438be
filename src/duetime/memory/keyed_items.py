"""Keyed items in memory. One lock makes guard and change one step, as in DynamoDB."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any, TypeVar

from duetime.memory.table import MemoryTable
from duetime.model.action import Action, ActionRef
from duetime.ports.keyed_items import (
    AnyWrite,
    Fields,
    Key,
    Kind,
    Page,
    Query,
    Write,
    holds,
    nothing,
)
from duetime.ports.row_queries import IndexEntry, Span
from duetime.ports.row_store import StepItems

T = TypeVar("T")
OnWrite = Callable[[Kind, Fields | None, Fields | None], None]


@dataclass(slots=True)
class _Partition:
    """Items by sort key, and these keys in order."""

    items: dict[str, Fields] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def put(self, sort: str, item: Fields | None) -> None:
        if (sort in self.items) is not (item is not None):
            if item is not None:
                insort(self.order, sort)
            else:
                del self.order[bisect_left(self.order, sort)]
        if item is None:
            self.items.pop(sort, None)
        else:
            self.items[sort] = item

    def within(self, query: Query) -> Iterator[Fields]:
        """Yield the items of a query's range, in its order."""
        first, last = query.span or (query.begin, query.begin + chr(0x10FFFF) if query.begin else None)
        low = max(bisect_left(self.order, first), bisect_right(self.order, query.after))
        high = len(self.order) if last is None else bisect_right(self.order, last)
        high = min(high, bisect_left(self.order, query.before)) if query.before else high
        sorts = self.order[low:high]
        return (self.items[sort] for sort in (reversed(sorts) if query.is_newest_first else sorts))


_EMPTY = _Partition()


class MemoryItems(StepItems):
    """Items in dictionaries. `on_write` receives the kind of each write, and the item before and after it.

    `rows` has the rows that their writes change too.

    See `duetime.ports.keyed_items.Items`.
    """

    def __init__(
        self, on_write: OnWrite = lambda _kind, _old, _new: None, rows: MemoryTable | None = None
    ) -> None:
        self.partitions = defaultdict[str, _Partition](_Partition)
        self._rows, self._on_write = rows, on_write
        self._lock = RLock() if rows is None else rows.lock

    def item_at(self, key: Key) -> Fields | None:
        """Return an item as it is stored."""
        return self.partitions.get(key.partition, _EMPTY).items.get(key.sort)

    def replace(self, key: Key, item: Fields | None) -> None:
        """Store an item, or remove it, without a guard."""
        self.partitions[key.partition].put(key.sort, item)

    def get(
        self,
        kind: Kind,
        key: Key,
        read: Callable[[Fields], T],
        instead: Callable[[Fields], T | None] | None = None,
    ) -> T | None:
        del kind, instead
        item = self.item_at(key)
        return None if item is None else read(item)

    def row(self, ref: ActionRef, *, may_lag: bool = False) -> Action | None:
        del may_lag
        return None if self._rows is None else self._rows.get(ref)

    def rows(self, refs: Sequence[ActionRef]) -> Iterator[Action]:
        rows = () if self._rows is None else map(self._rows.get, refs)
        return (row for row in rows if row is not None)

    def select(self, span: Span) -> Sequence[IndexEntry]:
        return () if self._rows is None else self._rows.select(span)

    def find(
        self, query: Query, read: Callable[[Fields], T], instead: Callable[[Fields], T | None] = nothing
    ) -> Iterator[T]:
        del instead
        with self._lock:
            if query.index == "pk":
                found = [*self.partitions.get(query.partition, _EMPTY).within(query)]
            else:
                parts = [*self.partitions.values()]
                found = [item for part in parts for item in part.within(query)]
                found = [item for item in found if item.get(query.index) == query.partition]
                found.sort(key=lambda item: str(item["sk"]), reverse=query.is_newest_first)
        return (read(item) for item in found if holds(query.where, item))

    def page(self, query: Query, read: Callable[[Fields], T]) -> Page[T]:
        found = list(self.find(query, dict))
        shown = found[: query.limit]
        return Page([*map(read, shown)], shown[-1]["sk"] if len(found) > len(shown) else None)

    def step(self, *, is_new: bool = False) -> AbstractContextManager[object]:
        del is_new
        return self._lock

    def remove_expired(self, now: datetime) -> None:
        """Remove the items whose time to live has ended."""
        with self._lock:
            for part in self.partitions.values():
                for sort in [
                    sort for sort, item in part.items.items() if "ttl" in item and item["ttl"] <= now
                ]:
                    part.put(sort, None)

    def stored(self, write: AnyWrite) -> Any:
        if isinstance(write, Write):
            return self.item_at(write.key)
        return self._rows and self._rows.get(write.ref)

    def put(self, write: AnyWrite, old: Any, new: Any) -> Any:
        if isinstance(write, Write):
            self.replace(write.key, new)
        elif self._rows is not None and new is not old:
            self._rows.write(old, new)
        return new

    def written(self, write: AnyWrite, old: Any, new: Any) -> None:
        if isinstance(write, Write):
            self._on_write(write.kind, old, new)
