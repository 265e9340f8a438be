"""The counters of rate limits in memory, under the lock of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from duetime.memory.table import MemoryTable
from duetime.model.rate_limit import Pace, RateBucket, RateCounters, from_microseconds, microseconds


class MemoryRates:
    """The counters, in dictionaries by bucket and pace.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, table: MemoryTable) -> None:
        self._table = table
        self.started: dict[RateBucket, Mapping[Pace, int]] = {}
        self.reserved: dict[RateBucket, Mapping[Pace, int]] = {}

    def start_within_rate(
        self, bucket: RateBucket, pace: Pace, now: datetime, *, is_reserved: bool
    ) -> datetime | None:
        with self._table.lock:
            at = microseconds(now)
            counters = self._begun(bucket, pace, at)
            free_at = counters.free_at(pace, is_reserved=is_reserved)
            if free_at > at:
                return from_microseconds(free_at)
            self._write(bucket, pace, counters.after_start(pace, at, is_reserved=is_reserved))
            return None

    def reserve_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        with self._table.lock:
            at = microseconds(now)
            counters = self._begun(bucket, pace, at)
            self._write(bucket, pace, counters.after_reservation(pace, at))
            return from_microseconds(counters.next_free(pace, at))

    def next_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        return from_microseconds(self._read(bucket, pace).next_free(pace, microseconds(now)))

    def _begun(self, bucket: RateBucket, pace: Pace, now: int) -> RateCounters:
        """Return the counters; those of a new pace begin with what others have counted."""
        counters = self._read(bucket, pace)
        if carried := counters.carried(pace, now):
            self.started[bucket] = {**self.started[bucket], pace: carried}
            return replace(counters, started=carried)
        return counters

    def _read(self, bucket: RateBucket, pace: Pace) -> RateCounters:
        by_pace, reserved = self.started.get(bucket, {}), self.reserved.get(bucket, {})
        former = tuple((started, other.interval) for other, started in by_pace.items() if other != pace)
        return RateCounters(by_pace.get(pace, 0), reserved.get(pace, 0), former)

    def _write(self, bucket: RateBucket, pace: Pace, counters: RateCounters) -> None:
        self.started[bucket] = {**self.started.get(bucket, {}), pace: counters.started}
        self.reserved[bucket] = {**self.reserved.get(bucket, {}), pace: counters.reserved}
