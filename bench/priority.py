"""Priority: the lateness of high actions, due now, beside 10,000 normal ones; and of a normal one then."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from bench.fairness import BURST, LOCAL_WORKERS, SIMULATED_WORKERS, await_messages
from bench.lateness import spread
from bench.result import Result, at_most
from duetime import App, Order, Payload, Run, Scheduler
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.testing import Faults, SimulatedCloud

HIGH, BUDGET = 50, 1_000
"""The high actions, and the milliseconds within which each must start."""

_SECOND, _EVERY = timedelta(seconds=1), timedelta(milliseconds=400)
_SIMULATED_RUN, _LOCAL_RUN = timedelta(seconds=1), timedelta(milliseconds=200)


class Report(Payload):
    """A normal action."""


class Alert(Payload):
    """A high action."""


Late = Mapping[str, list[float]]
"""The lateness of each type's starts, in seconds."""


def app_of(late: Late, takes: timedelta) -> App:
    """Return an app of a normal and a high type, whose runs take so long."""
    app = App()

    @app.action
    def report(payload: Report, run: Run) -> None:
        del payload
        _begin("report", run)

    @app.action(priority="high")
    def alert(payload: Alert, run: Run) -> None:
        del payload
        _begin("alert", run)

    def _begin(kind: str, run: Run) -> None:
        late[kind].append((run.now() - run.due_at).total_seconds())
        run.clock.wait_until(run.now() + takes)

    return app


def measure() -> list[Result]:
    """Measure the simulator, then the local cloud."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    return [
        _result(f"simulated, {SIMULATED_WORKERS} workers", _simulated()),
        _result(f"local cloud, {LOCAL_WORKERS} workers", _local()),
    ]


def _result(where: str, late: Late) -> Result:
    return Result(
        bench="priority",
        name=f"{HIGH} high actions beside {BURST:,} normal ones, the latest; {where}",
        measured=spread(late["alert"])["max"],
        unit="ms",
        reference=spread(late["report"])["max"],
        against="the latest normal one so far",
        budget=at_most(BUDGET),
        note=f"p50 {spread(late['alert'])['p50']:.0f} ms",
    )


def _simulated() -> Late:
    late: Late = defaultdict(list)
    cloud = SimulatedCloud(app_of(late, _SIMULATED_RUN), faults=Faults.only(1))
    cloud.memory.concurrency = SIMULATED_WORKERS  # type: ignore[attr-defined]  # with faults, it is a FaultyCloud
    try:
        cloud.scheduler.schedule_many([Order(Report(), _SECOND)] * BURST)
        cloud.advance(2 * _SECOND)
        for _ in range(HIGH):
            _schedule_high(cloud.scheduler)
            cloud.advance(_EVERY)
        cloud.advance(minutes=2)
    finally:
        cloud.close()
    return late


def _local() -> Late:
    late: Late = defaultdict(list)
    with LocalCloud(app_of(late, _LOCAL_RUN), LocalOptions(concurrency=LOCAL_WORKERS)) as cloud:
        clock, scheduler = SystemClock(), cloud.scheduler()
        due_at = clock.now() + 60 * _SECOND
        scheduler.schedule_many([Order(Report(), due_at)] * BURST)
        await_messages(cloud, due_at, BURST)
        clock.wait_until(due_at + 2 * _SECOND)
        for _ in range(HIGH):
            _schedule_high(scheduler)
            clock.wait_until(clock.now() + _EVERY)
        patience = clock.now() + 60 * _SECOND
        while len(late["alert"]) < HIGH:
            if clock.now() > patience:
                raise TimeoutError(f"only {len(late['alert'])} of {HIGH} started")
            clock.wait_until(clock.now() + _LOCAL_RUN)
        if len(late["report"]) == BURST:
            raise RuntimeError("the burst had ended before the last high action")
    return late


def _schedule_high(scheduler: Scheduler) -> None:
    scheduler.schedule(Alert(), at=timedelta(0))
