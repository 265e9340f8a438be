"""The set of back ends in memory, with their clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from duetime.clock import Clock
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.ports.jobs import JobWakes
from duetime.ports.rate_limits import NoSetLimits, SetLimits
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.wakeups import Bookmarks, DueQueues, Routes, Timers
from duetime.ports.work_pauses import NoWorkPauses, WorkPauses
from duetime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBackends:
    """The back ends of the steps. A simulation wraps them with faults."""

    clock: Clock
    settings: Settings
    store: ActionStore
    jobs: JobStore
    queues: DueQueues
    timers: Timers
    job_wakes: JobWakes
    bookmarks: Bookmarks
    routes: Routes
    pauses: WorkPauses = field(default_factory=NoWorkPauses)
    regions: ActiveRegions = field(default_factory=NoRegions)
    limits: SetLimits = field(default_factory=NoSetLimits)
