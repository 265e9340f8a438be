"""Settle a run whose lease another run has taken over."""

from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.lease import SettleResult
from duetime.model.outcome import CANCELLED, settlement
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.worker.claim_results import ClaimWon
from duetime.worker.end_run import Settle


def settle_cancelled(memory, held):
    """Settle a former claim as cancelled; the store must reject it."""
    real = memory.seen_by_caller(None)
    settle = Settle(real, KnownRegion(real.regions, real.clock))
    now, retention = memory.clock.now(), memory.settings.retention
    settled = settlement(CANCELLED, held, NEVER, now=now, retention=retention, jitter_draw=0)
    assert settle(ClaimWon(held, None, LockRequirement.NOTHING), settled) is SettleResult.LEASE_LOST
