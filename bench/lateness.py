"""Lateness: the start of a handler after its due time on the local cloud, and the drain of a burst."""

from __future__ import annotations

import logging
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from bench.raw_loop import RawLoop
from bench.result import Budget, Result, at_least, at_most
from bench.sleeper import started, woken
from duetime import App, Order, Payload, Run
from duetime.clock import SystemClock
from duetime.local import LocalCloud

BURST, SCATTERED = 500, 200
_AHEAD, _WINDOW = timedelta(seconds=6), timedelta(seconds=45)
_PATIENCE = 60.0
"""Seconds after which a burst is an error."""

_SLEEPER = "a bare process that sleeps until the same instants"
_RAW = "a raw sqlite3 loop that claims and settles the same rows in a file of its own"


class Tick(Payload):
    """A payload without fields."""


@dataclass(slots=True)
class Starts:
    """The starts of handlers in order, in seconds after their due times."""

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
    """Measure the burst between two raw loops, then the scattered actions during the sweep of a minute."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    starts = Starts()
    with LocalCloud(app_of(starts)) as cloud, tempfile.TemporaryDirectory() as folder:
        raw = RawLoop(Path(folder) / "raw.db")
        rates = [raw.drain(BURST)]
        rate = _burst(cloud, starts)
        at_once = starts.late
        rates.append(raw.drain(BURST))
        scattered, machine = _scattered(cloud, starts)
    return [
        *_results(f"{SCATTERED} at random instants", scattered, machine, at_most(50)),
        *_results(f"{BURST} due at once", at_once, None, at_most(900)),
        Result(
            bench="lateness",
            name=f"drain of {BURST} due at once",
            measured=rate,
            unit="actions/s",
            reference=statistics.mean(rates),
            against=_RAW,
            note="from the due time to the last settle; the raw loop drains as many before, and after",
        ),
    ]


def _burst(cloud: LocalCloud, starts: Starts) -> float:
    """Return the actions a second, from the due time until all are settled."""
    due_at = SystemClock().now() + _AHEAD
    ids = _schedule(cloud, starts, [due_at] * BURST)
    while cloud.scheduler().get(ids[-1]).status != "executed":
        time.sleep(0.001)
    ended_at = max(starts.ended_at or due_at, SystemClock().now())
    return BURST / (ended_at - due_at).total_seconds()


def _scattered(cloud: LocalCloud, starts: Starts) -> tuple[Sequence[float], Sequence[float]]:
    """Return the lateness of the starts, and of a bare process at the same instants."""
    jitter_draw, first = random.Random(42), SystemClock().now() + _AHEAD  # noqa: S311 - the same spread in every run
    due = [first + jitter_draw.random() * _WINDOW for _ in range(SCATTERED)]
    sleeper = started(due_at.timestamp() for due_at in due)
    _schedule(cloud, starts, due)
    return starts.late, woken(sleeper)


def _schedule(cloud: LocalCloud, starts: Starts, due: Sequence[datetime]) -> list[str]:
    """Schedule actions in bulk, and wait until all have run."""
    starts.expect(len(due))
    made = cloud.scheduler().schedule_many(Order(payload=Tick(), at=due_at) for due_at in due)
    if SystemClock().now() > min(due):
        raise RuntimeError("scheduling took until after the first due time; the machine is too busy")
    wait(starts)
    return [action.id for action in made]


def wait(starts: Starts) -> None:
    """Wait until all have started.

    Raises:
        TimeoutError: they have not.
    """
    if not starts.all_there.wait(_PATIENCE + _AHEAD.total_seconds() + _WINDOW.total_seconds()):
        raise TimeoutError(f"only {len(starts.late)} of {starts.expected} started")


def _results(
    name: str, late: Sequence[float], machine: Sequence[float] | None, p99: Budget | None
) -> list[Result]:
    ours, theirs = spread(late), spread(machine) if machine else None
    budgets = {"earliest": at_least(0), "p99": p99}
    return [
        Result(
            bench="lateness",
            name=f"{name}: {word}",
            measured=figure,
            unit="ms",
            reference=theirs[word] if theirs else None,
            against=_SLEEPER if theirs else "",
            budget=budgets.get(word),
        )
        for word, figure in ours.items()
    ]


def spread(late: Sequence[float]) -> Mapping[str, float]:
    in_ms = sorted(1e3 * seconds for seconds in late)
    return {
        "earliest": in_ms[0],
        "p50": in_ms[len(in_ms) // 2],
        "p99": in_ms[-1 - len(in_ms) // 100],
        "max": in_ms[-1],
    }
