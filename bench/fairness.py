"""Fairness: a quiet tenant's lateness beside another tenant's burst, and alone."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from threading import Lock

from bench.lateness import spread
from bench.result import Result, ratio_at_most
from duetime import App, Order, Payload, Run
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.testing import Faults, SimulatedCloud

BURST, QUIET = 10_000, 200
SIMULATED_WORKERS, LOCAL_WORKERS = 100, 20
DELIVERY = timedelta(milliseconds=50)
"""The assumed time from a message's due time to the start of its function, without a queue before it."""

_SECOND = timedelta(seconds=1)
_SIMULATED_RUN, _LOCAL_RUN = timedelta(seconds=1), timedelta(milliseconds=200)
_EVERY = timedelta(milliseconds=470)


class Work(Payload):
    """Takes about the duration that the app states."""


class Lateness:
    """The lateness of each tenant's starts, in seconds."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.by_tenant: dict[str, list[float]] = defaultdict(list)

    def add(self, run: Run) -> None:
        with self._lock:
            self.by_tenant[run.tenant_id].append((run.now() - run.due_at).total_seconds())


def app_of(late: Lateness, takes: timedelta) -> App:
    """Return an app whose runs take from half of `takes` to half more."""
    app, random = App(), Random(7)  # noqa: S311 - the same durations each time

    @app.action
    def work(payload: Work, run: Run) -> None:
        del payload
        late.add(run)
        run.clock.wait_until(run.now() + takes * (0.5 + random.random()))

    return app


def measure() -> list[Result]:
    """Measure the simulator, then the local cloud."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    alone, beside, burst = _simulated(is_alone=True), _simulated(is_alone=False), f"a burst of {BURST:,}"
    local = _local()
    delivery = DELIVERY.total_seconds() * 1e3
    return [
        Result(
            bench="fairness",
            name=f"quiet tenant beside {burst}, p99 of lateness; simulated, {SIMULATED_WORKERS} workers",
            measured=delivery + spread(beside["quiet"])["p99"],
            unit="ms",
            reference=delivery + spread(alone["quiet"])["p99"],
            against="the same tenant alone",
            budget=ratio_at_most(2),
            note=f"runs of {_SIMULATED_RUN.total_seconds():g} s; both with {delivery:g} ms for a delivery;"
            f" the burst's last action starts {max(beside['noisy']):.0f} s late",
        ),
        Result(
            bench="fairness",
            name=f"quiet tenant beside {burst}, p99 of lateness; local cloud, {LOCAL_WORKERS} workers",
            measured=delivery + spread(local["quiet"])["p99"],
            unit="ms",
            reference=delivery + spread(local["alone"])["p99"],
            against="the same tenant alone",
            budget=ratio_at_most(2),
            note=f"runs of {_LOCAL_RUN.total_seconds():g} s; both with {delivery:g} ms for a delivery, which"
            f" takes none here; without it {spread(local['quiet'])['p99']:.0f} ms, alone"
            f" {spread(local['alone'])['p99']:.0f} ms",
        ),
    ]


def _simulated(*, is_alone: bool) -> Mapping[str, list[float]]:
    late = Lateness()
    cloud = SimulatedCloud(app_of(late, _SIMULATED_RUN), faults=Faults.only(1))
    cloud.memory.concurrency = SIMULATED_WORKERS  # type: ignore[attr-defined]  # with faults, it is a FaultyCloud
    try:
        if not is_alone:
            cloud.scheduler_for("noisy").schedule_many([Order(payload=Work(), at=_SECOND)] * BURST)
        quiet = cloud.scheduler_for("quiet")
        quiet.schedule_many(
            Order(payload=Work(), at=_SECOND + _EVERY * place, precision="millisecond")
            for place in range(QUIET)
        )
        cloud.advance(minutes=5)
    finally:
        cloud.close()
    return late.by_tenant


def _local() -> Mapping[str, list[float]]:
    late = Lateness()
    with LocalCloud(app_of(late, _LOCAL_RUN), LocalOptions(concurrency=LOCAL_WORKERS)) as cloud:
        due_at = SystemClock().now() + 5 * _SECOND
        _schedule_quiet(cloud, "alone", due_at)
        _await_quiet(late, "alone", due_at)
        due_at = SystemClock().now() + 60 * _SECOND
        cloud.scheduler(tenant_id="noisy").schedule_many([Order(payload=Work(), at=due_at)] * BURST)
        _schedule_quiet(cloud, "quiet", due_at)
        await_messages(cloud, due_at, BURST + QUIET)
        _await_quiet(late, "quiet", due_at)
        if len(late.by_tenant["noisy"]) == BURST:
            raise RuntimeError("the burst had ended before the quiet tenant's last action")
    return late.by_tenant


def _schedule_quiet(cloud: LocalCloud, tenant_id: str, first: datetime) -> None:
    orders = [Order(payload=Work(), at=first + _EVERY * place) for place in range(QUIET)]
    cloud.scheduler(tenant_id=tenant_id).schedule_many(orders)


def await_messages(cloud: LocalCloud, due_at: datetime, number: int) -> None:
    """Wait until so many messages are in the queues: what is measured is the queue, not `arm`."""
    clock, queues = SystemClock(), cloud._engine.cloud.queues  # noqa: SLF001 - no user counts messages
    while len(queues.messages) < number:
        if clock.now() > due_at - 5 * _SECOND:
            raise RuntimeError("sending the burst's messages took too long; the machine is too busy")
        clock.wait_until(clock.now() + _SECOND)


def _await_quiet(late: Lateness, tenant_id: str, first: datetime) -> None:
    clock, patience = SystemClock(), first + _EVERY * QUIET + 120 * _SECOND
    while len(late.by_tenant[tenant_id]) < QUIET:
        if clock.now() > patience:
            raise TimeoutError(f"only {len(late.by_tenant[tenant_id])} of {QUIET} started")
        clock.wait_until(clock.now() + _LOCAL_RUN)
