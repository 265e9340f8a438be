"""The lists of the actions table: each reads a bounded part of one partition; none scans."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any

from duetime import ids, instant
from duetime.aws import unreadable_items
from duetime.aws.damaged_leases import to_damaged_row
from duetime.aws.dynamodb import DynamoTable, readable
from duetime.aws.items import from_item
from duetime.aws.keys import Item, correlation_key, partition, ref_of, row_key, shard_key
from duetime.aws.tables import CORRELATION, DUE, FAILED, TENANT_DUE
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, SHARDS
from duetime.model.action import Action, ActionRef
from duetime.ports.actions import DamagedRow
from duetime.ports.row_queries import (
    BY_CORRELATION,
    BY_DUE_SHARD,
    BY_FAILURE,
    BY_ID,
    HIGHEST,
    LOWEST,
    IndexEntry,
    Key,
    RowIndex,
    Span,
    key_of_entry,
)

log = logging.getLogger(__name__)

_GET_AT_ONCE = 100


class RowIndexes:
    """The rows and the indexes of an actions table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def rows(self, refs: Sequence[ActionRef]) -> Iterator[Action | DamagedRow]:
        for first in range(0, len(refs), _GET_AT_ONCE):
            keys = [row_key(ref) for ref in refs[first : first + _GET_AT_ONCE]]
            yield from map(_row, self._table.get_many(keys))

    def select(self, span: Span) -> Iterator[IndexEntry]:
        """Yield the entries of a span, page by page as they are consumed."""
        if span.by is BY_DUE_SHARD:
            return self._due(span)
        if span.by is BY_CORRELATION:
            return islice(self._correlated(span), span.limit)
        tenant_id, place = (*span.part, "")[:2]
        places = [partition(tenant_id, place)]
        if not place or place.endswith(SEPARATOR):
            places = [places[0] + shard for shard in SHARDS]
        at_once = span.limit if len(places) == 1 else max(4, 2 * span.limit // len(SHARDS))
        select = self._listed if span.by is BY_ID else self._indexed
        selected = (select(place, span, at_once) for place in places)
        merged = heapq.merge(*selected, key=key_of_entry, reverse=span.is_newest_first)
        return islice(merged, span.limit)

    def _listed(self, place: str, span: Span, at_once: int) -> Iterator[IndexEntry]:
        """Yield the rows of a partition."""
        (low, *_), (high, *_) = span.low, span.high
        if low + _AFTER > high:
            return  # DynamoDB rejects a BETWEEN with reversed bounds
        condition, values = "pk = :pk AND sk < :before", {":before": {"S": high}}
        if low != LOWEST:
            condition = "pk = :pk AND sk BETWEEN :first AND :last"
            values = {":first": {"S": low + _AFTER}, ":last": {"S": high}}
        items = self._table.items(
            KeyConditionExpression=condition,
            ExpressionAttributeValues={":pk": {"S": place}, **values},
            ConsistentRead=True,
            Limit=at_once,
            **_order(span),
        )
        for item in items:
            row = _row(item)
            if isinstance(row, DamagedRow):
                unreadable_items.note("row", item, ValueError(row.reason))
            yield (item["sk"]["S"],), row

    def _indexed(self, place: str, span: Span, at_once: int) -> Iterator[IndexEntry]:
        """Yield the entries of a partition of the failed index, or of the tenant's due order."""
        index, at = (FAILED, "failed_at") if span.by is BY_FAILURE else (TENANT_DUE, "due_at")
        first, last = _bounds(span)
        if first > last:
            return

        def to_key(entry: Item) -> Key:
            ref = ref_of(entry)
            key = instant.text(instant.parse(entry[at]["S"])), ref.id, ref.tenant_id
            return key[: len(span.by.key)]

        own = self._table.own_items(
            lambda entry: _is_row_of(entry, place, span.by),
            IndexName=index.name,
            KeyConditionExpression=f"{index.partition} = :place AND {at} BETWEEN :first AND :last",
            ExpressionAttributeValues={":place": {"S": place}, ":first": {"S": first}, ":last": {"S": last}},
            Limit=at_once,
            **_order(span),
        )
        keys = readable(own, to_key, f"entry of {index.name}")
        ordered = _in_order((key for key in keys if span.low < key < span.high), span)
        tenant_id = span.part[0]
        yield from ((key, ActionRef(ids.TenantId(tenant_id), ids.ActionId(key[1]))) for key in ordered)

    def _correlated(self, span: Span) -> Iterator[IndexEntry]:
        tenant_id, correlation_id = span.part
        own = self._table.own_items(
            lambda entry: ref_of(entry).tenant_id == tenant_id,
            IndexName=CORRELATION.name,
            KeyConditionExpression="correlation = :correlation AND sk > :after",
            ExpressionAttributeValues={
                ":correlation": {"S": correlation_key(tenant_id, correlation_id)},
                ":after": {"S": span.low[0] or " "},
            },
            Limit=span.limit,
        )
        return (((entry["sk"]["S"],), ref_of(entry)) for entry in own)

    def _due(self, span: Span) -> Iterator[IndexEntry]:
        """Yield entries of the due index by their time. Those behind a whole key begin after it."""
        first, last = _bounds(span)
        if first > last:
            return
        start: dict[str, Any] = {}
        if len(span.low) == len(("due_at", "pk", "sk")):
            names = ("due_shard", "due_at", "pk", "sk")
            key = {name: {"S": text} for name, text in zip(names, (*span.part, *span.low), strict=True)}
            start = {"ExclusiveStartKey": key}
        items = self._table.items(
            IndexName=DUE.name,
            KeyConditionExpression="due_shard = :shard AND due_at BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":shard": {"S": span.part[0]},
                ":first": {"S": first},
                ":last": {"S": last},
            },
            Limit=span.limit,
            **start,
        )
        for item in islice(items, span.limit):
            yield tuple(item[name]["S"] for name in ("due_at", "pk", "sk")), ref_of(item)


_AFTER = "!"
"""Sorts after an id, and before all ids that begin with it."""


def _bounds(span: Span) -> tuple[str, str]:
    """Return the first and the last instant of a span. Entries at a mark's own time are read again."""
    first = span.low[0] or instant.text(instant.EARLIEST)
    last = instant.text(instant.LATEST) if span.high[0] == HIGHEST else span.high[0]
    return first + HIGHEST if span.low[1:] == (HIGHEST,) else first, last


def _order(span: Span) -> dict[str, Any]:
    return {"ScanIndexForward": False} if span.is_newest_first else {}


def _in_order(keys: Iterable[Key], span: Span) -> Iterator[Key]:
    """Yield keys in order. An index orders them by an instant, but does not order equal instants."""
    for _, tied in groupby(keys, key=lambda key: key[0]):
        yield from sorted(tied, reverse=span.is_newest_first)


def _row(item: Item) -> Action | DamagedRow:
    """Return a row, or what can be read of a damaged one, which is logged."""
    try:
        return from_item(item)
    except UnreadableRow as error:
        log.exception("row cannot be read", extra={"pk": item.get("pk"), "sk": item.get("sk")})
        return to_damaged_row(item, error)


def _is_row_of(entry: Item, place: str, index: RowIndex) -> bool:
    """Return whether an entry is of a row in this shard of its tenant; the due order has one-shots alone."""
    ref = ref_of(entry)
    is_listed = ids.is_action_id if index is BY_FAILURE else ids.is_one_shot
    return is_listed(ref.id) and shard_key(ref) == place
