"""A claim under concurrency keys over a store alone, for tests."""

from datetime import timedelta

from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.worker.claim_run import ClaimOneShot
from duetime_contract.specimens import NOON, SKEW
from tests.backends import backends
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
    settings = Settings(retention=timedelta(days=30), clock_skew=SKEW)
    over = backends(store, sends=queues, clock=TurnedClock(now), settings=settings)
    return ClaimOneShot(over, jitter_draw=lambda: jitter_draw, paused=paused)
