"""What the steps are wired over in memory: one set of back ends, and the clock that goes with them."""

from __future__ import annotations

from dataclasses import dataclass

from duetime.action_ports import ActionStore
from duetime.clock import Clock
from duetime.job_ports import JobStore, JobWakes
from duetime.ports import Bookmarks, DueQueues, Routes, Timers


@dataclass(frozen=True, slots=True, kw_only=True)
class Backends:
    """The back ends as the steps see them; a simulation puts its faults in between."""

    clock: Clock
    store: ActionStore
    jobs: JobStore
    queues: DueQueues
    timers: Timers
    job_wakes: JobWakes
    bookmarks: Bookmarks
    routes: Routes
