"""Back ends in memory for tests of steps alone; a test gives those that it looks at."""

from duetime.clock import SystemClock
from duetime.memory.backends import MemoryBackends
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryQueues, MemoryTimers
from duetime.ports.access import AuditTrail, Grants
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime_contract.specimens import NOON


def backends(store=None, *, clock=None, settings=None, sends=None, **given):
    """Return back ends; `sends` is both the queues and the routes."""
    clock, settings, store = clock or TurnedClock(NOON), settings or Settings(), store or MemoryStore()
    if sends is not None:
        given |= {"queues": sends, "routes": sends}
    if "jobs" not in given:
        given["jobs"] = MemoryJobStore(store if isinstance(store, MemoryStore) else MemoryStore())
    others = {
        "queues": MemoryQueues(clock, settings.made.queue_visibility),
        "timers": MemoryTimers(),
        "job_wakes": MemoryJobWakes(clock),
        "bookmarks": MemoryBookmarks(),
        "routes": MemoryRoutes([]),
    }
    return MemoryBackends(clock=clock, settings=settings, store=store, **(others | given))


class MemoryGrants(Grants):
    """Grants over a dictionary."""

    def __init__(self):
        super().__init__(MemoryItems(), SystemClock())


class MemoryAuditTrail(AuditTrail):
    """Entries over a dictionary."""

    def __init__(self):
        super().__init__(MemoryItems())
