"""The tables: write units, read units and stored bytes."""

from __future__ import annotations

import math

from duetime.cost import units
from duetime.cost.functions import stand_ins
from duetime.cost.units import DAYS, KB, kilobytes
from duetime.cost.workload import Volume, Workload

# Intervals of lease renewal and cancel checks: `settings.heartbeat` and `cancel_poll`.
RENEWED_MS, CANCEL_POLL_MS = 60_000, 3_000
_READ_BYTES = 4 * KB
_GB = 1_000_000_000


def writes(work: Workload, volume: Volume) -> float:
    """Return the write units a month that grow with the work."""
    of_one = (
        life_writes(work.payload_bytes)
        + work.correlation_share * units.CORRELATION_WRITES
        + work.keyed_share * keyed_writes(work.payload_bytes)
        + work.retries_share * retry_writes(work.payload_bytes)
        + work.rated_share * (1 + work.retries_share) * units.START_WRITES
        + work.rated_share * work.deferred_share * deferral_writes(work.payload_bytes)
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


def retry_writes(payload_bytes: float) -> int:
    """Return the write units of a further attempt: its claim, and the settle before it."""
    return units.RETRY_WRITES + 2 * (_row(payload_bytes)[1] - 1)


def deferral_writes(payload_bytes: float) -> int:
    """Return the write units of a deferral."""
    return units.DEFERRAL_WRITES + _row(payload_bytes)[0] - 1


def keyed_writes(payload_bytes: float) -> int:
    """Return the write units that a concurrency key adds: transactions count each row twice."""
    keyed = units.KEYED_CLAIM_WRITES + units.KEYED_SETTLE_WRITES - units.CLAIM_WRITES - units.SETTLE_WRITES
    return keyed + 2 * (_row(payload_bytes)[1] - 1)


def _row(payload_bytes: float) -> tuple[int, int]:
    inside = 0 if payload_bytes > units.IN_ROW_LIMIT else payload_bytes
    return kilobytes(inside + units.PENDING_BYTES), kilobytes(inside + units.RUN_BYTES)


def _with_wheel(work: Workload, quantity: float) -> float:
    return quantity if work.timers == "wheel" else 0
