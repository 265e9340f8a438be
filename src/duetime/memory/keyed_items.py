"""Keyed items in memory. One lock makes guard and change one step, as in DynamoDB."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from threading import RLock
from typing import Any, TypeVar

from duetime.memory.table import MemoryTable
from duetime.ports.keyed_items import (
    AnyWrite,
    Fields,
    Key,
    Kind,
    Outcome,
    Page,
    Query,
    Write,
    nothing,
    of_sort_keys,
)

T = TypeVar("T")
OnWrite = Callable[[Kind, Fields | None, Fields | None], None]


class MemoryItems:
    """Items in dictionaries. `on_write` receives the kind of each write, and the item before and after it.

    `rows` has the rows that their writes change too.

    See `duetime.ports.keyed_items.Items`.
    """

    def __init__(
        self, on_write: OnWrite = lambda _kind, _old, _new: None, rows: MemoryTable | None = None
    ) -> None:
        self.partitions = defaultdict[str, dict[str, Fields]](dict)
        self._rows, self._on_write = rows, on_write
        self._lock = RLock() if rows is None else rows.lock

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

    def write(self, *writes: AnyWrite, tries: int = 6, counts_once: bool = False) -> Outcome:
        del tries, counts_once
        with self._lock:
            before = [self._stored(write) for write in writes]
            rejected = {
                at: before[at] or {} for at, write in enumerate(writes) if not write.holds(before[at])
            }
            if rejected:
                return Outcome(is_written=False, items=rejected)
            after: list[Any] = [write.after(old) for write, old in zip(writes, before, strict=True)]
            for write, old, new in zip(writes, before, after, strict=True):
                self._replace(write, old, new)
            for write, old, new in zip(writes, before, after, strict=True):
                if isinstance(write, Write):
                    self._on_write(write.kind, old, new)
            return Outcome(is_written=True, items={at: item for at, item in enumerate(after) if item})

    def remove_expired(self, now: datetime) -> None:
        """Remove the items whose time to live has ended."""
        with self._lock:
            for part in self.partitions.values():
                for sort in [sort for sort, item in part.items() if "ttl" in item and item["ttl"] <= now]:
                    del part[sort]

    def _stored(self, write: AnyWrite) -> Any:
        if isinstance(write, Write):
            return self.partitions[write.key.partition].get(write.key.sort)
        return self._rows and self._rows.get(write.ref)

    def _replace(self, write: AnyWrite, old: Any, new: Any) -> None:
        if not isinstance(write, Write):
            if self._rows is not None and new is not old:
                self._rows.write(old, new)
        elif new is None:
            self.partitions[write.key.partition].pop(write.key.sort, None)
        else:
            self.partitions[write.key.partition][write.key.sort] = new
