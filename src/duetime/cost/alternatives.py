"""The same work done with other services: their monthly price, and which features they lack.

The estimates are low: no table unless one is needed, no alarms, no waiting and no dead-letter queues.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from duetime._english import counted
from duetime.cost import units
from duetime.cost.functions import InvocationCounts, compute, invocations, starts
from duetime.cost.prices import CostLine, Prices, total
from duetime.cost.units import DAYS, kilobytes
from duetime.cost.workload import Volume, Workload

_GB = 1_000_000_000
_HOP_MINUTES = 15
# Of Step Functions: into the wait, into the task, to the end. Of Lambda: a start, a wait, a step.
_TRANSITIONS = _OPERATIONS = 3
# Lambda keeps the data of an ended execution for at most so many days.
_RETAINED_DAYS = 90


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
    """Return the five usual alternatives."""
    handler = InvocationCounts(
        "handler", volume.attempts, volume.attempts * work.handler_ms, work.handler_memory
    )
    return (
        Alternative(
            "EventBridge Scheduler, bare",
            (
                CostLine("timers", prices["timers"], volume.done, 0, "making a schedule is free"),
                *_function_lines(work, prices, handler),
            ),
            "precise to a minute; no claim against doubles, no history, no search; two retries",
        ),
        Alternative(
            "QStash, pay as you go",
            (
                CostLine(
                    "messages", prices["qstash-messages"], volume.done, 0, "one an action; retries are free"
                ),
                *_function_lines(work, prices, handler),
            ),
            "calls a public URL; no claim against doubles, no schedule in your own transaction",
        ),
        Alternative(
            "Step Functions, a wait each",
            (*_transitions(volume, prices), *_function_lines(work, prices, handler)),
            "no schedule in your own transaction, no list by due time, no reschedule",
        ),
        Alternative(
            "Lambda durable functions",
            (
                *_durable(work, volume, prices),
                *_function_lines(work, prices, handler, _short(work, "start", volume.done)),
            ),
            "waits are approximate; no schedule in your own transaction, no list by due time, no reschedule",
        ),
        Alternative(
            "SQS hops and a table",
            (
                *_hops(work, volume, prices),
                *_function_lines(work, prices, handler, _short(work, "hop", _hop_count(work, volume))),
            ),
            "no sweep of lost messages, no fence, no cancel, no retry policy: you write them all",
        ),
    )


def _transitions(volume: Volume, prices: Prices) -> Iterator[CostLine]:
    note = f"{_TRANSITIONS} an execution, one more a retry"
    grows = volume.done * _TRANSITIONS + volume.retries
    yield CostLine("transitions", prices["transitions"], grows, 0, note)
    yield CostLine("timers", prices["timers"], volume.runs, 0, "schedules start runs of jobs")


def _durable(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    note = f"{_OPERATIONS} an execution, one more a retry"
    grows = volume.done * _OPERATIONS + volume.retries
    yield CostLine("operations", prices["durable-operations"], grows, 0, note)
    written = volume.actions * work.payload_bytes / _GB
    yield CostLine("operations: data", prices["durable-writes"], written, 0, "payloads, once")
    days = min(work.retention_days, _RETAINED_DAYS) + work.far_share * work.far_hours / 24
    note = f"until {_RETAINED_DAYS} days after the end, at most"
    yield CostLine("operations: storage", prices["durable-storage"], written * days / DAYS, 0, note)
    yield CostLine("timers", prices["timers"], volume.runs, 0, "schedules start runs of jobs")


def _hops(work: Workload, volume: Volume, prices: Prices) -> Iterator[CostLine]:
    requests = (volume.attempts + _hop_count(work, volume)) * units.MESSAGE_REQUESTS
    polls = units.POLLERS * units.POLLS * DAYS
    note = f"hops of {_HOP_MINUTES} minutes"
    yield CostLine("queues: requests", prices["queue-requests"], requests, polls, note)
    writes = volume.done * 2 * kilobytes(work.payload_bytes + units.PENDING_BYTES)
    yield CostLine("tables: writes", prices["write-units"], writes, 0, "a put and a mark")
    yield CostLine("timers", prices["timers"], volume.runs, 0, "schedules send runs of jobs")


def _hop_count(work: Workload, volume: Volume) -> float:
    """Return the number of hops a month: messages that are received early and sent again."""
    return volume.far * max(0, math.ceil(work.far_hours * 60 / _HOP_MINUTES) - 1)


def _short(work: Workload, function: str, number: float) -> InvocationCounts:
    """Return calls of the handler's function that do not run the handler."""
    return InvocationCounts(function, number, number * units.HOP_MS, work.handler_memory)


def _function_lines(work: Workload, prices: Prices, *calls: InvocationCounts) -> Iterator[CostLine]:
    """Yield the lines of the functions and of the logs that Lambda itself writes."""
    called = invocations(calls)
    written = called * units.PLATFORM_BYTES / _GB
    yield CostLine("functions: calls", prices["lambda-requests"], called, 0, "the handler's")
    price = prices[f"lambda-{work.architecture}"]
    yield CostLine("functions: compute", price, compute(calls), 0, "without any waiting")
    yield CostLine("functions: starts", price, compute(starts(calls)), 0, "INIT, in one of a hundred calls")
    yield CostLine("logs: ingestion", prices["log-ingestion"], written, 0, "Lambda's own lines")
    yield CostLine(
        "logs: storage",
        prices["log-storage"],
        written * work.log_days / DAYS,
        0,
        f"for {counted(work.log_days, 'day', 'g')}",
    )
