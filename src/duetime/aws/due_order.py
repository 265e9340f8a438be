"""The due order of a tenant as its index gives it: a part of each of its partitions, read as a merge asks for it."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from duetime import instant
from duetime.aws.keys import Item, partition, ref_of
from duetime.aws.tables import TENANT_DUE
from duetime.ids import SHARDS
from duetime.model.action import Action
from duetime.model.due_mark import DueMark

log = logging.getLogger(__name__)

Query = Callable[..., Any]
"""A query of the actions table."""

_AFTER_TIES = "~"
"""Sorts behind all that is due at one instant, and before the next."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """What is asked for: due after one instant, and at or before another; behind a mark, where one pages."""

    after: datetime | None
    until: datetime | None
    mark: DueMark | None

    def holds(self, row: Action) -> bool:
        """Whether a row is due in it by now: the index may lag behind."""
        is_after = self.after is None or row.due_at > self.after
        return is_after and (self.until is None or row.due_at <= self.until)

    def of_tenant(self, query: Query, tenant_id: str, limit: int) -> Iterator[DueMark]:
        """A tenant's marks in order, a little more than `limit` of them read at first."""
        at_once = max(4, 2 * limit // len(SHARDS))
        places = [partition(tenant_id, shard) for shard in SHARDS]
        return heapq.merge(*(self._marks(query, place, at_once) for place in places))

    def _marks(self, query: Query, place: str, at_once: int) -> Iterator[DueMark]:
        """A partition in the order of its marks: in which order ties come, no index promises."""
        for _, tied in groupby(self._soonest_first(query, place, at_once), key=lambda mark: mark.due_at):
            yield from sorted(tied)

    def _soonest_first(self, query: Query, place: str, at_once: int) -> Iterator[DueMark]:
        """The same as the index gives it, page by page."""
        first, last = self._bounds()
        if first > last:
            return  # DynamoDB refuses a BETWEEN whose bounds are turned round
        start: dict[str, Any] = {}
        while True:
            answer = query(
                IndexName=TENANT_DUE.name,
                KeyConditionExpression="tenant_due = :place AND due_at BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":place": {"S": place},
                    ":first": {"S": first},
                    ":last": {"S": last},
                },
                Limit=at_once,
                **start,
            )
            marks = (mark for item in answer["Items"] if (mark := _readable(item)))
            yield from (mark for mark in marks if self.mark is None or mark > self.mark)
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def _bounds(self) -> tuple[str, str]:
        """The first and the last text that may be meant; ties with the mark are read again."""
        first = " " if self.after is None else instant.text(self.after) + _AFTER_TIES
        if self.mark is not None:
            first = max(first, instant.text(self.mark.due_at))
        return first, instant.text(self.until or instant.LATEST)


def _readable(item: Item) -> DueMark | None:
    """An entry that cannot be read is told of and passed by: it must not hold up the others."""
    try:
        return DueMark(instant.parse(item["due_at"]["S"]), ref_of(item).id)
    except (KeyError, ValueError, OverflowError):
        log.exception("due entry cannot be read", extra={"pk": item.get("pk"), "sk": item.get("sk")})
        return None
