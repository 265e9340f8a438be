"""The same work done with other AWS services: their monthly price, and which features they lack.

The estimates are low: no table unless one is needed, no alarms, no waiting and no dead-letter queues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from duetime.cost import units
from duetime.cost.functions import InvocationCounts, compute, invocations
from duetime.cost.prices import CostLine, Prices, total
from duetime.cost.units import DAYS, kilobytes
from duetime.cost.workload import Volume, Workload

_GB = 1_000_000_000
_HOP_MINUTES = 15
# Into the wait, into the task, to the end.
_TRANSITIONS = 3


@dataclass(frozen=True, slots=True)
class Alternative:
    """A row of the table of alternatives: the price of a month, and what is missing."""

    name: str
    lines: tuple[CostLine, ...]
    lacks: str

    @property
    def dollars(self) -> float:
        """The sum of all lines."""
        return total(self.lines)


def alternatives(work: Workload, volume: Volume, prices: Prices) -> tuple[Alternative, ...]:
    """Return the three usual alternatives."""
    hops = volume.far * max(0, math.ceil(work.far_hours * 60 / _HOP_MINUTES) - 1)
    requests = (volume.messages + hops) * units.MESSAGE_REQUESTS
    polls = units.POLLERS * units.POLLS * DAYS
    writes = volume.done * 2 * kilobytes(work.payload_bytes + units.PENDING_BYTES)
    transitions = volume.done * _TRANSITIONS + volume.retries
    calls = volume.messages
    handler = InvocationCounts("handler", calls, calls * work.handler_ms, work.handler_memory)
    hop = InvocationCounts("hop", hops, hops * units.HOP_MS, work.handler_memory)

    def line(name: str, price: str, grows: float, note: str, fixed: float = 0) -> CostLine:
        return CostLine(name, prices[price], grows, fixed, note)

    return (
        Alternative(
            "EventBridge Scheduler, bare",
            (
                line("timers", "timers", volume.done, "making a schedule is free"),
                *_function_lines(work, prices, handler),
            ),
            "precise to a minute; no claim against doubles, no history, no search; two retries",
        ),
        Alternative(
            "Step Functions, a wait each",
            (
                line(
                    "transitions",
                    "transitions",
                    transitions,
                    f"{_TRANSITIONS} an execution, one more a retry",
                ),
                line("timers", "timers", volume.runs, "schedules start runs of jobs"),
                *_function_lines(work, prices, handler),
            ),
            "no schedule in your own transaction, no list by due time, no reschedule",
        ),
        Alternative(
            "SQS hops and a table",
            (
                line(
                    "queues: requests", "queue-requests", requests, f"hops of {_HOP_MINUTES} minutes", polls
                ),
                line("tables: writes", "write-units", writes, "a put and a mark"),
                line("timers", "timers", volume.runs, "schedules send runs of jobs"),
                *_function_lines(work, prices, handler, hop),
            ),
            "no sweep of lost messages, no fence, no cancel, no retry policy: you write them all",
        ),
    )


def _function_lines(work: Workload, prices: Prices, *calls: InvocationCounts) -> Iterator[CostLine]:
    """Yield the lines of the functions and of the logs that Lambda itself writes."""
    called = invocations(calls)
    written = called * units.PLATFORM_BYTES / _GB
    yield CostLine("functions: calls", prices["lambda-requests"], called, 0, "the handler's")
    price = prices[f"lambda-{work.architecture}"]
    yield CostLine("functions: compute", price, compute(calls), 0, "without any waiting")
    yield CostLine("logs: ingestion", prices["log-ingestion"], written, 0, "Lambda's own lines")
    yield CostLine(
        "logs: storage",
        prices["log-storage"],
        written * work.log_days / DAYS,
        0,
        f"for {work.log_days:g} days",
    )
