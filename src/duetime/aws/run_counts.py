"""Run counts in the jobs table: one item for each hour of a job or a type.

All items of a tenant are in one partition, such as ``acme#counts``. Sort keys are the hour, the kind and the
name: ``2026-11-23T21#job#billing-nightly``. An attribute is the count of one minute: ``m07e`` are the
executed runs of minute 7, ``m07l2`` those whose lateness is in bucket 2. DynamoDB's time to live removes the
items.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import cast

from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, partition
from duetime.ids import SEPARATOR, TenantId
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, Kind, MinuteCounts, RunCount

PARTITION = "counts"
"""The place of the counts in a tenant's partition key. No job has this name: a job's has two segments."""

_HOUR = "%Y-%m-%dT%H"
_CODES = {ending: ending.value[0] for ending in CountedEnding}
_ENDINGS = {code: ending for ending, code in _CODES.items()}
_ATTRIBUTE = re.compile(rf"m([0-5]\d)(?:([{''.join(_ENDINGS)}])|l(\d))")
_LAST = "\x7f"
"""Sorts after each sort key of an hour."""


class DynamoRunCounts:
    """One update for each hour, job or type in a batch.

    See `duetime.ports.run_counts.RunCounts`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def add(self, counts: Collection[RunCount], *, expires_at: datetime) -> None:
        ttl = {":ttl": {"N": to_epoch(expires_at)}}
        for (tenant_id, place), added in _by_item(counts).items():
            values = {f":{name}": {"N": str(number)} for name, number in added.items()}
            self._table.update(
                {"pk": {"S": partition(tenant_id, PARTITION)}, "sk": {"S": place}},
                UpdateExpression=f"SET #ttl = :ttl ADD {', '.join(f'{name} :{name}' for name in added)}",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues=values | ttl,
            )

    def read(self, tenant_id: TenantId, since: datetime, until: datetime) -> Iterable[MinuteCounts]:
        items = self._table.items(
            KeyConditionExpression="pk = :counts AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":counts": {"S": partition(tenant_id, PARTITION)},
                ":first": {"S": since.astimezone(UTC).strftime(_HOUR)},
                ":last": {"S": f"{until.astimezone(UTC).strftime(_HOUR)}{_LAST}"},
            },
        )
        for counted in readable(items, lambda item: list(_minutes(tenant_id, item)), "run count"):
            yield from (row for row in counted if since <= row.minute < until)


def _by_item(counts: Collection[RunCount]) -> dict[tuple[TenantId, str], Counter[str]]:
    items: defaultdict[tuple[TenantId, str], Counter[str]] = defaultdict(Counter)
    for count in counts:
        at = count.at.astimezone(UTC)
        added = items[count.tenant_id, SEPARATOR.join((at.strftime(_HOUR), count.kind, count.name))]
        added[f"m{at.minute:02}{_CODES[count.ending]}"] += 1
        if count.lateness is not None:
            added[f"m{at.minute:02}l{count.lateness}"] += 1
    return items


def _minutes(tenant_id: TenantId, item: Item) -> Iterator[MinuteCounts]:
    hour, kind, name = item["sk"]["S"].split(SEPARATOR, 2)
    begin = datetime.strptime(hour, _HOUR).replace(tzinfo=UTC)
    endings: defaultdict[int, dict[CountedEnding, int]] = defaultdict(dict)
    lateness: defaultdict[int, list[int]] = defaultdict(lambda: [0] * (len(LATENESS_BOUNDS) + 1))
    for attribute, value in item.items():
        if found := _ATTRIBUTE.fullmatch(attribute):
            minute, code, bucket = found.groups()
            if code:
                endings[int(minute)][_ENDINGS[code]] = int(value["N"])
            elif int(bucket) <= len(LATENESS_BOUNDS):
                lateness[int(minute)][int(bucket)] = int(value["N"])
    for minute, counted in endings.items():
        yield MinuteCounts(
            tenant_id=tenant_id,
            kind=cast("Kind", kind),
            name=name,
            minute=begin.replace(minute=minute),
            endings=counted,
            lateness=lateness[minute],
        )
