"""Embedded: 500 actions due at once in memory and in a SQLite file, and `schedule` in memory."""

from __future__ import annotations

import logging
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from bench.lateness import BURST, Starts, Tick, app_of, wait
from bench.result import Result, at_most
from duetime import Order
from duetime.clock import SystemClock
from duetime.embedded.embedded import CONCURRENCY

ROUNDS, CALLS = 10, 200
_AHEAD, _LATER = timedelta(seconds=3), timedelta(days=2)


def measure() -> list[Result]:
    """Measure from the due time to the last start, in the worst round; and one call of `schedule`."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    rounds = [_burst() for _ in range(ROUNDS)]
    with tempfile.TemporaryDirectory() as folder:
        of_files = [_burst(Path(folder) / f"{index}.db") for index in range(ROUNDS)]
    return [
        Result(
            bench="embedded",
            name=f"{BURST} due at once, to the last start",
            measured=max(rounds),
            unit="s",
            reference=statistics.median(_bare() for _ in range(ROUNDS)),
            against="as many payloads read and handed to a function by a thread pool of the same size",
            budget=at_most(0.1),
            note=f"the worst of {ROUNDS} rounds; their median is {statistics.median(rounds):.3f} s",
        ),
        Result(
            bench="embedded",
            name=f"{BURST} due at once, to the last start, in a SQLite file",
            measured=max(of_files),
            unit="s",
            budget=at_most(0.5),
            note=f"the worst of {ROUNDS} rounds; their median is {statistics.median(of_files):.3f} s",
        ),
        Result(
            bench="embedded",
            name="schedule",
            measured=statistics.median(_schedule()),
            unit="us",
            budget=at_most(15),
            note=f"CPU of the calling thread, the median of {ROUNDS} rounds of {CALLS} calls",
        ),
    ]


def _schedule() -> list[float]:
    """Return the microseconds of a call, by round; the first round warms up."""
    rounds = []
    with app_of(Starts()).embedded() as scheduler:
        for _ in range(ROUNDS + 1):
            before = time.thread_time()
            for _ in range(CALLS):
                scheduler.schedule(Tick(), at=_LATER)
            rounds.append((time.thread_time() - before) / CALLS * 1e6)
    return rounds[1:]


def _burst(file: Path | None = None) -> float:
    starts = Starts()
    with app_of(starts).embedded(file) as scheduler:
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
