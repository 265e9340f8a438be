"""For tests of claims alone: a worker in whose deployment nothing is paused."""

from duetime.clock import SystemClock
from duetime.jobs.trusted_reading import KnownPauses
from duetime.ports.work_pauses import NoWorkPauses
from duetime.worker.paused_work import PausedWork

UNPAUSED = PausedWork(KnownPauses(NoWorkPauses(), SystemClock()), "default")
