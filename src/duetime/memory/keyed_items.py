"""Keyed items in memory. One lock makes guard and change one step, as in DynamoDB."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from threading import RLock
from typing import TypeVar

from duetime.ports.keyed_items import (
    Fields,
    Key,
    Kind,
    Outcome,
    Page,
    Query,
    Write,
    holds,
    nothing,
    of_sort_keys,
)

T = TypeVar("T")
OnWrite = Callable[[Kind, Fields | None, Fields | None], None]


class MemoryItems:
    """Items in dictionaries. `on_write` receives the kind of each write, and the item before and after it.

    See `duetime.ports.keyed_items.Items`.
    """

    def __init__(self, on_write: OnWrite = lambda _kind, _old, _new: None, lock: RLock | None = None) -> None:
        self.partitions = defaultdict[str, dict[str, Fields]](dict)
        self._lock, self._on_write = lock or RLock(), on_write

    def get(
        self,
        kind: Kind,
        key: Key,
        read: Callable[[Fields], T],
        instead: Callable[[Fields], T | None] | None = None,
    ) -> T | None:
        del kind, instead
        item = self.partitions[key.partition].get(key.sort)
        return None if item is None else read(item)

    def find(
        self, query: Query, read: Callable[[Fields], T], instead: Callable[[Fields], T | None] = nothing
    ) -> Iterator[T]:
        del instead
        with self._lock:
            parts = [self.partitions[query.partition]] if query.index == "pk" else self.partitions.values()
            items = [item for part in parts for item in part.values()]
        found = sorted(of_sort_keys(query, items), key=lambda item: item["sk"], reverse=query.is_newest_first)
        return map(read, found)

    def page(self, query: Query, read: Callable[[Fields], T]) -> Page[T]:
        found = list(self.find(query, dict))
        shown = found[: query.limit]
        return Page([*map(read, shown)], shown[-1]["sk"] if len(found) > len(shown) else None)

    def write(self, *writes: Write, tries: int = 6, counts_once: bool = False) -> Outcome:
        del tries, counts_once
        with self._lock:
            items = [self.partitions[write.key.partition].get(write.key.sort) for write in writes]
            before = {position: item or {} for position, item in enumerate(items)}
            rejected = {at: item for at, item in before.items() if not holds(writes[at].guard, item)}
            if rejected:
                return Outcome(is_written=False, items=rejected)
            after = [write.after(before[position]) for position, write in enumerate(writes)]
            for write, item in zip(writes, after, strict=True):
                self._replace(write.key, item)
            for write, old, new in zip(writes, items, after, strict=True):
                self._on_write(write.kind, old, new)
            return Outcome(is_written=True, items={at: item for at, item in enumerate(after) if item})

    def remove_expired(self, now: datetime) -> None:
        """Remove the items whose time to live has ended."""
        with self._lock:
            for part in self.partitions.values():
                for sort in [sort for sort, item in part.items() if "ttl" in item and item["ttl"] <= now]:
                    del part[sort]

    def _replace(self, key: Key, item: Fields | None) -> None:
        if item is None:
            self.partitions[key.partition].pop(key.sort, None)
        else:
            self.partitions[key.partition][key.sort] = item
