"""Replication between two simulated regions, as in DynamoDB's global tables: late, and the last writer wins.

Each item replicates by itself, so a transaction may arrive in parts. A split delays both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

Stamp = tuple[datetime, int]
Apply = Callable[[Any, Any], None]
"""Writes the value of a key in a region, as a replica of the other."""


@dataclass(eq=False, slots=True)
class ReplicatedItems:
    """The items of one kind in one region.

    Attributes:
        items: the region's own, by key.
        apply: writes a replica.
    """

    items: MutableMapping[Any, Any]
    apply: Apply
    seen: dict[Any, Any] = field(default_factory=dict)
    stamps: dict[Any, Stamp] = field(default_factory=dict)

    def written(self) -> Iterator[Any]:
        """Yield the keys that the region itself has written or removed since the last call."""
        now = {key: copied(value) for key, value in self.items.items()}
        before, self.seen = self.seen, now
        yield from (key for key, value in now.items() if differ(before.get(key), value))
        yield from (key for key in before if key not in now)


def differ(before: Any, now: Any) -> bool:
    """Return whether a value has changed. Most are the same object, and comparing all fields takes long."""
    return before is not now and bool(before != now)


def copied(value: Any) -> Any:
    """Return a copy of a dictionary; other values never change."""
    return dict(value) if isinstance(value, dict) else value


@dataclass(order=True, slots=True)
class Replica:
    """A written item on its way to the other region."""

    arrives_at: datetime
    number: int
    kind: str = field(compare=False)
    key: Any = field(compare=False)
    value: Any = field(compare=False)
    stamp: Stamp = field(compare=False)


class Replication:
    """Carries what one region writes to the other, after a lag that `draw_lag` returns for each item."""

    def __init__(
        self,
        source: dict[str, ReplicatedItems],
        target: dict[str, ReplicatedItems],
        draw_lag: Callable[[], timedelta],
        numbers: count[int],
    ) -> None:
        self._source, self._target, self._draw_lag, self._numbers = source, target, draw_lag, numbers
        self.is_cut = False
        self.under_way: list[Replica] = []

    def send(self, now: datetime) -> None:
        """Take what was written, each item with the time of its write."""
        for kind, items in self._source.items():
            for key in items.written():
                stamp = items.stamps[key] = (now, next(self._numbers))
                value = copied(items.items.get(key))
                replica = Replica(now + self._draw_lag(), stamp[1], kind, key, value, stamp)
                heappush(self.under_way, replica)

    def deliver(self, now: datetime) -> None:
        """Write what has arrived; an item that was written later in the target stays."""
        while not self.is_cut and self.under_way and self.under_way[0].arrives_at <= now:
            self._write(heappop(self.under_way))

    def next_at(self) -> datetime | None:
        """Return when the next item arrives; None during a split."""
        return None if self.is_cut or not self.under_way else self.under_way[0].arrives_at

    def lose(self) -> list[Replica]:
        """Return the items that never arrive, because the source is gone."""
        lost, self.under_way = self.under_way, []
        return lost

    def heal(self, now: datetime) -> None:
        """End a split: what was delayed arrives now."""
        self.is_cut = False
        for replica in self.under_way:
            replica.arrives_at = max(replica.arrives_at, now)
        heapify(self.under_way)

    def _write(self, replica: Replica) -> None:
        items = self._target[replica.kind]
        if (own := items.stamps.get(replica.key)) is not None and own > replica.stamp:
            return
        items.stamps[replica.key] = replica.stamp
        if replica.value is None:
            items.items.pop(replica.key, None)
            items.seen.pop(replica.key, None)
        else:
            items.apply(replica.key, replica.value)
            items.seen[replica.key] = copied(items.items[replica.key])
