"""The alternatives: the same work by what AWS offers bare, or by a queue of one's own; and what each lacks.

They are taken on their cheap side: no table where none is needed, no alarms, no waiting, no dead letters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from duetime.cost import units
from duetime.cost.functions import InvocationCounts, bare_calls, compute, invocations
from duetime.cost.lines import CostLine, total
from duetime.cost.prices import Prices
from duetime.cost.units import DAYS, kilobytes
from duetime.cost.volume import Volume
from duetime.cost.workload import Workload

_GB = 1_000_000_000
_HOP_MINUTES = 15
_TRANSITIONS = 3
"""Into the wait, into the task, to the end."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What one could take instead: what it costs a month, and what one would then be without."""

    name: str
    lines: tuple[CostLine, ...]
    lacks: str

    @property
    def dollars(self) -> float:
        """All lines together."""
        return total(self.lines)


def alternatives(work: Workload, volume: Volume, prices: Prices) -> tuple[Alternative, ...]:
    """The usual three."""
    return (
        Alternative(
            "EventBridge Scheduler, bare",
            tuple(_scheduler(work, volume, prices)),
            "precise to a minute; no claim against doubles, no history, no search; two retries",
        ),
        Alternative(
            "Step Functions, a wait each",
            tuple(_workflows(work, volume, prices)),
            "no schedule inside one's own transaction, no list by due time, no reschedule",
        ),
        Alternative(
            "SQS hops and a table",
            tuple(_queue(work, volume, prices)),
            "no sweep of what was lost, no fence, no cancel, no retry policy: all is yours to write",
        ),
    )


def _scheduler(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    """A one-shot schedule for each action, a recurring one for each job, and the handler."""
    yield CostLine("timers", prices["timers"], volume.done, 0, "making a schedule is free")
    yield from _handler(work, volume.messages, prices)


def _workflows(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    transitions = volume.done * _TRANSITIONS + volume.retries
    note = f"{_TRANSITIONS} an execution, one more a retry"
    yield CostLine("transitions", prices["transitions"], transitions, 0, note)
    yield CostLine("timers", prices["timers"], volume.runs, 0, "runs of jobs are started by schedules")
    yield from _handler(work, volume.messages, prices)


def _queue(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    """A message that is read and sent again each quarter of an hour until it is due, and a row put and marked as done."""
    hops = volume.far * max(0, math.ceil(work.far_hours * 60 / _HOP_MINUTES) - 1)
    requests = (volume.messages + hops) * units.MESSAGE_REQUESTS
    polls = units.POLLERS * units.POLLS * DAYS
    yield CostLine(
        "queues: requests",
        prices["queue-requests"],
        requests,
        polls,
        f"hops of {_HOP_MINUTES} minutes until it is due",
    )
    writes = volume.done * 2 * kilobytes(work.payload_bytes + units.PENDING_BYTES)
    yield CostLine("tables: writes", prices["write-units"], writes, 0, "a put and a mark")
    yield CostLine("timers", prices["timers"], volume.runs, 0, "runs of jobs are sent by schedules")
    hopping = InvocationCounts("hop", hops, hops * units.HOP_MS, work.handler_memory)
    yield from _handler(work, volume.messages, prices, hopping)


def _handler(work: Workload, number: float, prices: Prices, *others: InvocationCounts) -> Iterator[CostLine]:
    calls = [bare_calls(work, number), *others]
    called = invocations(calls)
    yield CostLine("functions: calls", prices["lambda-requests"], called, 0, "the handler's")
    price = prices[f"lambda-{work.architecture}"]
    yield CostLine("functions: compute", price, compute(calls), 0, "without any waiting")
    written = called * units.PLATFORM_BYTES / _GB
    yield CostLine("logs: ingestion", prices["log-ingestion"], written, 0, "Lambda's own lines")
    stored = written * work.log_days / DAYS
    yield CostLine("logs: storage", prices["log-storage"], stored, 0, f"for {work.log_days:g} days")
