"""The counters of rate limits: one item for each bucket has those of `duetime.model.rate_limit`.

A write has no maximum, so each has a guard that says which of two sums it is:

::

    idle   the counter is absent or at most `since`  -> the counter is `since` plus an interval
    ahead  the counter was read as later             -> the counter grows by an interval

A read chooses the sum. A counter never falls, so one that was ahead still is if it exists, and a failed guard
changes that choice once for each counter; it returns the item, so the write is repeated without a read. A
start requires also that the counter is not further ahead than the tolerance.

The names of the counters contain the pace. After a change of the limit others begin, at what the former ones
are ahead.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from duetime import instant
from duetime.errors import BackendUnavailable
from duetime.ids import SEPARATOR, SHARDS
from duetime.model.rate_limit import Pace, RateBucket, RateCounters, from_microseconds, microseconds
from duetime.ports.keyed_items import (
    NUMBER,
    AnyOf,
    AtMost,
    Fields,
    Key,
    Keyed,
    Kind,
    Outcome,
    Presence,
    Write,
    read_strictly,
    unread,
)

RATE = Kind(
    name="rate",
    partition="{tenant}#rate#{shard}",
    sort="limit#key#shard",
    counters=re.compile("(?:started|reserved)_.*"),
    expires="2 days",
    writers="workers",
)

_TRIES = 10
"""More than the counters change the choice, unless the item is removed meanwhile."""
_OUTLIVES = timedelta(days=2)
_LATEST = microseconds(instant.LATEST)


class _Advance(NamedTuple):
    """How a write moves one counter; `latest` bounds it."""

    name: str
    read: int
    since: int
    latest: int | None = None

    @property
    def is_idle(self) -> bool:
        return self.read <= self.since

    def test(self) -> Any:
        """Return what the counter must pass."""
        if self.is_idle:
            return AnyOf((Presence.UNSET, AtMost(self.since)))
        return Presence.SET if self.latest is None else AtMost(self.latest)


class Rates(Keyed):
    """The counters of rate limits: see `duetime.ports.action_store.ActionStore`."""

    def start_within_rate(
        self, bucket: RateBucket, pace: Pace, now: datetime, *, is_reserved: bool
    ) -> datetime | None:
        """Count a start at `now` under a rate limit, if that allows it; return None then.

        Otherwise, return the first instant at which it may allow one, and change nothing. In any window, at
        most its length divided by the interval, plus the burst, are counted at one pace, whatever the order
        of calls. Starts at former paces count by their number. A start without `is_reserved` also waits for
        the instants that others have reserved. After a lost response, a repeat may count the start twice.
        """
        at = microseconds(now)
        counters, latest = self._begun(bucket, pace, at), at + pace.tolerance
        for _ in range(_TRIES):
            free_at = counters.free_at(pace, is_reserved=is_reserved)
            if free_at > at:
                return from_microseconds(free_at)
            moves = [_Advance(_name("started", pace), counters.started, at, latest)]
            if not is_reserved:
                moves.append(_Advance(_name("reserved", pace), counters.reserved, at, latest))
            outcome = self._write(bucket, pace, moves)
            if outcome.is_written:
                return None
            counters = _counters(outcome.items[0], pace)
        raise _kept_changing(bucket)

    def reserve_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        """Take the next free instant under a rate limit, `now` or later, and return it.

        Each call takes an interval; the burst is taken at `now`. Each pace has a line of its own.
        """
        at = microseconds(now)
        counters = self._begun(bucket, pace, at)
        for _ in range(_TRIES):
            since = max(at, counters.started)
            outcome = self._write(bucket, pace, [_Advance(_name("reserved", pace), counters.reserved, since)])
            counters = _counters(outcome.items[0], pace)
            if outcome.is_written:
                return from_microseconds(max(at, counters.reserved - pace.interval - pace.tolerance))
        raise _kept_changing(bucket)

    def next_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        """Return the instant that `reserve_start` would take, and change nothing."""
        return from_microseconds(self._read(bucket, pace).next_free(pace, microseconds(now)))

    def paces(self, bucket: RateBucket) -> Iterator[Pace]:
        """Yield the paces at which a bucket has counted."""
        item = self._items.get(RATE, _key(bucket), unread) or {}
        for interval, tolerance in {tuple(name.split("_")[1:]) for name in item if RATE.form(name) is NUMBER}:
            yield Pace(int(interval), int(tolerance))

    def _begun(self, bucket: RateBucket, pace: Pace, now: int) -> RateCounters:
        """Return the counters; those of a new pace begin with what others have counted."""
        counters = self._read(bucket, pace)
        carried, name = counters.carried(pace, now), _name("started", pace)
        if not carried:
            return counters
        begin = Write(kind=RATE, key=_key(bucket), guard=({name: Presence.UNSET},), sets={name: carried})
        is_written = self._items.write(begin).is_written
        return replace(counters, started=carried) if is_written else self._read(bucket, pace)

    def _read(self, bucket: RateBucket, pace: Pace) -> RateCounters:
        return _counters(self._items.get(RATE, _key(bucket), unread) or {}, pace)

    def _write(self, bucket: RateBucket, pace: Pace, moves: Sequence[_Advance]) -> Outcome:
        end = max(max(move.read, move.since) for move in moves) + _TRIES * (pace.interval + pace.tolerance)
        write = Write(
            kind=RATE,
            key=_key(bucket),
            guard=({move.name: move.test() for move in moves},),
            sets={move.name: move.since + pace.interval for move in moves if move.is_idle}
            | {"ttl": from_microseconds(min(end, _LATEST)) + _OUTLIVES},
            adds={move.name: pace.interval for move in moves if not move.is_idle},
        )
        return self._items.write(write)


def _key(bucket: RateBucket) -> Key:
    """Return the key of a limit's counters. The shards of a limit are in different partitions."""
    name = f"{bucket.limit}{SEPARATOR}{bucket.key}"
    place = (zlib.crc32(name.encode()) + bucket.shard) % len(SHARDS)
    return RATE.key(f"{name}{SEPARATOR}{bucket.shard}", tenant=bucket.tenant_id, shard=f"{place:x}")


def _name(counter: str, pace: Pace) -> str:
    return f"{counter}_{pace.interval}_{pace.tolerance}"


def _counters(item: Fields, pace: Pace) -> RateCounters:
    """Return the counters of an item at a pace.

    Raises:
        UnreadableRow: duetime did not write the item.
    """
    started = _name("started", pace)

    def read(item: Fields) -> RateCounters:
        former = [name for name in item if name.startswith("started_") and name != started]
        return RateCounters(
            item.get(started, 0),
            item.get(_name("reserved", pace), 0),
            tuple((item[name], int(name.split("_")[1])) for name in former),
        )

    return read_strictly(read, item)


def _kept_changing(bucket: RateBucket) -> BackendUnavailable:
    return BackendUnavailable("The actions table", f"the rate limit of {bucket.limit} kept changing")
