"""Rate limits in DynamoDB: one item for each bucket has the counters of `duetime.model.rate_limit`.

An update expression has no maximum, so each write has a condition that says which of two sums it is:

::

    IS_IDLE   the counter is at most :since     -> the counter is :since plus an interval
    IS_AHEAD  the counter was read as later     -> the counter grows by an interval

A read chooses the sum. A counter never falls, so one that was ahead still is if it exists, and a failed
condition changes that choice once for each counter; it returns the item, so the write is repeated without a
read. The condition of a start (`IS_WITHIN_TOLERANCE`) requires that the counter is not further ahead than the
tolerance.

The names of the counters contain the pace. After a change of the limit others begin, at what the former ones
are ahead (`IS_NEW`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duetime.aws.dynamodb import SERVICE, Client, DynamoTable
from duetime.aws.faults import ConditionFailed
from duetime.aws.keys import Item, rate_key
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.model.rate_limit import Pace, RateBucket, RateCounters, from_microseconds, microseconds
from duetime.ports.keyed_items import UNREADABLE

IS_NEW = "attribute_not_exists(#started)"
IS_IDLE = "attribute_not_exists(#{0}) OR #{0} <= :{0}_since"
IS_AHEAD = "attribute_exists(#{0})"
IS_WITHIN_TOLERANCE = "#{0} <= :{0}_latest"

_TRIES = 10
"""More than the counters change the choice, unless the item is removed meanwhile."""
_OUTLIVES = 2 * 86_400
"""Seconds for which the item stays after its counters are in the past."""
_SECOND = 1_000_000
_COUNTERS = ("started_", "reserved_")


@dataclass(frozen=True, slots=True)
class _Advance:
    """How a write moves one counter."""

    name: str
    read: int
    since: int
    latest: int | None = None

    def condition(self) -> str:
        if self.read <= self.since:
            return IS_IDLE.format(self.name)
        return (IS_AHEAD if self.latest is None else IS_WITHIN_TOLERANCE).format(self.name)

    def sets(self) -> str:
        if self.read <= self.since:
            return f"#{self.name} = :{self.name}_next"
        return f"#{self.name} = #{self.name} + :interval"

    def values(self, interval: int) -> Mapping[str, Any]:
        if self.read <= self.since:
            return {
                f":{self.name}_since": _number(self.since),
                f":{self.name}_next": _number(self.since + interval),
            }
        return {} if self.latest is None else {f":{self.name}_latest": _number(self.latest)}


class DynamoRates:
    """The rate limits' counters of an actions table.

    See `duetime.ports.actions.ActionStore`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def start_within_rate(
        self, bucket: RateBucket, pace: Pace, now: datetime, *, is_reserved: bool
    ) -> datetime | None:
        at = microseconds(now)
        counters = self._begun(bucket, pace, at)
        for _ in range(_TRIES):
            free_at = counters.free_at(pace, is_reserved=is_reserved)
            if free_at > at:
                return from_microseconds(free_at)
            latest = at + pace.tolerance
            moves = [_Advance("started", counters.started, at, latest)]
            if not is_reserved:
                moves.append(_Advance("reserved", counters.reserved, at, latest))
            changed = self._write(bucket, pace, moves)
            if changed is None:
                return None
            counters = changed
        raise BackendUnavailable(SERVICE, f"the rate limit of {bucket.limit} kept changing")

    def reserve_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        at = microseconds(now)
        counters = self._begun(bucket, pace, at)
        for _ in range(_TRIES):
            since = max(at, counters.started)
            advance = _Advance("reserved", counters.reserved, since)
            written: list[Item] = []
            changed = self._write(bucket, pace, [advance], written)
            if changed is None:
                end = _counters(bucket, pace, written[0]).reserved
                return from_microseconds(max(at, end - pace.interval - pace.tolerance))
            counters = changed
        raise BackendUnavailable(SERVICE, f"the rate limit of {bucket.limit} kept changing")

    def next_start(self, bucket: RateBucket, pace: Pace, now: datetime) -> datetime:
        return from_microseconds(self._read(bucket, pace).next_free(pace, microseconds(now)))

    def _begun(self, bucket: RateBucket, pace: Pace, now: int) -> RateCounters:
        """Return the counters; those of a new pace begin with what others have counted."""
        counters = self._read(bucket, pace)
        carried = counters.carried(pace, now)
        if not carried:
            return counters
        change: dict[str, Any] = {
            "ConditionExpression": IS_NEW,
            "UpdateExpression": "SET #started = :carried",
            "ExpressionAttributeNames": {"#started": _attribute("started", pace)},
            "ExpressionAttributeValues": {":carried": _number(carried)},
        }
        with suppress(ConditionFailed):
            self._table.update(rate_key(bucket), **change)
            return replace(counters, started=carried)
        return self._read(bucket, pace)

    def _read(self, bucket: RateBucket, pace: Pace) -> RateCounters:
        return _counters(bucket, pace, self._table.get(rate_key(bucket)) or {})

    def _write(
        self, bucket: RateBucket, pace: Pace, moves: list[_Advance], written: list[Item] | None = None
    ) -> RateCounters | None:
        """Move counters; return None if that happened, or the present ones if they are not as read."""
        end = max(max(move.read, move.since) for move in moves) + _TRIES * (pace.interval + pace.tolerance)
        names = {f"#{move.name}": _attribute(move.name, pace) for move in moves} | {"#ttl": "ttl"}
        values = {":ttl": _number(end // _SECOND + _OUTLIVES)}
        if any(move.read > move.since for move in moves):
            values[":interval"] = _number(pace.interval)
        for move in moves:
            values |= move.values(pace.interval)
        try:
            item = self._table.update(
                rate_key(bucket),
                ConditionExpression=_all_of([move.condition() for move in moves]),
                UpdateExpression=f"SET {', '.join(move.sets() for move in moves)}, #ttl = :ttl",
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return _counters(bucket, pace, failed.item or {})
        if written is not None:
            written.append(item)
        return None


def _attribute(counter: str, pace: Pace) -> str:
    return f"{counter}_{pace.interval}_{pace.tolerance}"


def _counters(bucket: RateBucket, pace: Pace, item: Item) -> RateCounters:
    started, reserved = (_attribute(counter, pace) for counter in ("started", "reserved"))
    try:
        counters = {name: int(value["N"]) for name, value in item.items() if name.startswith(_COUNTERS)}
        former = tuple(
            (at, int(name.split("_")[1]))
            for name, at in counters.items()
            if name.startswith("started_") and name != started
        )
        return RateCounters(counters.get(started, 0), counters.get(reserved, 0), former)
    except UNREADABLE as error:
        raise UnreadableRow(rate_key(bucket), error) from error


def _number(number: int) -> dict[str, str]:
    return {"N": str(number)}


def _all_of(conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(f"({one})" if " OR " in one else one for one in conditions)
