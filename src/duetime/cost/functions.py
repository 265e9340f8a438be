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
    yield InvocationCounts("arm", batches, arm, arm_memory(work))
    wakes = volume.timers + volume.runs
    dispatch = dispatch_memory(work)
    of_one = units.duration(units.DISPATCH_CPU_MS, units.DISPATCH_CALLS_MS, dispatch)
    yield InvocationCounts("dispatch", wakes, wakes * of_one, dispatch)
    calls = worker_calls(work, volume, in_phase=in_phase)
    runs = calls * volume.attempts / messages if messages else 0
    waits = calls * units.WORK_CALLS_MS + runs * work.handler_ms
    ran = units.duration(messages * units.WORK_CPU_MS, waits, work.handler_memory)
    yield InvocationCounts("work", calls, ran, work.handler_memory)
    rows = volume.turned * units.duration(units.WHEEL_ROW_CPU_MS, 0, own)
    yield InvocationCounts("sweep", 0, rows + stand_ins(work, volume) * units.WHEEL_MS, own)
    batches = units.batches(volume.events)
    publish = batches * units.PUBLISH_MS + volume.events * units.PUBLISH_RECORD_MS
    yield InvocationCounts("publish", batches, publish, own)
    requests = work.api_requests_per_day * DAYS
    yield InvocationCounts("api", requests, requests * units.API_MS, own)


def stand_ins(work: Workload, volume: Volume) -> float:
    """Return the turns of the wheel that stands in for timers, as far actions are too many for them."""
    return units.SWEEPS * DAYS if work.timers == "eventbridge" and volume.turned else 0


def worker_calls(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the calls of workers.

    Messages that are sent in phase come each second, all at once, as their due times are whole seconds. No
    message waits until a batch is full: the first one that each waiting poller receives is alone in its call,
    and the others fill theirs. Messages out of phase come one by one.
    """
    together = volume.messages - _out_of_phase(work, volume, in_phase=in_phase)
    pollers = work.worker_pollers or units.BOUNDED_POLLERS
    alone = min(together, pollers * 86_400 * DAYS * work.workers)
    return volume.messages - together + alone + (together - alone) / work.worker_batch


def _out_of_phase(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the messages that do not come at their due times' fraction of a second."""
    if not in_phase or work.start == "second":
        return volume.messages
    late = max(0, volume.near - units.PHASE_BATCHES * units.BATCH)
    return late + max(0, volume.turned - units.WHEEL_IN_PHASE)


def dispatch_memory(work: Workload) -> float:
    """Return the MB of dispatch."""
    return max(units.LEAST_MEMORY, work.function_memory * units.DISPATCH_SHARE)


def arm_memory(work: Workload) -> float:
    """Return the MB of arm."""
    return max(units.LEAST_MEMORY, work.function_memory * units.ARM_SHARE)


def fixed_calls(work: Workload) -> Iterator[InvocationCounts]:
    """Yield the calls of the scheduled passes and of the canaries."""
    turn = units.duration(units.SWEEP_CPU_MS, units.SWEEP_CALLS_MS, work.function_memory)
    turn += units.WHEEL_MS if work.timers == "wheel" else 0
    sweeps, catch_ups = units.SWEEPS * DAYS, units.CATCH_UPS * DAYS
    yield InvocationCounts("sweep", sweeps, sweeps * turn, work.function_memory)
    canaries = work.canaries
    armed = canaries * (units.ARM_MS + units.ARM_TIMER_MS)
    yield InvocationCounts("arm", canaries, armed, arm_memory(work))
    dispatch = dispatch_memory(work)
    sent = canaries * units.duration(units.DISPATCH_CPU_MS, units.DISPATCH_CALLS_MS, dispatch)
    yield InvocationCounts("dispatch", canaries, sent, dispatch)
    ran = canaries * (
        units.duration(units.WORK_CPU_MS, units.WORK_CALLS_MS + units.WAIT_MS, work.handler_memory)
    )
    yield InvocationCounts("work", canaries, ran, work.handler_memory)
    yield InvocationCounts("catch-up", catch_ups, catch_ups * units.CATCH_UP_MS, work.function_memory)


def waiting(work: Workload, volume: Volume, *, in_phase: bool) -> Iterator[InvocationCounts]:
    """Yield the time that functions sleep or wait, within their calls, for the fraction of a second."""
    if work.start == "second":
        return
    if in_phase:
        arm = min(volume.near * units.SLEEP_MS, units.PHASE_BATCHES * units.LONGEST_SLEEP_MS)
        yield InvocationCounts("arm", 0, arm, arm_memory(work))
        yield InvocationCounts("dispatch", 0, volume.timers * units.SLEEP_MS, dispatch_memory(work))
        yield InvocationCounts("sweep", 0, _wheel_sleeps(volume.turned), work.function_memory)
    late = _out_of_phase(work, volume, in_phase=in_phase)
    calls = worker_calls(work, volume, in_phase=in_phase) - late  # whose runs wait at the same time
    by_wheel = min(volume.turned, units.WHEEL_IN_PHASE) / max(1, volume.messages - late)
    wait = units.PHASE_WAIT_MS + min(1, by_wheel) * (units.WHEEL_WAIT_MS - units.PHASE_WAIT_MS)
    yield InvocationCounts("work", 0, calls * wait + late * units.WAIT_MS, work.handler_memory)


def queue_requests(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the requests that send, receive and delete messages; arm and the wheel send several in one."""
    batches, turns = _arm_batches(volume, in_phase=in_phase), units.DUE_SHARDS * units.SWEEPS * DAYS
    sends = volume.timers
    for messages, calls in ((volume.near, batches), (volume.turned, turns)):
        sends += min(messages, calls * work.workers + messages / units.SEND_GROUP)
    return sends + units.CALL_REQUESTS * worker_calls(work, volume, in_phase=in_phase)


def log_bytes(work: Workload, volume: Volume, *, in_phase: bool) -> float:
    """Return the bytes that arm and the workers write to their logs."""
    batches = min(volume.actions + volume.runs, _arm_batches(volume, in_phase=in_phase))
    ended = worker_calls(work, volume, in_phase=in_phase)
    written = batches * (units.ARM_LINE_BYTES - units.ONE_MORE_SCHEDULED_BYTES)
    written += volume.done * units.ONE_MORE_SCHEDULED_BYTES
    written += ended * units.RUN_LINE_BYTES + (volume.messages - ended) * units.ONE_MORE_BYTES
    if work.metrics == "all":
        written += batches * units.ARM_METRICS_BYTES + ended * units.RUN_METRICS_BYTES
    return written


def _wheel_sleeps(turned: float) -> float:
    """Return the milliseconds that the wheel sleeps: in each turn with messages, a second for each phase."""
    turns = units.SWEEPS * DAYS
    of_one = max(units.LONGEST_SLEEP_MS, turned / turns / units.WHEEL_PHASE * 1_000)
    return min(turned, turns) * min(of_one, units.WHEEL_SLEEPS * 1_000)


def _arm_batches(volume: Volume, *, in_phase: bool) -> float:
    return units.batches(volume.armed, units.PHASE_BATCHES if in_phase else units.STREAM_BATCHES)


def starts(calls: Iterable[InvocationCounts]) -> Iterator[InvocationCounts]:
    """Yield the INIT time of each function's environments; a function starts at most once a call."""
    for call in calls:
        of_one = units.duration(units.INIT_CPU_MS, 0, call.memory)
        yield InvocationCounts(call.function, 0, start_count(call) * of_one, call.memory)


def start_count(call: InvocationCounts) -> float:
    """Return the number of environments that a function's calls start."""
    return min(call.number, call.number * units.INIT_SHARE + units.INIT_RENEWALS)


def invocations(calls: Iterable[InvocationCounts]) -> float:
    """Return the number of calls of all functions."""
    return sum(call.number for call in calls)


def compute(calls: Iterable[InvocationCounts]) -> float:
    """Return the GB-seconds of all functions."""
    return sum(call.gigabyte_seconds for call in calls)
