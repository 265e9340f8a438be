"""The runs that an app's jobs would have in a span of time, computed from their cadences.

``duetime app simulate --app module:name`` prints them. To run the handlers, use
`duetime.testing.SimulatedCloud`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice

from duetime.app import App
from duetime.cadence import Cadence, LocalOccurrence, upcoming_clock_changes
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import JobRef, delay_key

YEAR = timedelta(days=365)
"""The default span."""

MOST = 100_000
"""Runs of a job counted at most: a job of every second has as many in 28 hours."""


@dataclass(frozen=True, slots=True)
class JobRuns:
    """The runs of a job.

    Attributes:
        runs: the nominal times, at most `MOST`.
        is_cut: whether it has more.
        changes: the first occurrence that each clock change affects.
    """

    name: JobName
    runs: tuple[datetime, ...]
    is_cut: bool
    changes: tuple[LocalOccurrence, ...]


@dataclass(frozen=True, slots=True)
class Simulated:
    """The runs of all of an app's jobs in (start, until]."""

    start: datetime
    until: datetime
    jobs: tuple[JobRuns, ...]

    def runs(self) -> Iterator[tuple[datetime, JobName]]:
        """Yield every counted run, in order of time."""
        return merge(*([(at, job.name) for at in job.runs] for job in self.jobs))

    def most_at_once(self) -> tuple[datetime, tuple[JobName, ...]] | None:
        """Return the first instant with the most due jobs, and these jobs; None if it has only one."""
        counted = Counter(at for job in self.jobs for at in job.runs)
        at = min(counted, key=lambda instant: (-counted[instant], instant), default=None)
        if at is None or counted[at] == 1:
            return None
        return at, tuple(job.name for job in self.jobs if at in job.runs)


def simulate(app: App, start: datetime, until: datetime) -> Simulated:
    """Return the nominal times of an app's jobs in (start, until]; intervals begin at `start`."""
    handlers = [handler for _, handler in sorted(app.handlers.items())]
    jobs = (_runs(handler.job.name, handler.cadences, start, until) for handler in handlers if handler.job)
    return Simulated(start, until, tuple(jobs))


def runs_per_day(app: App, start: datetime) -> Mapping[JobName, float]:
    """Return how often each job of an app runs a day, on average over a year, or over its first `MOST` runs.

    Runs that events start are not counted.
    """
    return {job.name: _per_day(job) for job in simulate(app, start, start + YEAR).jobs}


def _per_day(job: JobRuns) -> float:
    day = timedelta(days=1)
    if not job.is_cut:
        return len(job.runs) / (YEAR / day)
    return (len(job.runs) - 1) / ((job.runs[-1] - job.runs[0]) / day)


def _runs(name: JobName, cadences: tuple[Cadence, ...], start: datetime, until: datetime) -> JobRuns:
    cadence_set = CadenceSet.anchored(cadences, start, delay_key(JobRef(SYSTEM_TENANT, name)))
    found = [due.at for due in islice(cadence_set.between(start, until), MOST + 1)]
    changes = [
        row for cadence in cadence_set.cadences for row in upcoming_clock_changes(cadence, start, until)
    ]
    changes.sort(key=lambda row: row.local)
    return JobRuns(name, tuple(found[:MOST]), len(found) > MOST, tuple(changes))
