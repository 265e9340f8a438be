"""Which runs an app's jobs would have in a span: their cadences are walked through, and nothing is run.

``duetime simulate --app module:name`` prints it. What the handlers would do there is `duetime.testing.SimulatedCloud`'s to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from duetime.app import App
from duetime.ids import JobName
from duetime.model.cadence_set import CadenceSet

if TYPE_CHECKING:
    from duetime.cadence import Explained

MOST = 100_000
"""Runs of a job that are counted: a job of every second has so many in 28 hours."""


@dataclass(frozen=True, slots=True)
class JobRuns:
    """What a job would have.

    Attributes:
        runs: the nominal times, at most `MOST`.
        is_cut: whether it has more.
        changes: for each change of the clocks that does something to the job, the first time that it does it to.
    """

    name: JobName
    runs: tuple[datetime, ...]
    is_cut: bool
    changes: tuple[Explained, ...]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What all of an app's jobs would have in (start, until]."""

    start: datetime
    until: datetime
    jobs: tuple[JobRuns, ...]

    def runs(self) -> Iterator[tuple[datetime, JobName]]:
        """Every run that is counted, in order of time."""
        return merge(*([(at, job.name) for at in job.runs] for job in self.jobs))

    def most_at_once(self) -> tuple[datetime, tuple[JobName, ...]] | None:
        """The first instant at which most jobs are due, and these; None where no two ever are."""
        counted = Counter(at for job in self.jobs for at in job.runs)
        at = min(counted, key=lambda each: (-counted[each], each), default=None)
        if at is None or counted[at] == 1:
            return None
        return at, tuple(job.name for job in self.jobs if at in job.runs)


def simulate(app: App, start: datetime, until: datetime) -> Simulated:
    """The nominal times that an app's jobs have in (start, until], were it deployed at `start`: intervals begin there."""
    handlers = [each for _, each in sorted(app.handlers.items())]
    jobs = (
        _runs(handler.job.name, handler.job.cadences, start, until) for handler in handlers if handler.job
    )
    return Simulated(start, until, tuple(jobs))


def _runs(name: JobName, texts: tuple[str, ...], start: datetime, until: datetime) -> JobRuns:
    from duetime.cadence import upcoming_clock_changes  # noqa: PLC0415 - an app without jobs loads no cadence

    stacked = CadenceSet.of(texts, start)
    found = [due.at for due in islice(stacked.between(start, until), MOST + 1)]
    changes = [row for cadence in stacked.cadences for row in upcoming_clock_changes(cadence, start, until)]
    changes.sort(key=lambda row: row.local)
    return JobRuns(name, tuple(found[:MOST]), len(found) > MOST, tuple(changes))
