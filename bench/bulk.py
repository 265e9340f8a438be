"""Bulk: actions a second by `schedule_many`, and one by one, on DynamoDB Local."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import timedelta

from bench.result import Result, ratio_at_least
from bench.stand import Letter, Stand, emulated, made
from duetime import Order

ROUNDS, COUNT = 7, 500
BUDGET = 5
_LATER = timedelta(days=3)


def measure() -> list[Result]:
    """Measure both in turns, for the same number of actions."""
    with emulated() as dynamodb:
        stand = Stand(dynamodb, made(dynamodb, "actions"))
        payload = Letter.of_size(100)

        def in_bulk() -> None:
            stand.scheduler.schedule_many(Order(payload=payload, at=_LATER) for _ in range(COUNT))

        def one_by_one() -> None:
            for _ in range(COUNT):
                stand.scheduler.schedule(payload, at=_LATER)

        _rate(in_bulk), _rate(one_by_one)
        rates = [(_rate(in_bulk), _rate(one_by_one)) for _ in range(ROUNDS)]
    bulk, single = ([rate[place] for rate in rates] for place in (0, 1))
    medians = statistics.median(bulk) / statistics.median(single)
    return [
        Result(
            bench="bulk",
            name=f"schedule_many of {COUNT}",
            measured=max(bulk),
            unit="actions/s",
            reference=max(single),
            against="as many one by one",
            budget=ratio_at_least(BUDGET),
            note=f"the best of {ROUNDS} rounds of each; {medians:.2f}x by the medians",
        )
    ]


def _rate(work: Callable[[], None]) -> float:
    before = time.perf_counter()
    work()
    return COUNT / (time.perf_counter() - before)
