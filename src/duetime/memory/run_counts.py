"""Run counts in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from duetime.ids import TenantId
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, Kind, MinuteCounts, RunCount

_Place = tuple[TenantId, datetime, Kind, str]


class MemoryRunCounts:
    """Counts in a dictionary.

    See `duetime.ports.run_counts.RunCounts`.
    """

    def __init__(self) -> None:
        self._endings: dict[_Place, Counter[CountedEnding]] = {}
        self._lateness: dict[_Place, Counter[int]] = {}
        self._expires_at: dict[_Place, datetime] = {}

    def add(self, counts: Collection[RunCount], *, expires_at: datetime) -> None:
        for count in counts:
            minute = count.at.replace(second=0, microsecond=0)
            place = (count.tenant_id, minute, count.kind, count.name)
            self._expires_at[place] = expires_at
            self._endings.setdefault(place, Counter())[count.ending] += 1
            if count.lateness is not None:
                self._lateness.setdefault(place, Counter())[count.lateness] += 1
        self._remove_before(max((count.at for count in counts), default=None))

    def read(self, tenant_id: TenantId, since: datetime, until: datetime) -> Iterable[MinuteCounts]:
        return list(self._read(tenant_id, since, until))

    def _read(self, tenant_id: TenantId, since: datetime, until: datetime) -> Iterator[MinuteCounts]:
        for place, endings in self._endings.items():
            owner, minute, kind, name = place
            if owner == tenant_id and since <= minute < until:
                late = self._lateness.get(place, Counter())
                yield MinuteCounts(
                    tenant_id=owner,
                    kind=kind,
                    name=name,
                    minute=minute,
                    endings=dict(endings),
                    lateness=[late[bucket] for bucket in range(len(LATENESS_BOUNDS) + 1)],
                )

    def _remove_before(self, now: datetime | None) -> None:
        for place in [place for place, at in self._expires_at.items() if now is not None and at < now]:
            for table in (self._expires_at, self._endings, self._lateness):
                table.pop(place, None)
