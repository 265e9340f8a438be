"""The estimate: a workload, line by line, in dollars a month; and what else one could take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from duetime.cost import tables, units
from duetime.cost.alternatives import Alternative, alternatives
from duetime.cost.functions import compute, fixed_calls, growing_calls, invocations, waiting
from duetime.cost.lines import CostLine, total
from duetime.cost.prices import Prices
from duetime.cost.units import DAYS
from duetime.cost.volume import Volume
from duetime.cost.workload import Workload

_GB = 1_000_000_000
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a workload costs a month by a price list."""

    workload: Workload
    prices: Prices
    done: float
    """One-shots and runs of jobs a month."""
    lines: tuple[CostLine, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def dollars(self) -> float:
        """All lines together."""
        return total(self.lines)

    @property
    def growing_dollars(self) -> float:
        """What comes with the work."""
        return sum(line.growing_dollars for line in self.lines)

    @property
    def fixed_dollars(self) -> float:
        """What is paid at rest."""
        return sum(line.fixed_dollars for line in self.lines)

    @property
    def per_million(self) -> float | None:
        """Dollars for a million actions and runs, the fixed part included; None where there are none."""
        return self.dollars / self.done * _MILLION if self.done else None


def estimate(workload: Workload, prices: Prices) -> Estimate:
    """Price a workload."""
    volume = Volume.of(workload)
    lines = (
        *_tables(workload, volume, prices),
        *_roads(workload, volume, prices),
        *_functions(workload, volume, prices),
        *_signs(workload, prices),
    )
    return Estimate(workload, prices, volume.done, lines, alternatives(workload, volume, prices))


def _tables(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    grows = tables.writes(work, volume)
    life = tables.life_writes(work.payload_bytes)
    note = f"{life} a one-shot's life; the sweep's bookmark"
    yield CostLine("tables: writes", prices["write-units"], grows, tables.fixed_writes(work), note)
    note = "jobs, the API's lists; the sweep's looks"
    yield CostLine(
        "tables: reads", prices["read-units"], tables.reads(work, volume), tables.fixed_reads(work), note
    )
    kept = tables.kept_gigabytes(work)
    note = f"rows for {work.retention_days:g} days"
    yield CostLine("tables: storage", prices["table-storage"], kept, 0, note)
    yield CostLine("tables: recovery", prices["table-recovery"], kept, 0, "to any second of 35 days")


def _roads(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    """What carries a wake or an event."""
    queues = units.queues_of(work.workers)
    polls = queues * units.POLLERS * units.POLLS * DAYS
    note = f"send, receive, delete; long polls of {queues:g} queues"
    requests = volume.messages * units.MESSAGE_REQUESTS
    yield CostLine("queues: requests", prices["queue-requests"], requests, polls, note)
    passes = (units.SWEEPS + units.CATCH_UPS) * DAYS
    note = "far actions; of a run its timer and its job's wake"
    yield CostLine("timers", prices["timers"], volume.timers + volume.runs, passes, note)
    yield CostLine("events", prices["events"], volume.events, 0, f"which: {work.events}")


def _functions(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    grow, fixed = list(growing_calls(work, volume)), list(fixed_calls(work))
    note = "arm, dispatch, work, publish, api; sweep, catch-up"
    yield CostLine("functions: calls", prices["lambda-requests"], invocations(grow), invocations(fixed), note)
    price = prices[f"lambda-{work.architecture}"]
    note = f"handlers of {work.handler_ms:g} ms, and duetime's own; the passes"
    yield CostLine("functions: compute", price, compute(grow), compute(fixed), note)
    note = f"{units.WAIT_MS} ms an attempt, to start to the second"
    yield CostLine("functions: waiting", price, waiting(work, volume).gigabyte_seconds, 0, note)
    written = (invocations(grow) * units.PLATFORM_BYTES + volume.messages * units.LINE_BYTES) / _GB
    at_rest = invocations(fixed) * (units.PLATFORM_BYTES + units.LINE_BYTES) / _GB
    note = "without what handlers write"
    yield CostLine("logs: ingestion", prices["log-ingestion"], written, at_rest, note)
    months = work.log_days / DAYS
    note = f"for {work.log_days:g} days"
    yield CostLine("logs: storage", prices["log-storage"], written * months, at_rest * months, note)


def _signs(work: Workload, prices: Prices) -> Iterator[CostLine]:
    """What people see of it."""
    requests = work.api_requests_per_day * DAYS
    yield CostLine("API: requests", prices["api-requests"], requests, 0, "the admin API")
    yield CostLine("mails", prices["mails"], work.mails_per_day * DAYS, 0, "notifications")
    yield CostLine("notices", prices["notices"], work.notices_per_day * DAYS, 0, "notifications to a topic")
    yield CostLine("metrics", prices["metrics"], 0, work.metrics, "custom ones")
    yield CostLine("alarms", prices["alarms"], 0, work.alarms, "of standard resolution")
    yield CostLine("dashboards", prices["dashboards"], 0, work.dashboards, "one for operators")
