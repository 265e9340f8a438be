"""A tenant's use of its quotas: unsettled one-shots, and bytes of the payloads that it schedules. Facts only.

``publish`` derives the changes from the stream, which may repeat or lose a batch. So counts are by month of
the due time, and by day: an error ends with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.action import Action, Status
from duetime.model.change import Change

UsageChanges: TypeAlias = Mapping[tuple[TenantId, str], int]
"""Changes by tenant and name: ``m202611`` has the one-shots due in a month, ``d20261124`` a day's bytes."""

_UNSETTLED = {Status.PENDING, Status.PROCESSING}
_OVERDUE = timedelta(days=31)
_STALE = range(2, 10)
"""Days after which a batch removes the bytes of a day."""


class Usage(NamedTuple):
    """The numbers that quotas limit."""

    pending: int
    payload_bytes: int


def usage_changes(changes: Iterable[tuple[Change, datetime]]) -> UsageChanges:
    """Return the changes that differ from 0; each comes with the time of its write."""
    added: Counter[tuple[TenantId, str]] = Counter()
    for change, at in changes:
        for row, number in ((change.old, -1), (change.new, 1)):
            if row is not None and _is_unsettled(row):
                added[row.tenant_id, month_name(row.due_at)] += number
        if change.old is None and change.new is not None and _is_unsettled(change.new):
            added[change.new.tenant_id, day_name(at)] += size_of(change.new)
    return {place: number for place, number in added.items() if number}


def usage_by(actions: Collection[Action]) -> Usage:
    """Return what new actions add."""
    return Usage(len(actions), sum(map(size_of, actions)))


def usage_of(counts: Mapping[str, int], now: datetime) -> Usage:
    """Return the use at `now`: without actions overdue for a month, and at least 0 for each month."""
    first = month_name(now - _OVERDUE)
    pending = sum(max(number, 0) for name, number in counts.items() if name >= first)  # days sort before
    return Usage(pending, counts.get(day_name(now), 0))


def month_name(at: datetime) -> str:
    """Return the name of the count of one-shots that are due in a month."""
    return at.astimezone(UTC).strftime("m%Y%m")


def day_name(at: datetime) -> str:
    """Return the name of the count of a day's bytes."""
    return at.astimezone(UTC).strftime("d%Y%m%d")


def stale_names(now: datetime) -> Sequence[str]:
    """Return the names of days that nothing reads any more."""
    return _stale_names(now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))


@lru_cache(maxsize=1)
def _stale_names(today: datetime) -> Sequence[str]:
    return tuple(day_name(today - timedelta(days=days)) for days in _STALE)


def _is_unsettled(row: Action) -> bool:
    return row.job is None and row.status in _UNSETTLED and row.tenant_id != SYSTEM_TENANT


def size_of(row: Action) -> int:
    """Return the bytes of its payload."""
    return row.payload_size or len((row.payload or "").encode())
