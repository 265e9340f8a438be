"""The runs that an app's jobs would have in a span of time, computed from their cadences.

``duetime app simulate --app module:name`` prints them. To run the handlers, use
`duetime.testing.SimulatedCloud`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from heapq import merge
from itertools import islice

from duetime.app import App
from duetime.cadence import Cadence, Cron, LocalOccurrence, parse, upcoming_clock_changes
from duetime.cadence._daily import AtATime
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.crowded_minutes import Crowd, MinuteCounts
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


SPAN = timedelta(days=7)
"""How far ahead storms are searched by default."""

_MINUTE, _HOUR = timedelta(minutes=1), 60


@dataclass(frozen=True, slots=True)
class Move:
    """A cadence of a job, and the same one at another minute of its hour."""

    job: JobName
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Storm:
    """A minute in which too many jobs begin.

    Attributes:
        at: the first such minute.
        times: how many minutes have the same jobs.
        moves: leave as many jobs as the worker takes; jobs without a fixed minute have none.
    """

    at: datetime
    jobs: tuple[str, ...]
    times: int
    moves: tuple[Move, ...]


def storms(app: App, start: datetime, until: datetime, capacity: int) -> list[Storm]:
    """Return the minutes in (start, until] in which more than `capacity` jobs begin, the largest first.

    Args:
        app: has the jobs.
        start: intervals begin here.
        until: the end.
        capacity: how many runs may begin in a minute: the setting `worker_concurrency`, if each may last that
            long.
    """
    minutes = MinuteCounts()
    for job in simulate(app, start, until).jobs:
        minutes.add(job.name, job.runs)

    def full(at: datetime) -> set[int]:
        """Return the minutes of an hour that have no room."""
        times = ((minute, at.replace(minute=minute)) for minute in range(_HOUR))
        return {minute for minute, when in times if minutes.count_at(when) >= capacity}

    cadences = {handler.job.name: handler.cadences for handler in app.handlers.values() if handler.job}
    return [
        Storm(
            crowd.at,
            crowd.jobs,
            crowd.times,
            tuple(_moves(_last_to_stay(crowd, cadences)[capacity:], cadences, crowd.at, full(crowd.at))),
        )
        for crowd in minutes.crowds(above=capacity)
    ]


def _last_to_stay(crowd: Crowd, cadences: Mapping[JobName, Sequence[Cadence]]) -> list[JobName]:
    """Return the jobs, those that can move at the end."""

    def can_move(job: JobName) -> bool:
        return any(_at_minute(cadence, 0) for cadence in cadences[job] if cadence.matches(crowd.at))

    return sorted((JobName(job) for job in crowd.jobs), key=can_move)


def _moves(
    jobs: Sequence[JobName], cadences: Mapping[JobName, Sequence[Cadence]], at: datetime, full: set[int]
) -> Iterator[Move]:
    """Yield a move for each job with a fixed minute: to one by its name that has room."""
    taken = {at.minute, *full}
    for job in jobs:
        for cadence in cadences[job]:
            if not cadence.matches(at):
                continue
            minute = _free_minute(job, taken)
            moved = None if minute is None else _at_minute(cadence, minute)
            if minute is not None and moved is not None:
                taken.add(minute)
                yield Move(job, cadence.text, moved)


def _free_minute(job: JobName, taken: set[int]) -> int | None:
    begin = int.from_bytes(sha256(job.encode()).digest()[:4], "big") % _HOUR
    free = (begin + step for step in range(_HOUR))
    return next((minute % _HOUR for minute in free if minute % _HOUR not in taken), None)


def _at_minute(cadence: Cadence, minute: int) -> str | None:
    """Return a cadence's text at another minute of its hour; None if its minute is not fixed."""
    if isinstance(cadence, AtATime) and not cadence.later:
        return replace(cadence, at=cadence.at // 3_600 * 3_600 + minute * 60 + cadence.at % 60).text
    if not isinstance(cadence, Cron) or cadence.parts.minutes.bit_count() != 1:
        return None
    fields = cadence.parts.text.split()
    if len(fields) == 1:  # a macro, such as @daily
        return None
    fields[-5] = str(minute)
    head, options = cadence.parts.text, cadence.text.removeprefix("cron ")
    text = f"cron {' '.join(fields)}{options[len(head) :]}"
    return parse(text).text
