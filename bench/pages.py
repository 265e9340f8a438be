"""Pages of a list: 50 actions out of 1,000 and out of 100,000, by each index, on DynamoDB Local.

The tables stand side by side and take turns.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from bench.meter import metered
from bench.result import Result, ratio_at_most
from bench.scan import NOON, Noon, fill, row_due
from bench.stand import Stand, emulated, made
from duetime import Scheduler
from duetime.aws.tables import ACTIONS
from duetime.ids import due_shard_of, new_action_id
from duetime.model.action import Action, Attempt, Ending, Status
from duetime.model.selection import Filters

STORED = (1_000, 100_000)
PAGE = 50
ROUNDS = 9
MARKED = 200
"""Rows of each table with one correlation id; as many rows have failed."""

_EVENLY = ratio_at_most(1.1)
"""A page is spread over 16 shards at random, so some shards are read twice."""

_LISTS: dict[str, Filters] = {
    "by age": {},
    "by age, from the middle": {"created_until": NOON - timedelta(days=15)},
    "by correlation id": {"correlation_id": "order:17"},
    "failed": {"status": Status.FAILED},
}


@dataclass(slots=True)
class _Taken:
    """The cost of a page, by round."""

    read_units: float = 0.0
    calls: int = 0
    seconds: list[float] = field(default_factory=list)


def measure() -> list[Result]:
    """Measure each list over each table; the small table is the reference."""
    jitter_draw = random.Random(42)  # noqa: S311 - the same rows in every run
    with emulated() as dynamodb:
        stands = [Stand(dynamodb, _filled(dynamodb, count, jitter_draw), clock=Noon()) for count in STORED]
        taken = {(name, place): _Taken() for name in _LISTS for place in range(len(STORED))}
        for _ in range(ROUNDS):
            for (name, place), taking in taken.items():
                _page(stands[place], _LISTS[name], taking)
    return [result for name in _LISTS for result in _results(name, taken)]


def _filled(dynamodb: Any, stored: int, jitter_draw: random.Random) -> str:
    """Return a table with a number of a tenant's actions, created over a month; without an unused stream."""
    table = made(dynamodb, f"pages-{stored}", replace(ACTIONS, has_stream=False))
    rows = [_row(jitter_draw) for _ in range(stored)]
    rows[:MARKED] = [replace(row, correlation_id="order:17") for row in rows[:MARKED]]
    rows[-MARKED:] = [_failed(row) for row in rows[-MARKED:]]
    fill(dynamodb, table, rows)
    return table


def _row(jitter_draw: random.Random) -> Action:
    action_id = new_action_id(NOON - timedelta(days=30 * jitter_draw.random()))
    row = row_due(NOON + timedelta(days=1))
    return replace(row, id=action_id, due_shard=due_shard_of(action_id, 16))


def _failed(row: Action) -> Action:
    end = row.created_at + timedelta(seconds=1)
    attempt = Attempt(row.created_at, row.created_at, "bench", end, Ending.FAILED, "it failed")
    return replace(
        row, status=Status.FAILED, attempts=(attempt,), attempt=1, kept_until=end + timedelta(days=30)
    )


def _page(stand: Stand, filters: Filters, taken: _Taken) -> None:
    scheduler = Scheduler(
        stand.store,
        tenant_id="acme",
        actor="bench",
        clock=stand.clock,
        settings=stand.settings,
        sees_system=False,
    )
    with metered(stand.client) as bill:
        before = time.perf_counter()
        page = scheduler.list(limit=PAGE, **filters)
        taken.seconds.append(time.perf_counter() - before)
    if len(page) != PAGE:
        raise RuntimeError(f"a page has {len(page)} actions instead of {PAGE}")
    taken.read_units, taken.calls = bill.read_units, bill.calls


def _results(name: str, taken: dict[tuple[str, int], _Taken]) -> Iterator[Result]:
    few, many = taken[name, 0], taken[name, 1]
    case, against = f"{PAGE} {name}, of {STORED[1]:,}", f"the same page of {STORED[0]:,}"
    yield Result(
        bench="pages", name=f"{case}: read units", measured=many.read_units, unit="units",
        reference=few.read_units, against=against, budget=_EVENLY, note=f"{many.calls} calls",
    )  # fmt: skip
    medians = statistics.median(many.seconds) / statistics.median(few.seconds)
    yield Result(
        bench="pages", name=f"{case}: time", measured=min(many.seconds), unit="s",
        reference=min(few.seconds), against=against,
        note=f"the least of {ROUNDS} rounds; {medians:.2f}x by the medians",
    )  # fmt: skip
