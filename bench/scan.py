"""The due scan: a sweep and a catch-up with a fixed number of due rows and more and more other rows.

The real passes on DynamoDB Local; only the queue is none. The tables stand side by side and take turns.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.meter import metered
from bench.result import Result, ratio_at_most
from bench.stand import Stand, emulated, made
from duetime.aws.items import to_item
from duetime.aws.tables import ACTIONS
from duetime.ids import TenantId, due_shard_of, new_action_id
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import Action
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_scanner import ScanResult

PENDING = (0, 10_000, 100_000)
DUE = 400
ROUNDS = 9
NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
_OVERDUE, _FAR = timedelta(minutes=7), timedelta(days=30)
_AGAINST = "the same pass with nothing else pending"
_BATCH, _WRITERS = 25, 4


class Noon:
    """A stopped clock."""

    def now(self) -> datetime:
        return NOON

    def wait_until(self, instant: datetime) -> None: ...


@dataclass(slots=True)
class _Taken:
    """The cost of a pass, by round."""

    read_units: float = 0.0
    seconds: list[float] = field(default_factory=list)


def measure() -> list[Result]:
    """Measure each pass over each table; the table with nothing else pending is the reference."""
    jitter_draw = random.Random(42)  # noqa: S311 - the same rows in every run
    with emulated() as dynamodb:
        stands = [Stand(dynamodb, _filled(dynamodb, count, jitter_draw), clock=Noon()) for count in PENDING]
        taken = {(name, place): _Taken() for name in _PASSES for place in range(len(PENDING))}
        for _ in range(ROUNDS):
            for (name, place), taking in taken.items():
                _pass(stands[place], _PASSES[name], taking)
    return [result for name in _PASSES for result in _results(name, taken)]


def _filled(dynamodb: Any, pending: int, jitter_draw: random.Random) -> str:
    """Return a table with overdue rows and `pending` other rows due within a month.

    The table has no stream: several unread streams make DynamoDB Local's writes slower.
    """
    table = made(dynamodb, f"actions-{pending}", replace(ACTIONS, has_stream=False))
    rows = [row_due(NOON - _OVERDUE - jitter_draw.random() * timedelta(minutes=1)) for _ in range(DUE)]
    rows += [row_due(NOON + jitter_draw.random() * _FAR) for _ in range(pending)]
    fill(dynamodb, table, rows)
    return table


def fill(dynamodb: Any, table: str, rows: Sequence[Action]) -> None:
    """Write rows, several batches at a time."""

    def write(first: int) -> None:
        requests = [{"PutRequest": {"Item": to_item(row)}} for row in rows[first : first + _BATCH]]
        while requests:
            answer = dynamodb.batch_write_item(RequestItems={table: requests})
            requests = answer.get("UnprocessedItems", {}).get(table, [])

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(write, range(0, len(rows), _BATCH)))


def row_due(due_at: datetime) -> Action:
    action_id = new_action_id(NOON - timedelta(days=1))
    return Action(
        tenant_id=TenantId("acme"),
        id=action_id,
        type="letter",
        due_at=due_at,
        due_shard=due_shard_of(action_id, 16),
        created_by="bench",
        payload="{}",
    )


def _sweep(steps: Steps) -> ScanResult:
    return steps.sweep(stop_at=NOON + timedelta(hours=1))


def _catch_up(steps: Steps) -> ScanResult:
    return steps.deep_sweep(stop_at=NOON + timedelta(hours=1))


_Pass = Callable[[Steps], ScanResult]
_PASSES: dict[str, _Pass] = {"sweep": _sweep, "catch-up": _catch_up}


def _pass(stand: Stand, run: _Pass, taken: _Taken) -> None:
    """Run one pass, one shard after the other: concurrent shards would wait for the same CPU."""
    steps = Steps(replace(stand.backends, bookmarks=MemoryBookmarks()))
    with metered(stand.client) as bill:
        before = time.perf_counter()
        passed = run(steps)
        taken.seconds.append(time.perf_counter() - before)
    if passed.sent != DUE:
        raise RuntimeError(f"{passed.sent} messages were sent for {DUE} rows that are due")
    taken.read_units = bill.read_units


def _results(name: str, taken: dict[tuple[str, int], _Taken]) -> Iterator[Result]:
    least = taken[name, 0]
    for place, pending in enumerate(PENDING[1:], start=1):
        taking, case = taken[name, place], f"{name}, {DUE} due, {pending:,} pending"
        budget = ratio_at_most(1.2)
        yield Result(
            bench="scan", name=f"{case}: read units", measured=taking.read_units, unit="units",
            reference=least.read_units, against=_AGAINST, budget=budget,
        )  # fmt: skip
        medians = statistics.median(taking.seconds) / statistics.median(least.seconds)
        yield Result(
            bench="scan", name=f"{case}: time", measured=min(taking.seconds), unit="s",
            reference=min(least.seconds), against=_AGAINST, budget=budget,
            note=f"the least of {ROUNDS} rounds; {medians:.2f}x by the medians",
        )  # fmt: skip
