"""Queries of a partition of a table or of an index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, Item

from tests.emulated.expressions.conditions import condition_of
from tests.emulated.expressions.key_conditions import KeyRange, key_range_of
from tests.emulated.expressions.reader import projected_names
from tests.emulated.fast_path.forms import Body, names_of
from tests.emulated.fast_path.indexes import TABLE, Entry, FastIndex, index_of, item_of
from tests.emulated.fast_path.tables import FastTable
from tests.emulated.fast_path.values import Attributes, stored_all, wire_all

_LARGEST_PAGE = 1_000_000
"""Bytes; DynamoDB's pages end at 1 MB."""

_PER_ATTRIBUTE = 40
"""A rough size of an attribute. Only the largest pages depend on it."""


def query(body: Body, _size: int) -> dict[str, Any]:
    """Answer ``Query``."""
    return _Query(FastTable(body["TableName"]), body).page()


class _Query:
    """One request.

    Args:
        table: holds the items.
        body: the request.
    """

    def __init__(self, table: FastTable, body: Body) -> None:
        self._table, self._body = table, body
        self._index: FastIndex = index_of(table, body.get("IndexName", TABLE))
        self._values = stored_all(body["ExpressionAttributeValues"])
        self._keys: KeyRange = key_range_of(body["KeyConditionExpression"], names_of(body))
        self._is_forward: bool = body.get("ScanIndexForward", True)

    def _found(self) -> Iterable[Item]:
        """Return the items of the key range in order."""
        index = self._index
        partition: DynamoType = self._keys.partition((index.partition, index.sort), self._values)
        entries = index.entries.get(partition.value, ())
        first, last = self._keys.bounds(self._values)
        begin = 0 if first is None else bisect_left(entries, _before(first.text, is_after=first.excludes))
        end = len(entries)
        if last is not None:
            end = bisect_left(entries, _before(last.text, is_after=not last.excludes))
        if (start := self._body.get("ExclusiveStartKey")) is not None:
            after: Entry = (start[index.sort]["S"], start["pk"]["S"], start["sk"]["S"])
            if self._is_forward:
                begin = max(begin, bisect_right(entries, after))
            else:
                end = min(end, bisect_left(entries, after))
        places = range(begin, max(begin, end))
        ordered = places if self._is_forward else reversed(places)
        return (item_of(self._table, entries[place]) for place in ordered)

    def page(self) -> dict[str, Any]:
        """Read until the limit, the largest page or the end."""
        limit = self._body.get("Limit")
        items, scanned, size, last = list[Any](), 0, 0, None
        for item in self._found():
            if scanned == limit or size > _LARGEST_PAGE:
                break
            scanned, last, size = scanned + 1, item, size + _PER_ATTRIBUTE * len(item.attrs)
            if (row := self._row(item)) is not None:
                items.append(wire_all(row))
        else:
            last = None
        page = {"Items": items, "Count": len(items), "ScannedCount": scanned}
        if last is not None:
            keys = dict.fromkeys((*self._table.key_names, self._index.partition, self._index.sort))
            page["LastEvaluatedKey"] = wire_all({name: last.attrs[name] for name in keys})
        return page

    def _row(self, item: Item) -> Attributes | None:
        """Return what the page shows of an item; None if the filter excludes it."""
        shown = self._index.projected
        visible: Attributes = item.attrs if shown is None else _only(item.attrs, shown)
        text, projection = self._body.get("FilterExpression"), self._body.get("ProjectionExpression")
        if text is not None and not condition_of(text, names_of(self._body))(visible, self._values):
            return None
        if projection is None:
            return visible
        return _only(visible, projected_names(projection, names_of(self._body)))


def _before(text: str, *, is_after: bool) -> Entry:
    """Return an entry before all with this sort key, or after them and before the next text."""
    return (text + "\0" if is_after else text, "", "")


def _only(attributes: Attributes, names: Iterable[str]) -> Attributes:
    return {name: attributes[name] for name in names if name in attributes}
