"""The tables' indexes as sorted lists; each catches up with its table's stream before a query.

The stream's records are the only changes of a table, whether the fast path or moto wrote them. A failed
transaction takes its records back before the lock is released.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import StreamShard

from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path.tables import FastTable
from tests.emulated.fast_path.values import wire

TABLE = ""
"""The name of the table itself among its indexes."""

Entry: TypeAlias = tuple[str, str, str]
"""The value of the index's sort key, and the item's key."""


class FastIndex:
    """One global secondary index whose keys are strings.

    Args:
        partition: the attribute of its partition key.
        sort: the attribute of its sort key.
        projection: its ``Projection``.

    Attributes:
        projected: the projected attributes; None for all.
    """

    def __init__(self, partition: str, sort: str, projection: Mapping[str, Any]) -> None:
        self.partition, self.sort = partition, sort
        keys = dict.fromkeys(("pk", "sk", partition, sort))
        more = projection.get("NonKeyAttributes") or ()
        self.projected = None if projection["ProjectionType"] == "ALL" else (*keys, *more)
        self.entries: dict[str, list[Entry]] = defaultdict(list)

    def fill(self, items: Iterable[Item]) -> None:
        """Add items without an order, then sort."""
        names = (self.partition, self.sort, "pk", "sk")
        for item in items:
            place = self._place({name: wire(item.attrs[name]) for name in names if name in item.attrs})
            if place is not None:
                self.entries[place[0]].append(place[1])
        for entries in self.entries.values():
            entries.sort()

    def replace(self, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        """Follow one change of an item; both images have the form of requests."""
        before, after = self._place(old), self._place(new)
        if before == after:
            return
        if before is not None:
            entries = self.entries[before[0]]
            place = bisect_left(entries, before[1])
            if place < len(entries) and entries[place] == before[1]:
                del entries[place]
        if after is not None:
            entries = self.entries[after[0]]
            place = bisect_left(entries, after[1])
            # moto creates a missing item by `UpdateItem` with two records of an insert.
            if entries[place : place + 1] != [after[1]]:
                entries.insert(place, after[1])

    def _place(self, image: Mapping[str, Any] | None) -> tuple[str, Entry] | None:
        if image is None or self.partition not in image or self.sort not in image:
            return None
        partition, sort = image[self.partition].get("S"), image[self.sort].get("S")
        if partition is None or sort is None:
            return None
        return partition, (sort, image["pk"]["S"], image["sk"]["S"])


class _Followed:
    """The indexes of one stream, and how many of its records they contain."""

    def __init__(self, table: FastTable, count: int) -> None:
        # From the table's items: a restored table has some that its stream does not have.
        self.count = count
        self.indexes = {TABLE: FastIndex("pk", "sk", {"ProjectionType": "ALL"})}
        for index in table.moto.global_indexes:
            keys = {part["KeyType"]: part["AttributeName"] for part in index.schema}
            if set(keys) == {"HASH", "RANGE"} and len(index.schema) == len(keys):
                self.indexes[index.name] = FastIndex(keys["HASH"], keys["RANGE"], index.projection)
        items = [item for partition in table.moto.items.values() for item in partition.values()]
        for followed in self.indexes.values():
            followed.fill(items)


_followed: WeakKeyDictionary[StreamShard, _Followed] = WeakKeyDictionary()


def index_of(table: FastTable, name: str) -> FastIndex:
    """Return an index with all changes of its table.

    Raises:
        NotCovered: there is no such index, the table has no stream with both images, or other keys than
            ``pk`` and ``sk``.
    """
    shard = table.moto.stream_shard
    if shard is None or table.key_names != ("pk", "sk"):
        raise NotCovered
    if table.moto.stream_specification["StreamViewType"] != "NEW_AND_OLD_IMAGES":  # type: ignore[index]
        raise NotCovered
    followed = _followed.get(shard)
    if followed is None or followed.count > len(shard.items) or name not in followed.indexes:
        followed = _followed[shard] = _Followed(table, len(shard.items))
    for record in shard.items[followed.count :]:
        change = record.record["dynamodb"]
        for index in followed.indexes.values():
            index.replace(change.get("OldImage"), change.get("NewImage"))
    followed.count = len(shard.items)
    if name not in followed.indexes:
        raise NotCovered
    return followed.indexes[name]


def item_of(table: FastTable, entry: Entry) -> Item:
    """Return the item of an entry."""
    _, partition, sort = entry
    found = table.item((DynamoType({"S": partition}), DynamoType({"S": sort})))
    if found is None:
        raise NotCovered
    return found
