"""Reads of a tenant's actions in due order: a merge of its partitions of the due index."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from duetime import ids, instant
from duetime.aws.dynamodb import DynamoTable, readable, sort_ties
from duetime.aws.keys import Item, partition, ref_of, shard_key
from duetime.aws.tables import TENANT_DUE
from duetime.ids import SHARDS
from duetime.model.action import Action
from duetime.model.marks import DueMark

_AFTER_TIES = "~"
"""Sorts after all entries of one instant, and before the next instant."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The requested range: due after `after`, at or before `until`, and behind `mark` on later pages."""

    after: datetime | None
    until: datetime | None
    mark: DueMark | None

    def holds(self, row: Action) -> bool:
        """Return whether a row is due in the range; the index can lag behind the row."""
        is_after = self.after is None or row.due_at > self.after
        return is_after and (self.until is None or row.due_at <= self.until)

    def of_tenant(self, table: DynamoTable, tenant_id: str, limit: int) -> Iterator[DueMark]:
        """Yield a tenant's marks in order; the first pages hold a little more than `limit` of them."""
        at_once = max(4, 2 * limit // len(SHARDS))
        places = [partition(tenant_id, shard) for shard in SHARDS]
        return heapq.merge(*(self._marks(table, place, at_once) for place in places))

    def _marks(self, table: DynamoTable, place: str, at_once: int) -> Iterator[DueMark]:
        """Yield a partition's marks in order, page by page."""
        first, last = self._bounds()
        if first > last:
            return iter(())  # DynamoDB rejects a BETWEEN with reversed bounds
        own = table.own_items(
            lambda entry: shard_key(ref_of(entry)) == place and ids.is_one_shot(ref_of(entry).id),
            IndexName=TENANT_DUE.name,
            KeyConditionExpression="tenant_due = :place AND due_at BETWEEN :first AND :last",
            ExpressionAttributeValues={":place": {"S": place}, ":first": {"S": first}, ":last": {"S": last}},
            Limit=at_once,
        )
        marks = readable(own, _due_mark, "due entry")
        later = (mark for mark in marks if self.mark is None or mark > self.mark)
        return sort_ties(later, key=lambda mark: mark.due_at)

    def _bounds(self) -> tuple[str, str]:
        """Return the first and the last sort key. Entries at the mark's own time are read again."""
        first = " " if self.after is None else instant.text(self.after) + _AFTER_TIES
        if self.mark is not None:
            first = max(first, instant.text(self.mark.due_at))
        return first, instant.text(self.until or instant.LATEST)


def _due_mark(item: Item) -> DueMark:
    return DueMark(instant.parse(item["due_at"]["S"]), ref_of(item).id)
