"""Rate limits by GCRA, the generic cell rate algorithm. Pure; all sums are whole microseconds.

A limit of `count` starts in each `per` with a `burst` has two counters for each key. Both are instants: the
time at which all counted starts are paid for, one interval each.

::

    started    of the starts that happened: a start is granted only if it is at most `tolerance` ahead of now
    reserved   of those and of the runs that wait for an instant of their own: the end of the line

Of n starts granted from `a` to `b`, each moved `started` by an interval, beginning at `a` or later. The last
found it at most a tolerance after `b`. So n is at most ``(b - a) / interval + burst``, whatever the order of
the requests and whatever the workers' clocks. `reserved` only spreads the runs: if it is wrong, no limit is
exceeded.

Each pace of a limit has counters of its own. After a change, a counter begins with the number of starts that
the former ones are ahead.

A limit above `SHARD_RATE` a second is the sum of several limits, each for a share of the actions' ids: one
DynamoDB item takes about 1,000 writes a second.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from duetime.errors import DeclarationError
from duetime.ids import SYSTEM_TENANT, ActionId, TenantId
from duetime.instant import EARLIEST

SHARD_RATE = 250
"""The most starts a second that one shard counts: at most four writes each, for one item."""

MOST_SHARDS = 16
HIGHEST_RATE = SHARD_RATE * MOST_SHARDS
"""The most starts a second that a limit can enforce."""

LONGEST_PERIOD = timedelta(days=31)
LARGEST_BURST = 1_000_000

_MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000
_PERIODS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of one shard of a limit, in microseconds.

    Attributes:
        interval: between two starts.
        tolerance: how far starts may be ahead of it: an interval for each further one of the burst.
    """

    interval: int
    tolerance: int


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` starts in each `per`, and `burst` at once after a rest."""

    count: int
    per: timedelta
    burst: int

    @property
    def shards(self) -> int:
        """The number of its counters for each key."""
        return _shards(self.count, self.per)

    @property
    def pace(self) -> Pace:
        """The pace of each shard, rounded so that their sum never exceeds the limit."""
        interval = -(-self.shards * (self.per // _MICROSECOND) // self.count)
        return Pace(interval, (self.burst // self.shards - 1) * interval)

    @property
    def text(self) -> str:
        """Return ``100 a minute, 10 at once``."""
        unit = next((unit for unit, s in _PERIODS.items() if self.per == timedelta(seconds=s)), None)
        span = f"{'an' if unit == 'hour' else 'a'} {unit}" if unit else f"in {self.per.total_seconds():g} s"
        return f"{self.count} {span}, {self.burst} at once"

    @classmethod
    def parse(cls, count: object, per: object, burst: object = None) -> Self:
        """Return a checked limit; without a burst, a second's worth of starts may begin at once.

        Args:
            count: a whole number of starts.
            per: ``second``, ``minute``, ``hour`` or ``day``, or a span.
            burst: a whole number of starts.

        Raises:
            DeclarationError: one is out of range, or the limit cannot be enforced.
        """
        period = _period(per)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise DeclarationError(
                f"rate is {count!r}; allowed is a whole number of starts from 1, such as"
                " Rate(100, per='minute')"
            )
        if count > HIGHEST_RATE * period.total_seconds():
            raise DeclarationError(
                f"rate is {count} in {period.total_seconds():g} s; the highest that can be enforced is"
                f" {HIGHEST_RATE} a second"
            )
        shards = _shards(count, period)
        if burst is None:
            burst = max(shards, -(-count // max(1, round(period.total_seconds()))))
        is_whole = isinstance(burst, int) and not isinstance(burst, bool)
        if not is_whole or not isinstance(burst, int) or not shards <= burst <= LARGEST_BURST:
            least = f"{shards}, since {count} in {period.total_seconds():g} s need so many counters"
            raise DeclarationError(
                f"burst is {burst!r}; allowed is a whole number from {least if shards > 1 else 1}"
                f" to {LARGEST_BURST}"
            )
        return cls(count, period, burst)


STRICTEST = RateLimit(1, timedelta(days=1), 1)
"""In place of a limit that cannot be read: what may be limited does not run unlimited."""


def _shards(count: int, per: timedelta) -> int:
    return max(1, -(-count * _SECOND // (SHARD_RATE * (per // _MICROSECOND))))


def _period(per: object) -> timedelta:
    if isinstance(per, str) and per in _PERIODS:
        return timedelta(seconds=_PERIODS[per])
    if isinstance(per, timedelta) and timedelta(seconds=1) <= per <= LONGEST_PERIOD:
        return per
    raise DeclarationError(
        f"per is {per!r}; allowed are {', '.join(map(repr, _PERIODS))}, and a timedelta from 1 s to"
        f" {LONGEST_PERIOD.days} days"
    )


@dataclass(frozen=True, slots=True)
class RateBucket:
    """One counter: of a limit, for one key, and one shard.

    Attributes:
        tenant_id: the system's, if all tenants share the limit.
        limit: the limit's name, which is that of its payload type.
        key: empty without one.
    """

    tenant_id: TenantId
    limit: str
    key: str
    shard: int


def bucket_of(
    limit: str, shards: int, action_id: ActionId, *, tenant_id: TenantId = SYSTEM_TENANT, key: str = ""
) -> RateBucket:
    """Return the counter of an action's starts."""
    return RateBucket(tenant_id, limit, key, zlib.crc32(action_id.encode()) % shards)


@dataclass(frozen=True, slots=True)
class RateCounters:
    """The counters of a bucket at one pace, in microseconds since 1970; 0 before the first start.

    Attributes:
        started: of the starts that happened.
        reserved: of those and of the reservations.
        former: the counters of starts at other paces, with their intervals.
    """

    started: int = 0
    reserved: int = 0
    former: tuple[tuple[int, int], ...] = ()

    def carried(self, pace: Pace, now: int) -> int:
        """Return where the counter of a new pace begins: 0, or what others have counted ahead of now.

        It counts their starts, each with the interval of the new pace.
        """
        if self.started:
            return 0
        ahead = (max(0, started - now) * pace.interval // interval for started, interval in self.former)
        return now + most if (most := max(ahead, default=0)) else 0

    def free_at(self, pace: Pace, *, is_reserved: bool) -> int:
        """Return from when on a start can be granted.

        Args:
            pace: the limit's.
            is_reserved: whether the run has an instant of its own; it then waits for no other's.
        """
        return (self.started if is_reserved else max(self.started, self.reserved)) - pace.tolerance

    def next_free(self, pace: Pace, now: int) -> int:
        """Return the instant that a reservation takes."""
        return max(now, max(self.reserved, self.started, now) - pace.tolerance)


def microseconds(at: datetime) -> int:
    """Return the microseconds since 1970."""
    return (at - EARLIEST) // _MICROSECOND


def from_microseconds(number: int) -> datetime:
    """Return the instant so many microseconds after 1970."""
    return EARLIEST + timedelta(microseconds=number)
