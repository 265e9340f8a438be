"""A model: one million actions due at the same instant, with the wheel and with EventBridge's one-shots.

Nothing is measured here. It goes second by second through what bounds a drain on AWS, under the assumptions
of one dataclass: how soon messages are in the queue, how many workers take them, and how many writes the
tables' partitions take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.result import Result, at_most

BUDGET = 60
"""Seconds, with the settings of `PREPARED`."""
_LONGEST = 7_200
"""Seconds after which a drain counts as endless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The assumptions of the model. Durations are in seconds; quotas are AWS's defaults in a primary region.

    Attributes:
        actions: due at one instant, long known.
        tenants: the actions are spread evenly over them.
        run: of one invocation with one message: claim, handler, settle.
        worker_batch, run_cpu, worker_cpus: messages in one invocation; CPU of each further one, as
        `bench.memory` measures it; the part of a CPU that 256 MB buy. start: INIT of that CPU, as measured.
        pollers: provisioned ones; 0: Lambda's own ramp. poller_reads, poller_calls: each one's requests a
        second, and its concurrent invocations. environments_a_second: that Lambda starts of a function.
        table_writes: units a second that the table is warmed for.
        partition_writes: units a second that one partition takes, of the table or of an index.
        tenant_shards, due_shards: partitions of a tenant's rows, and of the due index. row_units, due_units:
        a claim and a settle in the row's partition; the entry that the settle removes. first_pollers,
        pollers_a_minute, most_pollers: Lambda's ramp for an SQS source, one message an invocation.
        worker_concurrency: the deployment's own bound. invocations_a_second: Lambda's bound, ten for each of
        1,000 concurrent executions. first_receive: from a message's due second to its first invocation.
        looks_ahead, turn, every: the wheel sees a row this long before; it works so long in each of its
        minutes. in_parallel, page, page_calls: its threads, rows a page, and what the page's two reads take.
        batch, batch_call: messages in one call of SQS, and what the call takes. row_cpu, cpus: of one row in
        the wheel, as `bench.wheel` measures it; the part of a CPU that 512 MB buy. timer_fires: EventBridge
        Scheduler's invocations a second. wakes_early, timer_precision: how long before the due time a
        one-shot is set, and how late it may fire.
    """

    actions: int = 1_000_000
    tenants: int = 10
    run: float = 0.05
    worker_batch: int = 1
    run_cpu: float = 0.005
    worker_cpus: float = 256 / 1_769
    start: float = 2.3
    pollers: int = 0
    poller_reads: int = 10
    poller_calls: int = 10
    environments_a_second: int = 100
    table_writes: int = 40_000
    partition_writes: int = 1_000
    tenant_shards: int = 16
    due_shards: int = 16
    row_units: int = 2
    due_units: int = 1
    first_pollers: int = 5
    pollers_a_minute: int = 300
    most_pollers: int = 1_000
    worker_concurrency: int = 1_000
    invocations_a_second: int = 10_000
    first_receive: float = 1.0
    looks_ahead: float = 14 * 60
    turn: float = 46
    every: float = 60
    in_parallel: int = 16
    page: int = 100
    page_calls: float = 0.03
    batch: int = 10
    batch_call: float = 0.015
    row_cpu: float = 0.00017
    cpus: float = 512 / 1_769
    timer_fires: int = 1_000
    wakes_early: float = 90
    timer_precision: float = 60

    @property
    def settles_a_second(self) -> float:
        """Return how many lives the tables' partitions allow."""
        rows = self.tenants * self.tenant_shards * self.partition_writes / self.row_units
        due = self.due_shards * self.partition_writes / self.due_units
        return min(rows, due, self.table_writes / self.row_units)

    @property
    def wheel_sends_a_second(self) -> float:
        """Return how many messages the wheel sends, bound by its calls or by its CPU."""
        one_page = self.page_calls + self.page / self.batch * self.batch_call
        return min(self.in_parallel * self.page / one_page, self.cpus / self.row_cpu)

    @property
    def batch_run(self) -> float:
        """Return how long an invocation takes: its runs wait side by side, and share the CPU."""
        return self.run + (self.worker_batch - 1) * self.run_cpu / self.worker_cpus

    def taken_a_second(self, after: float) -> float:
        """Return how many messages are handled, by seconds after the first one is received."""
        ramp = self.first_pollers + self.pollers_a_minute * after / 60
        workers, reads = min(ramp, self.most_pollers), math.inf
        if self.pollers:
            begun = self.environments_a_second * (after + 1)
            workers, reads = min(self.pollers * self.poller_calls, begun), self.pollers * self.poller_reads
        calls = min(workers, self.worker_concurrency) / self.batch_run
        return min(calls, reads, self.invocations_a_second) * self.worker_batch


PREPARED: Mapping[str, Any] = {"worker_batch": 10, "pollers": 200, "due_shards": 32}
"""The settings for such a drain; the tables are warmed in both cases."""


def sent_by_wheel(given: Assumptions, second: int) -> float:
    """Return how many messages can be received, by seconds after the due time."""
    elapsed = given.looks_ahead + second
    turns, rest = divmod(elapsed, given.every)
    busy = turns * given.turn + min(rest, given.turn)
    return given.wheel_sends_a_second * busy


def sent_by_timers(given: Assumptions, second: int) -> float:
    """Return the same for one-shots, which fire at the rate of the quota, at most a minute late."""
    elapsed = second + given.wakes_early - given.timer_precision
    return given.timer_fires * max(0.0, elapsed)


def drained_after(given: Assumptions, sent: Callable[[Assumptions, int], float]) -> float:
    """Return the seconds from the due time until the last action is settled."""
    done, first = 0.0, math.ceil(given.first_receive + given.start)
    for second in range(first, _LONGEST):
        there = min(given.actions, sent(given, second))
        pace = min(given.taken_a_second(second - first), given.settles_a_second)
        done += min(pace, there - done)
        if done >= given.actions:
            return second + 1 + given.batch_run
    return math.inf


def measure() -> list[Result]:
    """Model both timers, then the wheel with one changed assumption at a time."""
    given, prepared = Assumptions(), Assumptions(**PREPARED)
    wheel, timers = drained_after(given, sent_by_wheel), drained_after(given, sent_by_timers)
    cases = {
        "prepared, without provisioned pollers": replace(prepared, pollers=0),
        "prepared, 16 due shards": replace(prepared, due_shards=16),
        "prepared, one tenant": replace(prepared, tenants=1),
        "one tenant": replace(given, tenants=1),
        "a run of 100 ms": replace(given, run=0.1),
        "worker concurrency 100": replace(given, worker_concurrency=100),
        "functions of 256 MB": replace(given, cpus=256 / 1_769),
        "calls of SQS that take 60 ms": replace(given, batch_call=0.06),
    }
    return [
        _line("wheel, prepared", drained_after(prepared, sent_by_wheel), timers, budget=True),
        _line("wheel", wheel, timers),
        _line("EventBridge's one-shots", timers, None),
        *(_line(f"wheel, {name}", drained_after(case, sent_by_wheel), wheel) for name, case in cases.items()),
    ]


def _line(name: str, seconds: float, reference: float | None, *, budget: bool = False) -> Result:
    against = "EventBridge's one-shots" if budget else "the wheel under the assumptions as they stand"
    return Result(
        bench="million",
        name=name,
        measured=seconds,
        unit="s",
        reference=reference,
        against=against if reference else "",
        budget=at_most(BUDGET) if budget else None,
    )
