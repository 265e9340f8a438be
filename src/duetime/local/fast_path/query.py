"""Queries of a partition of a table or of an index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item

from duetime.local.fast_path.expressions import condition_of, projected_names
from duetime.local.fast_path.forms import Body, names_of
from duetime.local.fast_path.indexes import Entry, FastIndex, index_of, item_of, sorted_partition
from duetime.local.fast_path.key_conditions import KeyRange, key_range_of
from duetime.local.fast_path.tables import FastTable
from duetime.local.fast_path.values import Attributes, stored_all, wire_all

_LARGEST_PAGE = 1_000_000
"""Bytes; DynamoDB's pages end at 1 MB."""

_PER_ATTRIBUTE = 40
"""A rough size of an attribute. Only the largest pages depend on it."""


def query(body: Body, _size: int) -> dict[str, Any]:
    """Answer ``Query``."""
    table = FastTable(body["TableName"])
    name = body.get("IndexName")
    return (_OfTable(table, body) if name is None else _OfIndex(table, body, name)).page()


class _Query:
    """One request.

    Attributes:
        key_names: the attributes of a page's last key.
        shown: the projected attributes; None for all.
    """

    key_names: Sequence[str]
    shown: Sequence[str] | None = None

    def __init__(self, table: FastTable, body: Body) -> None:
        self.table, self._body = table, body
        self.values = stored_all(body["ExpressionAttributeValues"])
        self.keys: KeyRange = key_range_of(body["KeyConditionExpression"], names_of(body))
        self.is_forward: bool = body.get("ScanIndexForward", True)
        self.start: Mapping[str, Any] | None = body.get("ExclusiveStartKey")

    def found(self) -> Iterable[Item]:
        """Yield the items of the key range in order."""
        raise NotImplementedError

    def in_order(self, begin: int, end: int) -> Iterable[int]:
        """Return the places of a range in the query's direction."""
        places = range(begin, max(begin, end))
        return places if self.is_forward else reversed(places)

    def page(self) -> dict[str, Any]:
        """Read until the limit, the largest page or the end."""
        limit = self._body.get("Limit")
        items, scanned, size, last = list[Any](), 0, 0, None
        for item in self.found():
            if scanned == limit or size > _LARGEST_PAGE:
                break
            scanned, last, size = scanned + 1, item, size + _PER_ATTRIBUTE * len(item.attrs)
            if (row := self._row(item)) is not None:
                items.append(wire_all(row))
        else:
            last = None
        page = {"Items": items, "Count": len(items), "ScannedCount": scanned}
        if last is not None:
            page["LastEvaluatedKey"] = wire_all({name: last.attrs[name] for name in self.key_names})
        return page

    def _row(self, item: Item) -> Attributes | None:
        """Return what the page shows of an item; None if the filter excludes it."""
        visible: Attributes = item.attrs if self.shown is None else _only(item.attrs, self.shown)
        text, projection = self._body.get("FilterExpression"), self._body.get("ProjectionExpression")
        if text is not None and not condition_of(text, names_of(self._body))(visible, self.values):
            return None
        if projection is None:
            return visible
        return _only(visible, projected_names(projection, names_of(self._body)))


class _OfTable(_Query):
    def __init__(self, table: FastTable, body: Body) -> None:
        super().__init__(table, body)
        self.key_names = table.key_names

    def found(self) -> Iterable[Item]:
        items = sorted_partition(self.table, self.keys.partition(self.key_names, self.values))
        texts = [str(item.range_key.value) for item in items]  # type: ignore[union-attr]  # it has one
        first, last = self.keys.bounds(self.values)
        begin = 0 if first is None else (bisect_right if first.excludes else bisect_left)(texts, first.text)
        end = (
            len(texts) if last is None else (bisect_left if last.excludes else bisect_right)(texts, last.text)
        )
        if self.start is not None:
            after = self.table.key_of(self.start)[1].value
            if self.is_forward:
                begin = max(begin, bisect_right(texts, after))
            else:
                end = min(end, bisect_left(texts, after))
        return (items[place] for place in self.in_order(begin, end))


class _OfIndex(_Query):
    def __init__(self, table: FastTable, body: Body, name: str) -> None:
        super().__init__(table, body)
        self._index: FastIndex = index_of(table, name)
        self.key_names = (*table.key_names, self._index.partition, self._index.sort)
        self.shown = self._index.projected

    def found(self) -> Iterable[Item]:
        index = self._index
        partition: DynamoType = self.keys.partition((index.partition, index.sort), self.values)
        entries = index.entries.get(partition.value, ())
        first, last = self.keys.bounds(self.values)
        begin = 0 if first is None else bisect_left(entries, _before(first.text, is_after=first.excludes))
        end = len(entries)
        if last is not None:
            end = bisect_left(entries, _before(last.text, is_after=not last.excludes))
        if self.start is not None:
            after: Entry = (self.start[index.sort]["S"], self.start["pk"]["S"], self.start["sk"]["S"])
            if self.is_forward:
                begin = max(begin, bisect_right(entries, after))
            else:
                end = min(end, bisect_left(entries, after))
        return (item_of(self.table, entries[place]) for place in self.in_order(begin, end))


def _before(text: str, *, is_after: bool) -> Entry:
    """Return an entry before all with this sort key, or after them and before the next text."""
    return (text + "\0" if is_after else text, "", "")


def _only(attributes: Attributes, names: Iterable[str]) -> Attributes:
    return {name: attributes[name] for name in names if name in attributes}
