"""Fairness: a quiet tenant's lateness beside another tenant's burst, and alone."""

from __future__ import annotations

import logging
import statistics
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from threading import Lock

from bench.lateness import spread
from bench.result import Result, at_most, ratio_at_most
from duetime import App, Order, Payload, Run
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.testing import Faults, SimulatedCloud

BURST, QUIET, SLOTS = 10_000, 200, 10
_SECOND = timedelta(seconds=1)
_TAKES = timedelta(milliseconds=100)
_EVERY = timedelta(milliseconds=470)


class Work(Payload):
    """Takes 0.1 s."""


class Lateness:
    """The lateness of each tenant's starts, in seconds."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.by_tenant: dict[str, list[float]] = defaultdict(list)

    def add(self, run: Run) -> None:
        with self._lock:
            self.by_tenant[run.tenant_id].append((run.now() - run.due_at).total_seconds())


def app_of(late: Lateness) -> App:
    app = App()

    @app.action
    def work(payload: Work, run: Run) -> None:
        del payload
        late.add(run)
        run.clock.wait_until(run.now() + _TAKES)

    return app


def measure() -> list[Result]:
    """Measure the simulator, then the local cloud."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    alone, beside, burst = _simulated(is_alone=True), _simulated(is_alone=False), f"a burst of {BURST:,}"
    where = f"simulated, {SLOTS} workers, runs of {_TAKES.total_seconds():g} s"
    local = _local()
    return [
        Result(
            bench="fairness",
            name=f"quiet tenant beside {burst}, p99 of lateness; {where}",
            measured=spread(beside["quiet"])["p99"],
            unit="ms",
            budget=at_most(_TAKES.total_seconds() * 1e3),
            note=f"alone {spread(alone['quiet'])['p99']:.0f} ms; the burst's last action starts"
            f" {max(beside['noisy']):.0f} s late",
        ),
        Result(
            bench="fairness",
            name=f"quiet tenant beside {burst}, p99 of lateness; local cloud",
            measured=spread(local["quiet"])["p99"],
            unit="ms",
            reference=spread(local["alone"])["p99"],
            against="the same tenant alone",
            budget=ratio_at_most(2),
            note=f"p50 {statistics.median(local['quiet']) * 1e3:.0f} ms, alone"
            f" {statistics.median(local['alone']) * 1e3:.0f} ms",
        ),
    ]


def _simulated(*, is_alone: bool) -> Mapping[str, list[float]]:
    late = Lateness()
    cloud = SimulatedCloud(app_of(late), faults=Faults.only(1))
    cloud.memory.concurrency = SLOTS  # type: ignore[attr-defined]  # with faults, it is a FaultyCloud
    try:
        if not is_alone:
            cloud.scheduler_for("noisy").schedule_many([Order(payload=Work(), at=_SECOND)] * BURST)
        quiet = cloud.scheduler_for("quiet")
        quiet.schedule_many(Order(payload=Work(), at=_SECOND + _EVERY * place) for place in range(QUIET))
        cloud.advance(minutes=5)
    finally:
        cloud.close()
    return late.by_tenant


def _local() -> Mapping[str, list[float]]:
    late = Lateness()
    with LocalCloud(app_of(late), LocalOptions(concurrency=SLOTS)) as cloud:
        _run_quiet(cloud, late, "alone", SystemClock().now() + 3 * _SECOND)
        due_at = SystemClock().now() + _SECOND * 120
        cloud.scheduler(tenant_id="noisy").schedule_many([Order(payload=Work(), at=due_at)] * BURST)
        if SystemClock().now() > due_at - 5 * _SECOND:
            raise RuntimeError("scheduling the burst took too long; the machine is too busy")
        _run_quiet(cloud, late, "quiet", due_at)
        if len(late.by_tenant["noisy"]) == BURST:
            raise RuntimeError("the burst had ended before the quiet tenant's last action")
    return late.by_tenant


def _run_quiet(cloud: LocalCloud, late: Lateness, tenant_id: str, first: datetime) -> None:
    """Schedule the quiet tenant's actions, and wait until all have started."""
    orders = [Order(payload=Work(), at=first + _EVERY * place) for place in range(QUIET)]
    cloud.scheduler(tenant_id=tenant_id).schedule_many(orders)
    clock, patience = SystemClock(), first + _EVERY * QUIET + 120 * _SECOND
    while len(late.by_tenant[tenant_id]) < QUIET:
        if clock.now() > patience:
            raise TimeoutError(f"only {len(late.by_tenant[tenant_id])} of {QUIET} started")
        clock.wait_until(clock.now() + _TAKES)
