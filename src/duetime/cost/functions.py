"""The functions: how often each is called, for how long, and with how much memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from duetime.cost import units
from duetime.cost.units import DAYS
from duetime.cost.workload import Volume, Workload

_MB_OF_GB = 1_024


@dataclass(frozen=True, slots=True)
class InvocationCounts:
    """A function's calls a month.

    Attributes:
        number: calls a month.
        milliseconds: the duration of all calls together.
        memory: MB.
    """

    function: str
    number: float
    milliseconds: float
    memory: float

    @property
    def gigabyte_seconds(self) -> float:
        """The compute that Lambda charges."""
        return self.milliseconds / 1_000 * self.memory / _MB_OF_GB


def growing_calls(work: Workload, volume: Volume) -> Iterator[InvocationCounts]:
    """Yield the calls that grow with the work."""
    own, messages = work.function_memory, volume.messages
    batches = units.batches(volume.armed)
    arm = batches * units.ARM_MS + volume.armed * units.ARM_RECORD_MS + volume.timers * units.ARM_TIMER_MS
    yield InvocationCounts("arm", batches, arm, own)
    wakes = volume.timers + volume.runs
    yield InvocationCounts("dispatch", wakes, wakes * units.DISPATCH_MS, own)
    yield InvocationCounts(
        "work", messages, messages * (units.WORK_MS + work.handler_ms), work.handler_memory
    )
    batches = units.batches(volume.events)
    publish = batches * units.PUBLISH_MS + volume.events * units.PUBLISH_RECORD_MS
    yield InvocationCounts("publish", batches, publish, own)
    requests = work.api_requests_per_day * DAYS
    yield InvocationCounts("api", requests, requests * units.API_MS, own)


def fixed_calls(work: Workload) -> Iterator[InvocationCounts]:
    """Yield the calls of the scheduled passes and of the canaries."""
    turn = units.SWEEP_MS + (units.WHEEL_MS if work.timers == "wheel" else 0)
    sweeps, catch_ups = units.SWEEPS * DAYS, units.CATCH_UPS * DAYS
    yield InvocationCounts("sweep", sweeps, sweeps * turn, work.function_memory)
    canaries = work.canaries
    for name, each_ms in (("arm", units.ARM_MS + units.ARM_TIMER_MS), ("dispatch", units.DISPATCH_MS)):
        yield InvocationCounts(name, canaries, canaries * each_ms, work.function_memory)
    ran = canaries * (units.WORK_MS + units.WAIT_MS)
    yield InvocationCounts("work", canaries, ran, work.handler_memory)
    yield InvocationCounts("catch-up", catch_ups, catch_ups * units.CATCH_UP_MS, work.function_memory)


def waiting(work: Workload, volume: Volume) -> InvocationCounts:
    """Return the time that workers wait, within their calls, for an action's due time."""
    return InvocationCounts("work", 0, volume.messages * units.WAIT_MS, work.handler_memory)


def starts(calls: Iterable[InvocationCounts]) -> Iterator[InvocationCounts]:
    """Yield the INIT time of each function's environments; a function starts at most once a call."""
    for call in calls:
        yield InvocationCounts(call.function, 0, start_count(call) * units.INIT_MS, call.memory)


def start_count(call: InvocationCounts) -> float:
    """Return the number of environments that a function's calls start."""
    return min(call.number, call.number * units.INIT_SHARE + units.INIT_RENEWALS)


def invocations(calls: Iterable[InvocationCounts]) -> float:
    """Return the number of calls of all functions."""
    return sum(call.number for call in calls)


def compute(calls: Iterable[InvocationCounts]) -> float:
    """Return the GB-seconds of all functions."""
    return sum(call.gigabyte_seconds for call in calls)
