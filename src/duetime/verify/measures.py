"""What the rows of a verification measure: lateness, cold starts, clocks, delays, timers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from duetime import instant
from duetime.verify.lab import Bounds, Json, Lab
from duetime.verify.trial import lateness, milliseconds

LIMITS = (10, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000)
"""The upper limits of the histogram's bars, in milliseconds; the last bar is open."""

_SECOND = timedelta(seconds=1)
_DISTINCT = timedelta(milliseconds=250)
"""The least difference between the rules for which a receipt shows which of them holds."""

_SOONEST_TIMER = timedelta(minutes=1)
"""No timer fires before its time; clocks may differ by less than this."""

_MOST_HELD = timedelta(seconds=30)
_ARMED_WITHIN = timedelta(seconds=30)
"""Arm decides between a queue and a timer some time after the action was scheduled."""


class Arrival(NamedTuple):
    """How one message reached its worker, from the row of its probe."""

    row: Json
    queued_at: datetime
    """The end of its delay, by SQS' clock."""
    started_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    process_since: datetime | None

    @property
    def is_cold(self) -> bool:
        """Whether its process started after the message could be received."""
        return self.process_since is not None and self.process_since > self.queued_at

    @property
    def is_delayed(self) -> bool:
        """Whether the message waited in the queue for its due time."""
        return self.sent_at is not None and self.queued_at - self.sent_at >= _SECOND


@dataclass(frozen=True, slots=True)
class Measures:
    """The measurements. Time spans are in milliseconds; None where nothing was measured."""

    lateness: Sequence[float]
    """Of each probe that ran once, in order."""
    histogram: Mapping[str, int]
    """The number of probes by the upper limit of their lateness."""
    cold_starts: int
    cold_lateness: float | None
    """The greatest lateness of a run that waited for a cold start."""
    api_clock_ahead: tuple[float, float] | None
    """The bounds of the difference between the API's clock and this machine's."""
    worker_clock_ahead: tuple[float, float] | None
    """The same of the workers' clocks."""
    delays_in_phase: bool | None
    """Whether SQS ends a delay in phase with its send; false: at the next whole second."""
    delay_excess: float | None
    """How long after its delay a message was received: the median."""
    timer_lateness: float | None
    """How long after its time EventBridge fired the timer of the far probe."""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON view."""
        return {name: getattr(self, name) for name in self.__slots__}


def measures(lab: Lab, health: Json) -> Measures:
    """Measure the rows of a verification."""
    arrivals = [_arrival_of(row) for row in lab.rows.values() if _ran_once(row)]
    late = sorted(milliseconds(lateness(arrival.row)) for arrival in arrivals)
    cold = [milliseconds(lateness(arrival.row)) for arrival in arrivals if arrival.is_cold]
    held = [
        (arrival.queued_at, arrival.received_at - arrival.queued_at)
        for arrival in arrivals
        if arrival.is_delayed and arrival.received_at is not None
    ]
    held = [(queued_at, excess) for queued_at, excess in held if excess < _MOST_HELD]
    return Measures(
        lateness=late,
        histogram=histogram(late),
        cold_starts=len(cold),
        cold_lateness=max(cold, default=None),
        api_clock_ahead=_as_milliseconds(lab.ahead),
        worker_clock_ahead=_as_milliseconds(_worker_clock(lab, arrivals)),
        delays_in_phase=in_phase(held),
        delay_excess=milliseconds(_median([excess for _, excess in held])) if held else None,
        timer_lateness=_timer_lateness(arrivals, health["limits"]),
    )


def histogram(late: Iterable[float]) -> dict[str, int]:
    """Return the number of values below each limit of `LIMITS`, in order."""
    bars = {f"< {limit} ms": 0 for limit in LIMITS} | {f">= {LIMITS[-1]} ms": 0}
    names = list(bars)
    for value in late:
        bars[names[sum(value >= limit for limit in LIMITS)]] += 1
    return bars


def in_phase(held: Sequence[tuple[datetime, timedelta]]) -> bool | None:
    """Return which rule explains the receipts better: the exact delay, or the next whole second.

    A message whose delay ends just before a whole second shows nothing.

    Args:
        held: of each message the exact end of its delay, and how long after it the message was received.
    """
    held = [(queued_at, excess) for queued_at, excess in held if _to_next_second(queued_at) >= _DISTINCT]
    if not held:
        return None
    exact = [excess for _, excess in held]
    ticks = [abs(excess - _to_next_second(queued_at)) for queued_at, excess in held]
    return _median(exact) <= _median(ticks)


def _to_next_second(at: datetime) -> timedelta:
    return (instant.floor(at, _SECOND) - at) % _SECOND


def _ran_once(row: Json) -> bool:
    """Return whether its lateness is the path's; one with a concurrency key may wait for another."""
    is_alone = row["concurrency_key"] is None
    return is_alone and row["status"] == "executed" and len(row["attempts"]) == 1


def _arrival_of(row: Json) -> Arrival:
    run = row["attempts"][-1]
    facts = json.loads(run["message"] or "{}")
    times = (facts.get(name) for name in ("sent_at", "received_at", "process_since"))
    sent_at, received_at, process_since = (None if at is None else instant.parse(at) for at in times)
    queued_at, started_at = instant.parse(run["queued_at"]), instant.parse(run["started_at"])
    return Arrival(row, queued_at, started_at, sent_at, received_at, process_since)


def _worker_clock(lab: Lab, arrivals: Iterable[Arrival]) -> Bounds:
    """Return the bounds: a run starts after this machine scheduled it, and ends before it was seen final."""
    found = Bounds(timedelta.min, timedelta.max)
    for arrival in arrivals:
        sighting = lab.sightings[arrival.row["id"]]
        finished_at = instant.parse(arrival.row["attempts"][-1]["finished_at"])
        if sighting.final_at is not None:
            ended = Bounds(finished_at - sighting.final_at, arrival.started_at - sighting.scheduled_at)
            found = found.within(ended)
    return found


def _as_milliseconds(bounds: Bounds) -> tuple[float, float] | None:
    if timedelta.min in bounds or timedelta.max in bounds:
        return None
    return milliseconds(bounds.low), milliseconds(bounds.high)


def _timer_lateness(arrivals: Iterable[Arrival], limits: Json) -> float | None:
    near, early = (timedelta(seconds=limits[name]) for name in ("near_limit", "wake_early"))
    for arrival in arrivals:
        due_at = instant.parse(arrival.row["due_at"])
        was_far = due_at - instant.parse(arrival.row["created_at"]) > near + _ARMED_WITHIN
        if was_far and arrival.sent_at is not None:
            late = arrival.sent_at - (due_at - early)
            return milliseconds(late) if late > -_SOONEST_TIMER else None  # the wheel sends it sooner
    return None


def _median(spans: Sequence[timedelta]) -> timedelta:
    return sorted(spans)[len(spans) // 2]
