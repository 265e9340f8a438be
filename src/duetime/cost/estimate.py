"""The estimate of a workload, line by line, in dollars a month, with its alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from duetime._english import counted
from duetime.cost import tables, units
from duetime.cost.alternatives import Alternative, alternatives
from duetime.cost.functions import (
    compute,
    fixed_calls,
    growing_calls,
    invocations,
    log_bytes,
    queue_requests,
    starts,
    waiting,
)
from duetime.cost.prices import CostLine, Price, Prices, total
from duetime.cost.protection import protection
from duetime.cost.units import DAYS
from duetime.cost.variants import variants
from duetime.cost.workload import Volume, Workload

_GB = 1_000_000_000
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """The monthly price of a workload by a price list; `done` counts its actions and runs of a month."""

    workload: Workload
    prices: Prices
    done: float
    lines: tuple[CostLine, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def dollars(self) -> float:
        """The sum of all lines."""
        return total(self.lines)

    @property
    def growing_dollars(self) -> float:
        """The part that grows with the work."""
        return sum(line.growing_dollars for line in self.lines)

    @property
    def fixed_dollars(self) -> float:
        """The part without any work."""
        return sum(line.fixed_dollars for line in self.lines)

    @property
    def free_dollars(self) -> float:
        """The part that AWS' free tiers without an end cover, in an account with nothing else."""
        used: dict[Price, float] = {}
        for line in self.lines:
            used[line.price] = used.get(line.price, 0) + line.quantity
        return sum(price.dollars_for(min(quantity, price.free)) for price, quantity in used.items())

    @property
    def per_million(self) -> float | None:
        """Dollars for a million actions and runs, including the fixed part; None without any."""
        return self.dollars / self.done * _MILLION if self.done else None


def estimate(workload: Workload, prices: Prices, *, may_sleep: bool = True) -> Estimate:
    """Return the estimate of a workload.

    Args:
        workload: the work; its due times are whole seconds.
        prices: the price list.
        may_sleep: small functions may sleep so that workers need not, as the stack does if it takes fewer
            GB-seconds.
    """
    volume = Volume.from_workload(workload)
    sleeps = may_sleep and workload.start != "second"
    in_phase = sleeps and min((True, False), key=lambda way: _waits(workload, volume, in_phase=way))
    lines = _lines(workload, volume, prices, in_phase=in_phase)
    others = (*alternatives(workload, volume, prices), *variants(lines, prices))
    return Estimate(workload, prices, volume.done, lines, others)


def _waits(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the GB-seconds of sleeps and waits."""
    return compute(waiting(work, volume, in_phase=in_phase))


def _lines(work: Workload, volume: Volume, prices: Prices, *, in_phase: bool) -> tuple[CostLine, ...]:
    """Return the lines if small functions sleep so that workers need not, or if none sleeps."""
    return (
        *_tables(work, volume, prices),
        *_messaging(work, volume, prices, in_phase=in_phase),
        *_functions(work, volume, prices, in_phase=in_phase),
        *_surroundings(work, volume, prices),
        *protection(work, volume, prices, in_phase=in_phase),
    )


def _tables(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    grows = tables.writes(work, volume)
    life = tables.life_writes(work.payload_bytes)
    note = f"{life} a one-shot's life; the sweep's bookmark; canaries"
    yield CostLine("tables: writes", prices["write-units"], grows, tables.fixed_writes(work), note)
    note = "jobs, the API's lists; the sweep's reads"
    yield CostLine(
        "tables: reads", prices["read-units"], tables.reads(work, volume), tables.fixed_reads(work), note
    )
    stored = tables.stored_gigabytes(work)
    note = f"rows for {counted(work.retention_days, 'day', 'g')}"
    yield CostLine("tables: storage", prices["table-storage"], stored, 0, note)
    yield CostLine("tables: recovery", prices["table-recovery"], stored, 0, "to any second of 35 days")


def _messaging(work: Workload, volume: Volume, prices: Prices, *, in_phase: bool) -> Iterator[CostLine]:
    """Yield the lines of queues, timers and events."""
    pollers = units.pollers_of(work.due_queues, work.queues - work.due_queues, work.worker_pollers)
    polls = pollers * units.POLLS * DAYS
    canaries = work.canaries * units.MESSAGE_REQUESTS
    note = f"send, receive, delete; long polls of {counted(work.queues, 'queue', 'g')}"
    requests = queue_requests(work, volume, in_phase=in_phase)
    yield CostLine("queues: requests", prices["queue-requests"], requests, polls + canaries, note)
    if work.tenants == "several":
        yield CostLine("queues: groups", prices["fair-requests"], requests, canaries, "fair among tenants")
    passes = (units.SWEEPS + units.CATCH_UPS) * DAYS + work.canaries * (work.timers == "eventbridge")
    note = "far actions; a run's timer and its job's wake"
    yield CostLine("timers", prices["timers"], volume.timers + volume.runs, passes, note)
    yield CostLine("events", prices["events"], volume.events, 0, f"published: {work.events}")


def _functions(work: Workload, volume: Volume, prices: Prices, *, in_phase: bool) -> Iterator[CostLine]:
    grow, fixed = list(growing_calls(work, volume, in_phase=in_phase)), list(fixed_calls(work))
    note = "arm, dispatch, work, publish, api; sweep, catch-up, canaries"
    yield CostLine("functions: calls", prices["lambda-requests"], invocations(grow), invocations(fixed), note)
    price = prices[f"lambda-{work.architecture}"]
    note = f"handlers of {work.handler_ms:g} ms, and duetime's own; the passes"
    yield CostLine("functions: compute", price, compute(grow), compute(fixed), note)
    note = "for the fraction of a second"
    yield CostLine("functions: waiting", price, compute(waiting(work, volume, in_phase=in_phase)), 0, note)
    seconds = units.duration(units.INIT_CPU_MS, 0, work.handler_memory) / 1_000
    note = f"INIT, of a worker {seconds:.1f} s, in one of a hundred calls"
    yield CostLine("functions: starts", price, compute(starts(grow)), compute(starts(fixed)), note)
    written = log_bytes(work, volume, in_phase=in_phase) / _GB
    at_rest = invocations(fixed) * units.LINE_BYTES / _GB
    yield CostLine(
        "logs: ingestion", prices["log-ingestion"], written, at_rest, "without what handlers write"
    )
    months, note = work.log_days / DAYS, f"for {counted(work.log_days, 'day', 'g')}"
    yield CostLine("logs: storage", prices["log-storage"], written * months, at_rest * months, note)


def _metrics(work: Workload, volume: Volume) -> float:
    """Return the metrics of actions: of the deployment, and of each type and tenant with its own."""
    counts = [volume.retries, volume.failures, volume.deferrals, volume.attempts]  # with the lateness of runs
    if work.metrics == "all":
        counts += [volume.done, volume.done, volume.attempts]  # scheduled, executed, the duration of runs
    own = (1, work.metric_types, work.metric_tenants)
    return sum(names * _hours(count / names) for names in own if names for count in counts)


def _hours(count: float) -> float:
    """Return the share of the month's hours that have one of so many evenly spread events."""
    return min(1, count / (24 * DAYS))


def _surroundings(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    """Yield the lines of the API, notifications and monitoring."""
    requests = work.api_requests_per_day * DAYS
    yield CostLine("API: requests", prices["api-requests"], requests, 0, "the admin API")
    yield CostLine("mails", prices["mails"], work.mails_per_day * DAYS, 0, "notifications")
    yield CostLine("notices", prices["notices"], work.notices_per_day * DAYS, 0, "notifications to a topic")
    note = "custom ones, by the hours with a value; at rest the canary's lateness"
    of_canary = _hours(work.canaries)
    yield CostLine("metrics", prices["metrics"], _metrics(work, volume), of_canary, note)
    yield CostLine("alarms", prices["alarms"], 0, work.alarms, "of standard resolution")
