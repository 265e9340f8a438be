"""Settle a run whose lease another run has taken over."""

from duetime.model.lease import SettleResult
from duetime.model.outcome import CANCELLED, settlement
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.worker.claim_results import ClaimWon
from duetime.worker.pass_slots import PassSlots
from duetime.worker.settle import Settle


def settle_cancelled(memory, held):
    """Settle a former claim as cancelled; the store must reject it."""
    ports = memory.queues, memory.routes
    skew = memory.settings.clock_skew
    pass_slots = PassSlots(memory.store, *ports, clock=memory.clock, skew=skew)
    settle = Settle(memory.store, memory.job_store, *ports, clock=memory.clock, pass_slots=pass_slots)
    now, retention = memory.clock.now(), memory.settings.retention
    settled = settlement(CANCELLED, held, NEVER, now=now, retention=retention, jitter_draw=0)
    assert settle(ClaimWon(held, None, LockRequirement.NOTHING), settled) is SettleResult.LEASE_LOST
