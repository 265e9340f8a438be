"""The units a month that a workload takes: the calls of functions, the requests of queues, and the tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from duetime.cost import units
from duetime.cost.units import DAYS, KB, kilobytes
from duetime.cost.workload import Volume, Workload

_MB_OF_GB = 1_024
# Intervals of lease renewal and cancel checks: `settings.heartbeat` and `cancel_poll`.
RENEWED_MS, CANCEL_POLL_MS = 60_000, 3_000
_READ_BYTES = 4 * KB
_GB = 1_000_000_000


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
    own, batches = work.function_memory, _arm_batches(volume, in_phase=in_phase)
    arm = batches * units.ARM_MS + volume.armed * units.ARM_RECORD_MS + volume.timers * units.ARM_TIMER_MS
    yield InvocationCounts("arm", batches, arm, small_memory(work, units.ARM_SHARE))
    yield _dispatched(work, volume.timers + volume.runs)
    calls = worker_calls(work, volume, in_phase=in_phase)
    runs = calls * volume.attempts / volume.messages if volume.messages else 0
    waits = calls * units.WORK_CALLS_MS + runs * work.handler_ms
    ran = units.duration(volume.messages * units.WORK_CPU_MS, waits, work.handler_memory)
    yield InvocationCounts("work", calls, ran, work.handler_memory)
    rows = volume.turned * units.duration(units.WHEEL_ROW_CPU_MS, 0, own)
    yield InvocationCounts("sweep", 0, rows + stand_ins(work, volume) * units.WHEEL_MS, own)
    batches = units.batches(volume.events)
    publish = batches * units.PUBLISH_MS + volume.events * units.PUBLISH_RECORD_MS
    yield InvocationCounts("publish", batches, publish, own)
    requests = work.api_requests_per_day * DAYS
    yield InvocationCounts("api", requests, requests * units.API_MS, own)


def _dispatched(work: Workload, number: float) -> InvocationCounts:
    memory = small_memory(work, units.DISPATCH_SHARE)
    of_one = units.duration(units.DISPATCH_CPU_MS, units.DISPATCH_CALLS_MS, memory)
    return InvocationCounts("dispatch", number, number * of_one, memory)


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


def small_memory(work: Workload, share: float) -> float:
    """Return the MB of dispatch or of arm, by its share."""
    return max(units.LEAST_MEMORY, work.function_memory * share)


def fixed_calls(work: Workload) -> Iterator[InvocationCounts]:
    """Yield the calls of the scheduled passes and of the canaries."""
    own, canaries = work.function_memory, work.canaries
    turn = units.duration(units.SWEEP_CPU_MS, units.SWEEP_CALLS_MS, own) + _with_wheel(work, units.WHEEL_MS)
    sweeps, catch_ups = units.SWEEPS * DAYS, units.CATCH_UPS * DAYS
    yield InvocationCounts("sweep", sweeps, sweeps * turn, own)
    armed = canaries * (units.ARM_MS + units.ARM_TIMER_MS)
    yield InvocationCounts("arm", canaries, armed, small_memory(work, units.ARM_SHARE))
    yield _dispatched(work, canaries)
    of_one = units.duration(units.WORK_CPU_MS, units.WORK_CALLS_MS + units.WAIT_MS, work.handler_memory)
    yield InvocationCounts("work", canaries, canaries * of_one, work.handler_memory)
    yield InvocationCounts("catch-up", catch_ups, catch_ups * units.CATCH_UP_MS, own)


def waiting(work: Workload, volume: Volume, *, in_phase: bool) -> Iterator[InvocationCounts]:
    """Yield the time that functions sleep or wait, within their calls, for the fraction of a second."""
    if work.start == "second":
        return
    if in_phase:
        arm = min(volume.near * units.SLEEP_MS, units.PHASE_BATCHES * units.LONGEST_SLEEP_MS)
        yield InvocationCounts("arm", 0, arm, small_memory(work, units.ARM_SHARE))
        dispatch = small_memory(work, units.DISPATCH_SHARE)
        yield InvocationCounts("dispatch", 0, volume.timers * units.SLEEP_MS, dispatch)
        turns = units.SWEEPS * DAYS
        # In each turn with messages, a second for each phase.
        of_turn = max(units.LONGEST_SLEEP_MS, volume.turned / turns / units.WHEEL_PHASE * 1_000)
        slept = min(volume.turned, turns) * min(of_turn, units.WHEEL_SLEEPS * 1_000)
        yield InvocationCounts("sweep", 0, slept, work.function_memory)
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


def writes(work: Workload, volume: Volume) -> float:
    """Return the write units a month that grow with the work."""
    put, run = _row(work.payload_bytes)
    # Transactions count each row twice.
    keyed = units.KEYED_CLAIM_WRITES + units.KEYED_SETTLE_WRITES - units.CLAIM_WRITES - units.SETTLE_WRITES
    of_one = (
        life_writes(work.payload_bytes)
        + work.correlation_share * units.CORRELATION_WRITES
        + work.keyed_share * (keyed + 2 * (run - 1))
        + work.retries_share * (units.RETRY_WRITES + 2 * (run - 1))
        + work.rated_share * (1 + work.retries_share) * units.START_WRITES
        + work.rated_share * work.deferred_share * (units.DEFERRAL_WRITES + put - 1)
    )
    of_run = (
        units.PLAN_WRITES
        + units.RUN_WRITES
        + units.COUNT_WRITES
        + work.retries_share * (units.RUN_WRITES + units.COUNT_WRITES)
    )
    return (
        volume.actions * of_one
        + volume.runs * of_run
        + volume.failures * units.FAILURE_WRITES
        + (volume.failures + volume.retries) * units.TRACEBACK_WRITES
        + volume.attempts * (work.handler_ms // RENEWED_MS)
        + stand_ins(work, volume) * (units.WHEEL_WRITES + units.STAND_IN_WRITES)
    )


def fixed_writes(work: Workload) -> float:
    """Return the write units a month of the passes and the canaries."""
    passes = units.SWEEPS * DAYS * (units.SWEEP_WRITES + _with_wheel(work, units.WHEEL_WRITES))
    return passes + work.canaries * units.LIFE_WRITES


def reads(work: Workload, volume: Volume) -> float:
    """Return the read units a month that grow with the work."""
    payload = (
        math.ceil((work.payload_bytes + units.OFFLOADED_BYTES) / _READ_BYTES) if volume.is_offloaded else 0
    )
    attempts = 1 + work.retries_share
    sweeps = units.SWEEPS * DAYS if volume.attempts and work.handler_ms > units.OVERDUE_MS else 0
    return (
        sweeps * units.OVERDUE_READS
        + volume.actions * attempts * (units.CLAIM_READS + payload)
        + volume.actions * work.keyed_share * (units.KEYED_READS - units.CLAIM_READS)
        + volume.actions * work.rated_share * attempts * units.START_READS
        + volume.deferrals * units.DEFERRAL_READS
        + volume.runs * attempts * (units.RUN_READS + 2 * units.PLAN_READS)
        + volume.attempts * (work.handler_ms // CANCEL_POLL_MS)
        + volume.turned * units.WHEEL_READS_OF_ONE
        + stand_ins(work, volume) * (units.WHEEL_READS + units.STAND_IN_READS)
        + work.api_requests_per_day * DAYS * units.LIST_READS
    )


def fixed_reads(work: Workload) -> float:
    """Return the read units a month of the passes."""
    sweeps = units.SWEEPS * DAYS * (units.SWEEP_READS + _with_wheel(work, units.WHEEL_READS))
    return sweeps + units.CATCH_UPS * DAYS * units.CATCH_UP_READS


def stored_gigabytes(work: Workload) -> float:
    """Return the GB of rows stored at any time: pending rows, and settled rows until they expire."""
    pending_days = work.far_share * work.far_hours / 24
    run: float = units.RUN_BYTES + units.ITEM_OVERHEAD
    pending = units.PENDING_BYTES + units.ITEM_OVERHEAD + units.ENTRY_BYTES
    apart = units.OFFLOADED_BYTES + units.ITEM_OVERHEAD if work.payload_bytes > units.IN_ROW_LIMIT else 0
    payload = work.payload_bytes + apart
    settled = run + payload + work.correlation_share * units.ENTRY_BYTES
    actions = work.actions_per_day * (work.retention_days * settled + pending_days * (pending + payload))
    return (actions + work.runs_of_jobs_per_day * work.retention_days * run) / _GB


def life_writes(payload_bytes: float) -> int:
    """Return the write units from schedule to settle, with the write and removal of an offloaded payload."""
    if payload_bytes > units.IN_ROW_LIMIT:
        return units.LIFE_WRITES + 2 * kilobytes(payload_bytes + units.OFFLOADED_BYTES)
    put, run = _row(payload_bytes)
    return units.LIFE_WRITES + (put - 1) + 2 * (run - 1)


def _row(payload_bytes: float) -> tuple[int, int]:
    inside = 0 if payload_bytes > units.IN_ROW_LIMIT else payload_bytes
    return kilobytes(inside + units.PENDING_BYTES), kilobytes(inside + units.RUN_BYTES)


def _with_wheel(work: Workload, quantity: float) -> float:
    return quantity if work.timers == "wheel" else 0
