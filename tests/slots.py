"""A claim under concurrency keys over a store alone, for tests."""

from datetime import timedelta

from duetime.testing.turned_clock import TurnedClock
from duetime.worker.claim_with_slot import ClaimOneShot
from duetime.worker.pass_slots import PassSlots
from duetime_contract.specimens import NOON, SKEW
from tests.unpaused import UNPAUSED


class NoQueues:
    """Queues and routes that record what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, sends):
        self.sent.extend(sends)

    def queue_of(self, _type_name, *, is_high):
        return "default-high" if is_high else "default"


def claim_of(store, *, jitter_draw=0.5, queues=None, now=NOON, paused=UNPAUSED):
    """A worker's claim; what it passes on is sent to the queues."""
    queues = queues or NoQueues()
    pass_slots = PassSlots(store, queues, queues, clock=TurnedClock(now), skew=SKEW)
    return ClaimOneShot(
        store,
        pass_slots,
        jitter_draw=lambda: jitter_draw,
        retention=timedelta(days=30),
        paused=paused,
    )
