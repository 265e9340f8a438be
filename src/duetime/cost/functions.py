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


def growing_calls(work: Workload, volume: Volume, *, in_phase: bool) -> Iterator[InvocationCounts]:
    """Yield the calls that grow with the work."""
    own, messages = work.function_memory, volume.messages
    batches = _arm_batches(volume, in_phase=in_phase)
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


def waiting(work: Workload, volume: Volume, *, in_phase: bool) -> Iterator[InvocationCounts]:
    """Yield the time that functions sleep or wait, within their calls, for the fraction of a second."""
    if work.start == "second":
        return
    late = volume.messages
    if in_phase:
        arm = min(volume.near * units.SLEEP_MS, units.PHASE_BATCHES * units.LONGEST_SLEEP_MS)
        sweep = min(_turned(volume), units.SWEEPS * DAYS) * units.LONGEST_SLEEP_MS
        yield InvocationCounts("arm", 0, arm, work.function_memory)
        yield InvocationCounts("dispatch", 0, volume.timers * units.SLEEP_MS, work.function_memory)
        yield InvocationCounts("sweep", 0, sweep, work.function_memory)
        late = max(0, volume.near - units.PHASE_BATCHES * units.BATCH)
        late += max(0, _turned(volume) - units.WHEEL_IN_PHASE)
    waits = (volume.messages - late) * units.PHASE_WAIT_MS + late * units.WAIT_MS
    yield InvocationCounts("work", 0, waits, work.handler_memory)


def queue_requests(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the requests that send, receive and delete messages; arm and the wheel send several in one."""
    batches, turns = _arm_batches(volume, in_phase=in_phase), units.DUE_SHARDS * units.SWEEPS * DAYS
    sends = volume.timers
    for messages, calls in ((volume.near, batches), (_turned(volume), turns)):
        sends += min(messages, calls * work.workers + messages / units.SEND_GROUP)
    return sends + (units.MESSAGE_REQUESTS - 1) * volume.messages


def _arm_batches(volume: Volume, *, in_phase: bool) -> float:
    return units.batches(volume.armed, units.PHASE_BATCHES if in_phase else units.STREAM_BATCHES)


def _turned(volume: Volume) -> float:
    """Return the messages that the wheel sends."""
    return volume.messages - volume.near - volume.timers


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
