"""Lateness: the start of a handler against its due time on the local cloud, and how fast a burst is drained there."""

from __future__ import annotations

import logging
import random
import statistics
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bench.raw_loop import RawLoop
from bench.result import Budget, Result, at_least, at_most, ratio_at_least
from duetime import App, Order, Payload, Run
from duetime.clock import SystemClock
from duetime.local import LocalCloud

BURST, SCATTERED = 500, 200
ROUNDS = 2
_AHEAD, _WINDOW = timedelta(seconds=6), timedelta(seconds=20)
_PATIENCE = 60.0
"""Seconds: a burst that takes longer than this is told as an error."""

_RAW = "a raw boto3 loop that makes the same calls on the same emulator"


class Tick(Payload):
    """Says nothing."""


@dataclass(slots=True)
class Starts:
    """When handlers started, seconds after their due times, in the order in which they did."""

    late: list[float] = field(default_factory=list)
    expected: int = 0
    ended_at: datetime | None = None
    all_there: threading.Event = field(default_factory=threading.Event)

    def expect(self, count: int) -> None:
        self.late, self.expected, self.ended_at = [], count, None
        self.all_there.clear()

    def add(self, run: Run) -> None:
        now = run.now()
        self.late.append((now - run.due_at).total_seconds())
        if len(self.late) == self.expected:
            self.ended_at = now
            self.all_there.set()


def app_of(starts: Starts) -> App:
    app = App()

    @app.action
    def tick(payload: Tick, run: Run) -> None:
        del payload
        starts.add(run)

    return app


def measure() -> list[Result]:
    """Bursts and the raw loop in turns, then the scattered ones."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    starts = Starts()
    with LocalCloud(app_of(starts)) as cloud:
        raw, ours, theirs, late = RawLoop(cloud), [], [], []
        for _ in range(ROUNDS):
            ours.append(_burst(cloud, starts))
            late += starts.late
            theirs.append(raw.drain(BURST))
        scattered = _scattered(cloud, starts)
    return [
        *_told(f"{SCATTERED} at random instants", scattered, at_most(50)),
        *_told(f"{BURST} due at once", late, None),
        Result(
            bench="lateness",
            name=f"drain of {BURST} due at once",
            measured=statistics.median(ours),
            unit="actions/s",
            reference=statistics.median(theirs),
            against=_RAW,
            budget=ratio_at_least(0.7),
            note=f"the median of {ROUNDS} rounds; from the due time to the last settle",
        ),
    ]


def _burst(cloud: LocalCloud, starts: Starts) -> float:
    """Actions a second, from the due time until none is left unsettled."""
    due_at = SystemClock().now() + _AHEAD
    ids = _schedule(cloud, starts, [due_at] * BURST)
    while cloud.scheduler().get(ids[-1]).status != "executed":
        time.sleep(0.001)
    ended_at = max(starts.ended_at or due_at, SystemClock().now())
    return BURST / (ended_at - due_at).total_seconds()


def _scattered(cloud: LocalCloud, starts: Starts) -> Sequence[float]:
    chance, first = random.Random(42), SystemClock().now() + _AHEAD  # noqa: S311 - the same instants in every run
    _schedule(cloud, starts, [first + chance.random() * _WINDOW for _ in range(SCATTERED)])
    return starts.late


def _schedule(cloud: LocalCloud, starts: Starts, due: Sequence[datetime]) -> list[str]:
    """Schedule them in bulk, and wait until all have run."""
    starts.expect(len(due))
    made = cloud.scheduler().schedule_many(Order(payload=Tick(), at=each) for each in due)
    if SystemClock().now() > min(due):
        raise RuntimeError("scheduling took until after the first due time; the machine is too busy")
    wait(starts)
    return [each.id for each in made]


def wait(starts: Starts) -> None:
    """Until all have started.

    Raises:
        TimeoutError: they have not.
    """
    if not starts.all_there.wait(_PATIENCE + _AHEAD.total_seconds() + _WINDOW.total_seconds()):
        raise TimeoutError(f"only {len(starts.late)} of {starts.expected} started")


def _told(name: str, late: Iterable[float], p99: Budget | None) -> list[Result]:
    in_ms = sorted(1e3 * each for each in late)
    shown = {
        "earliest": (in_ms[0], at_least(0)),
        "p50": (in_ms[len(in_ms) // 2], None),
        "p99": (in_ms[-1 - len(in_ms) // 100], p99),
        "max": (in_ms[-1], None),
    }
    return [
        Result(bench="lateness", name=f"{name}: {word}", measured=figure, unit="ms", budget=budget)
        for word, (figure, budget) in shown.items()
    ]
