"""Embedded: 500 actions due at once on the memory back end, beside a bare thread pool."""

from __future__ import annotations

import logging
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from bench.lateness import BURST, Starts, Tick, app_of, wait
from bench.result import Result, at_most
from duetime import Order
from duetime.clock import SystemClock
from duetime.embedded.embedded import CONCURRENCY

ROUNDS = 5
_AHEAD = timedelta(seconds=1)


def measure() -> list[Result]:
    """Measure from the due time to the last start: the median of some rounds."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    return [
        Result(
            bench="embedded",
            name=f"{BURST} due at once, to the last start",
            measured=statistics.median(_burst() for _ in range(ROUNDS)),
            unit="s",
            reference=statistics.median(_bare() for _ in range(ROUNDS)),
            against="as many payloads read and handed to a function by a thread pool of the same size",
            budget=at_most(0.1),
            note=f"the median of {ROUNDS} rounds",
        )
    ]


def _burst() -> float:
    starts = Starts()
    with app_of(starts).embedded() as scheduler:
        due_at = SystemClock().now() + _AHEAD
        starts.expect(BURST)
        scheduler.schedule_many(Order(payload=Tick(), at=due_at) for _ in range(BURST))
        wait(starts)
    return max(starts.late)


def _bare() -> float:
    written, seen = Tick().to_json(), []
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        before = time.perf_counter()
        list(pool.map(lambda text: seen.append(Tick.from_json(text)), [written] * BURST))
        return time.perf_counter() - before
