"""Bulk: actions a second by `schedule_many`, and one by one.

A server answers each request after the time that DynamoDB takes. Beside that, DynamoDB Local, whose own work
on the same processors is the larger part.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import timedelta

from bench.cpu import client_at, scheduler_of
from bench.result import Budget, Result, ratio_at_least
from bench.stand import Letter, made
from bench.stubs import serving
from duetime import Order, Scheduler
from duetime.aws.clients import PATIENT
from duetime.settings import Settings
from tests.dynamodb_local import client, running

ROUNDS, COUNT = 7, 500
LATENCY = 0.005
"""Seconds of a put: DynamoDB promises less than ten milliseconds."""
BUDGET = 6
_LATER = timedelta(days=3)


def measure() -> list[Result]:
    """Measure both in turns, for the same number of actions."""
    with serving(LATENCY) as endpoint:
        served = _result(endpoint, f"each call takes {LATENCY * 1e3:g} ms", ratio_at_least(BUDGET))
    with running() as endpoint:
        made(client(endpoint), Settings().made.actions_table)
        return [served, _result(endpoint, "DynamoDB Local", None)]


def _result(endpoint: str, where: str, budget: Budget | None) -> Result:
    scheduler, payload = scheduler_of(client_at(endpoint, PATIENT)), Letter.of_size(100)
    bulk, single = _rates(scheduler, payload)
    return Result(
        bench="bulk",
        name=f"schedule_many of {COUNT}, {where}",
        measured=statistics.median(bulk),
        unit="actions/s",
        reference=statistics.median(single),
        against="as many one by one",
        budget=budget,
        note=f"the medians of {ROUNDS} rounds of each",
    )


def _rates(scheduler: Scheduler, payload: Letter) -> tuple[list[float], list[float]]:
    def in_bulk() -> None:
        scheduler.schedule_many(Order(payload=payload, at=_LATER) for _ in range(COUNT))

    def one_by_one() -> None:
        for _ in range(COUNT):
            scheduler.schedule(payload, at=_LATER)

    _rate(in_bulk), _rate(one_by_one)
    rates = [(_rate(in_bulk), _rate(one_by_one)) for _ in range(ROUNDS)]
    return [bulk for bulk, _ in rates], [single for _, single in rates]


def _rate(work: Callable[[], None]) -> float:
    before = time.perf_counter()
    work()
    return COUNT / (time.perf_counter() - before)
