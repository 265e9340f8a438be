"""Queries of the actions table: each reads a bounded part of one partition; none scans."""

from __future__ import annotations

import heapq
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from duetime import ids, instant
from duetime.aws.damaged_leases import to_damaged_row
from duetime.aws.dynamodb import Client, DynamoTable, cursor_parts, readable, sort_ties
from duetime.aws.items import from_item
from duetime.aws.keys import Item, correlation_key, partition, ref_of, row_key, shard_key
from duetime.aws.tables import CORRELATION, DUE, FAILED, TENANT_DUE
from duetime.errors import DuetimeError, InvalidCursor, UnreadableRow
from duetime.ids import SEPARATOR, SHARDS, JobName, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.marks import DueMark, FailedMark
from duetime.ports.actions import DamagedRow, DueEntry, DuePage, Page

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


log = logging.getLogger(__name__)

_GET_AT_ONCE = 100
_SECOND = timedelta(seconds=1)
_BETWEEN_MARKS = "|"
_LONGEST_CURSOR = 600
_INSTANT = 27
"""Characters of an instant's text."""


class DynamoQueries:
    """The queries of the actions table.

    See `duetime.ports.action_store.ActionStore`.
    """

    def __init__(self, client: Client, table: str, *, due_shards: int) -> None:
        self._table = DynamoTable(client, table)
        self.due_shards: Sequence[str] = tuple(map(str, range(due_shards)))

    def get_rows(
        self, refs: Sequence[ActionRef], *, damaged: list[DamagedRow] | None = None
    ) -> Sequence[Action]:
        rows: list[Action] = []
        distinct = list(
            dict.fromkeys(refs)
        )  # a lagging index may repeat a row; DynamoDB rejects repeated keys
        for first in range(0, len(distinct), _GET_AT_ONCE):
            keys = [row_key(ref) for ref in distinct[first : first + _GET_AT_ONCE]]
            rows.extend(_readable_rows(self._table.get_many(keys), damaged))
        return rows

    def by_correlation(
        self, tenant_id: TenantId, correlation_id: str, *, limit: int, cursor: str | None
    ) -> Page:
        entries = self._table.own_items(
            lambda entry: ref_of(entry).tenant_id == tenant_id,
            IndexName=CORRELATION.name,
            KeyConditionExpression="correlation = :correlation AND sk > :after",
            ExpressionAttributeValues={
                ":correlation": {"S": correlation_key(tenant_id, correlation_id)},
                ":after": {"S": cursor or " "},
            },
            Limit=limit + 1,
        )
        refs = [ref_of(entry) for entry in islice(entries, limit + 1)]
        rows = sorted(self.get_rows(refs[:limit]), key=lambda row: row.id)
        more = refs[limit - 1].id if len(refs) > limit else None
        return Page(tuple(row.without_payload() for row in rows), more)

    def of_tenant(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> Page:
        found = tuple(islice(self._of_shards(f"{tenant_id}{SEPARATOR}", cursor, limit), limit + 1))
        shown = tuple(row.without_payload() for row in found[:limit])
        return Page(shown, shown[-1].id if len(found) > limit else None)

    def failed(self, tenants: Sequence[TenantId], *, limit: int, cursor: str | None) -> Page:
        before = None if cursor is None else FailedMark.parse(cursor, tenants)
        places = [partition(tenant, shard) for tenant in tenants for shard in SHARDS]
        at_once = max(4, 2 * limit // len(places))
        merged = heapq.merge(*(self._failed_in(place, before, at_once) for place in places), reverse=True)
        marks = list(islice(merged, limit + 1))
        rows = self.get_rows([mark.ref for mark in marks[:limit]])
        failed = sorted((row for row in rows if row.is_dead_letter), key=FailedMark.from_row, reverse=True)
        more = str(marks[limit - 1]) if len(marks) > limit else None
        return Page(tuple(row.without_payload() for row in failed), more)

    def _failed_in(self, place: str, before: FailedMark | None, at_once: int) -> Iterator[FailedMark]:
        """Yield the marks of a partition of the failed index in order, page by page."""
        until = instant.LATEST if before is None else before.failed_at
        entries = self._table.own_items(
            lambda entry: _is_row_of(entry, place),
            IndexName=FAILED.name,
            KeyConditionExpression="failed = :place AND failed_at <= :until",
            ExpressionAttributeValues={":place": {"S": place}, ":until": {"S": instant.text(until)}},
            ScanIndexForward=False,
            Limit=at_once,
        )
        marks = readable(entries, _failed_mark, "failed entry")
        later = (mark for mark in marks if before is None or mark < before)
        return sort_ties(later, key=lambda mark: mark.failed_at, reverse=True)

    def in_due_order(
        self,
        tenant_id: TenantId,
        *,
        after: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        span = KeyRange(after, until, None if cursor is None else DueMark.parse(cursor))
        marks = list(islice(span.of_tenant(self._table, tenant_id, limit), limit + 1))
        rows = self.get_rows([ActionRef(tenant_id, mark.id) for mark in marks[:limit]])
        shown = sorted((row for row in rows if span.holds(row)), key=DueMark.from_row)
        more = str(marks[limit - 1]) if len(marks) > limit else None
        return Page(tuple(row.without_payload() for row in shown), more)

    def of_job(
        self,
        tenant_id: TenantId,
        job: JobName,
        *,
        limit: int,
        cursor: str | None,
        has_events: bool = False,
    ) -> Page:
        marks = _marks(job, cursor, has_events=has_events)
        place = partition(tenant_id, job)
        runs = self._newest_first(place, marks[False], limit + 1)
        if has_events:
            started = self._of_shards(f"{place}{SEPARATOR}", marks[True], limit)
            runs = heapq.merge(runs, started, key=lambda row: ids.nominal_at(row.id), reverse=True)
        found = tuple(islice(runs, limit + 1))
        shown = tuple(row.as_listed() for row in found[:limit])
        marks |= {ids.is_event_run(row.id): row.id for row in shown}
        return Page(shown, _BETWEEN_MARKS.join(marks.values()) if len(found) > limit else None)

    def occurrences(
        self,
        tenant_id: TenantId,
        job: JobName,
        version: int,
        *,
        after: datetime,
        until: datetime,
        limit: int,
        cursor: str | None,
    ) -> Page:
        first = str(ids.occurrence_id(job, version, after + _SECOND))
        last = ids.occurrence_id(job, version, until) + "~"
        if cursor is not None:
            if ids.job_of(cursor) != job or not first <= cursor <= last:
                raise InvalidCursor
            first = cursor + "!"
        if first > last:
            return Page((), None)  # DynamoDB rejects a BETWEEN with reversed bounds
        answer = self._table.query(
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":pk": {"S": partition(tenant_id, job)},
                ":first": {"S": first},
                ":last": {"S": last},
            },
            ConsistentRead=True,
            Limit=limit,
        )
        rows = readable(answer["Items"], from_item, "row")
        more: Item | None = answer.get("LastEvaluatedKey")
        return Page(tuple(row.without_payload() for row in rows), more["sk"]["S"] if more else None)

    def _of_shards(self, start: str, cursor: str | None, limit: int) -> Iterator[Action]:
        at_once = max(4, 2 * limit // len(SHARDS))
        shards = [self._newest_first(start + shard, cursor, at_once) for shard in SHARDS]
        return heapq.merge(*shards, key=lambda row: row.id, reverse=True)

    def _newest_first(self, partition_key: str, cursor: str | None, at_once: int) -> Iterator[Action]:
        """Yield the rows of a shard, page by page as the merge consumes them."""
        items = self._table.items(
            KeyConditionExpression="pk = :pk AND sk < :before",
            ExpressionAttributeValues={":pk": {"S": partition_key}, ":before": {"S": cursor or "~"}},
            ScanIndexForward=False,
            ConsistentRead=True,
            Limit=at_once,
        )
        return readable(items, from_item, "row")

    def due(
        self, shard: str, *, after: datetime | None, until: datetime, limit: int, cursor: str | None
    ) -> DuePage:
        if after is not None and after >= until:
            return DuePage((), None)  # DynamoDB rejects a BETWEEN with reversed bounds
        first = instant.text(instant.EARLIEST) if after is None else instant.text(after) + "~"
        start: dict[str, Item] = {}
        if cursor is not None:
            first, start = _due_start(shard, first, cursor)
        answer = self._table.query(
            IndexName=DUE.name,
            KeyConditionExpression="due_shard = :shard AND due_at BETWEEN :first AND :until",
            ExpressionAttributeValues={
                ":shard": {"S": shard},
                ":first": {"S": first},
                ":until": {"S": instant.text(until)},
            },
            Limit=limit,
            **start,
        )
        entries = tuple(_due_entry(item) for item in answer["Items"])
        last: Item | None = answer.get("LastEvaluatedKey")
        return DuePage(entries, None if last is None else _due_cursor(last))


def _readable_rows(items: Iterable[Item], damaged: list[DamagedRow] | None) -> Iterator[Action]:
    for item in items:
        try:
            yield from_item(item)
        except UnreadableRow as error:
            log.exception("row cannot be read", extra={"pk": item.get("pk"), "sk": item.get("sk")})
            if damaged is not None:
                damaged.append(to_damaged_row(item, error))


def _is_row_of(entry: Item, place: str) -> bool:
    """Return whether an entry is of a row in this shard of its tenant."""
    ref = ref_of(entry)
    return ids.is_action_id(ref.id) and shard_key(ref) == place


def _due_entry(item: Item) -> DueEntry:
    """Return an entry. One with a forged time or id comes too: its row is unreadable, or absent."""
    try:
        due_at = instant.parse(item["due_at"]["S"])
    except DuetimeError:
        due_at = instant.EARLIEST
    return DueEntry(ref_of(item), due_at)


def _failed_mark(item: Item) -> FailedMark:
    ref = ref_of(item)
    return FailedMark(instant.parse(item["failed_at"]["S"]), ref.id, ref.tenant_id)


def _marks(job: JobName, cursor: str | None, *, has_events: bool) -> dict[bool, str]:
    """Return the last listed id of scheduled runs (key False) and of event runs (key True, if listed)."""
    kinds = [False, True] if has_events else [False]
    texts = [""] * len(kinds) if cursor is None else cursor.split(_BETWEEN_MARKS)
    marks = dict(zip(kinds, texts, strict=False))
    are_mine = all(not text or _is_run(text, job, is_event=kind) for kind, text in marks.items())
    if len(texts) != len(kinds) or not are_mine or (cursor is not None and not any(texts)):
        raise InvalidCursor
    return marks


def _is_run(text: str, job: JobName, *, is_event: bool) -> bool:
    return ids.is_action_id(text) and ids.job_of(text) == job and ids.is_event_run(text) == is_event


def _due_cursor(last: Item) -> str:
    """Return the cursor behind an entry, of bounded length: a bookmark has one for each shard."""
    cursor = json.dumps([last[name]["S"] for name in ("due_at", "pk", "sk")])
    if len(cursor) <= _LONGEST_CURSOR:
        return cursor
    return json.dumps([last["due_at"]["S"][:_INSTANT]])  # other entries of this instant come in a later pass


def _due_start(shard: str, first: str, cursor: str) -> tuple[str, dict[str, Item]]:
    """Return the first sort key of a query behind a cursor, and the query's start."""
    match cursor_parts(cursor):
        case [due_at]:
            return max(first, due_at + "~"), {}
        case [due_at, pk, sk]:
            last = {"due_shard": shard, "due_at": due_at, "pk": pk, "sk": sk}
            return first, {"ExclusiveStartKey": {name: {"S": text} for name, text in last.items()}}
        case _:
            raise InvalidCursor
