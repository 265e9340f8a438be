"""Run counts: one item for each hour of a job or a type.

A sort key is the hour, the kind and the name: ``2026-11-23T21#job#billing-nightly``. A field is the count of
one minute: ``m07e`` are the executed runs of minute 7, ``m07l2`` those whose lateness is in bucket 2.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import cast

from duetime.ids import SEPARATOR, TenantId
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, MinuteCounts, RunCount
from duetime.model.run_counts import Kind as Counted
from duetime.ports.keyed_items import Fields, Keyed, Kind, Query, Write

_HOUR = "%Y-%m-%dT%H"
_CODES = {ending: ending.value[0] for ending in CountedEnding}
_ENDINGS = {code: ending for ending, code in _CODES.items()}
_FIELD = re.compile(rf"m([0-5]\d)(?:([{''.join(_ENDINGS)}])|l(\d))")
_LAST = "\x7f"
"""Sorts after each sort key of an hour."""

RUN_COUNT = Kind(
    name="run count",
    partition="{tenant}#counts",
    sort="hour#kind#name",
    counters=_FIELD,
    expires="retention",
    writers="`publish`",
)


class RunCounts(Keyed):
    """Counts of ended runs by tenant, name and minute.

    They are for display: a repeated batch counts twice.
    """

    def add(self, counts: Collection[RunCount], *, expires_at: datetime) -> None:
        """Add the runs to the counts of their minutes; remove those counts at `expires_at` or later.

        Raises:
            BackendUnavailable: some may be counted.
        """
        for (tenant_id, place), added in _by_item(counts).items():
            key = RUN_COUNT.key(place, tenant=tenant_id)
            self._items.write(Write(kind=RUN_COUNT, key=key, sets={"ttl": expires_at}, adds=added))

    def read(self, tenant_id: TenantId, since: datetime, until: datetime) -> Iterable[MinuteCounts]:
        """Return the counts of the minutes that begin at or after `since` and before `until`, in no order."""
        first, last = (at.astimezone(UTC).strftime(_HOUR) for at in (since, until))
        place = RUN_COUNT.key("", tenant=tenant_id).partition
        hours = Query(kind=RUN_COUNT, partition=place, span=(first, f"{last}{_LAST}"), may_lag=True)
        for counted in self._items.find(hours, lambda item: list(_minutes(tenant_id, item))):
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


def _minutes(tenant_id: TenantId, item: Fields) -> Iterator[MinuteCounts]:
    hour, kind, name = item["sk"].split(SEPARATOR, 2)
    begin = datetime.strptime(hour, _HOUR).replace(tzinfo=UTC)
    endings: defaultdict[int, dict[CountedEnding, int]] = defaultdict(dict)
    lateness: defaultdict[int, list[int]] = defaultdict(lambda: [0] * (len(LATENESS_BOUNDS) + 1))
    for field in item:
        if found := _FIELD.fullmatch(field):
            minute, code, bucket = found.groups()
            if code:
                endings[int(minute)][_ENDINGS[code]] = item[field]
            elif int(bucket) <= len(LATENESS_BOUNDS):
                lateness[int(minute)][int(bucket)] = item[field]
    for minute, counted in endings.items():
        yield MinuteCounts(
            tenant_id=tenant_id,
            kind=cast("Counted", kind),
            name=name,
            minute=begin.replace(minute=minute),
            endings=counted,
            lateness=lateness[minute],
        )
