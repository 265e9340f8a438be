"""The windows of a simulated cloud that have more starts than a rate limit allows, from recorded starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from duetime import ids
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import DuetimeError
from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action
from duetime.model.outcome import EXPIRED
from duetime.model.rate_limit import Pace, RateBucket, bucket_of, microseconds
from duetime.testing.journey import short


def first_excess(starts: Iterable[datetime], pace: Pace) -> datetime | None:
    """Return the first start that is one too many for some window that ends with it; None without one.

    The m-th start is too early if, for an n before it, fewer than ``(m - n) * interval`` less the tolerance
    have passed since the n-th. So each is compared with the latest time that those before leave to it.
    """
    latest: int | None = None
    for number, start in enumerate(sorted(starts)):
        paid = microseconds(start) - number * pace.interval
        if latest is not None and paid < latest - pace.tolerance:
            return start
        latest = paid if latest is None else max(latest, paid)
    return None


def too_fast(cloud: MemoryCloud) -> Iterator[str]:
    """13: no window has more starts than its rate limit allows, by the workers' clocks.

    If a limit has changed, processes learn it at different times, so the sum of the limits counts.
    """
    starts: defaultdict[RateBucket, list[datetime]] = defaultdict(list)
    rows: dict[RateBucket, Action] = {}
    for row in cloud.store.rows():
        bucket = _bucket_of(cloud, row)
        if bucket is not None:
            rows[bucket] = row
            starts[bucket] += [
                attempt.started_at for attempt in row.attempts if attempt.message != EXPIRED.message
            ]
    for bucket, begun in starts.items():
        excess = first_excess(begun, _sum_of(set(_paces(cloud, bucket, rows[bucket]))))
        if excess is not None:
            names = [short(row.id) for row in cloud.store.rows() if _has_started_at(row, excess)]
            yield f"{', '.join(names)} starts at {excess:%H:%M:%S.%f}, too soon for its rate (invariant 13)"


def _sum_of(paces: Collection[Pace]) -> Pace:
    """Return the pace of starts at all of some paces together."""
    if len(paces) == 1:
        return next(iter(paces))
    interval = int(1 / sum(1 / pace.interval for pace in paces))
    bursts = sum(pace.tolerance // pace.interval + 1 for pace in paces)
    return Pace(interval, (bursts - 1) * interval)


def waits_for_rate(cloud: MemoryCloud, row: Action) -> bool:
    """Return whether a dead run that is due may wait for its rate limit."""
    bucket = _bucket_of(cloud, row)
    if bucket is None:
        return False
    now = cloud.clock.now()
    return any(cloud.store.next_start(bucket, pace, now) > now for pace in _paces(cloud, bucket, row))


def _has_started_at(row: Action, at: datetime) -> bool:
    return any(attempt.started_at == at for attempt in row.attempts)


def _paces(cloud: MemoryCloud, bucket: RateBucket, row: Action) -> Iterator[Pace]:
    """Yield the paces under which starts were counted, and the declared one."""
    handler = cloud.handler_of(row.type)
    if handler is not None and handler.rate is not None:
        yield handler.rate.limit.pace
    yield from cloud.store.rates.paces(bucket)


def _bucket_of(cloud: MemoryCloud, row: Action) -> RateBucket | None:
    handler = cloud.handler_of(row.type)
    if handler is None or handler.rate is None or not ids.is_one_shot(row.id):
        return None
    rate, shards = handler.rate, handler.rate.limit.shards
    if rate.scope == "type":
        return bucket_of(row.type, shards, row.id, tenant_id=SYSTEM_TENANT)
    key = "" if rate.scope == "tenant" else rate_key_of(cloud, row)
    return None if key is None else bucket_of(row.type, shards, row.id, tenant_id=row.tenant_id, key=key)


def rate_key_of(cloud: MemoryCloud, row: Action) -> str | None:
    """Return the key of an action's rate limit; None if it has none, or it cannot be computed."""
    handler = cloud.handler_of(row.type)
    if handler is None or handler.rate is None:
        return None
    try:
        return row.rate_key or handler.rate.key_of(handler.read(row.payload, row.payload_version))
    except DuetimeError:
        return None
