"""Describes the app's jobs: their cadences and next runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from duetime.cadence import parse
from duetime.model.job import Job

_LONGEST_LIST = 20


@dataclass(frozen=True, slots=True)
class UpcomingRun:
    """A job, its cadences in words, and its next nominal time in words, empty where no time makes it due."""

    name: str
    cadences: str
    next_run: str


def upcoming_runs(jobs: Iterable[Job], now: datetime) -> Sequence[UpcomingRun]:
    """Return the next run of each job after `now`."""
    return [
        UpcomingRun(job.name, " and ".join(_words(job)), _next_run(job, now))
        for job in sorted(jobs, key=lambda job: job.name)
    ]


def job_lines(jobs: Sequence[UpcomingRun]) -> Sequence[str]:
    """Return a line for each of the first 20 jobs."""
    width = max((len(job.name) for job in jobs), default=0)
    lines = [_line(job, width) for job in islice(jobs, _LONGEST_LIST)]
    return [*lines, f"and {len(jobs) - _LONGEST_LIST} more"] if len(jobs) > _LONGEST_LIST else lines


def _line(job: UpcomingRun, width: int) -> str:
    return f"{job.name:{width}}  {'; '.join(filter(None, (job.cadences, job.next_run)))}"


def _words(job: Job) -> Sequence[str]:
    return [parse(cadence).describe() for cadence in job.definition.cadences]


def _next_run(job: Job, now: datetime) -> str:
    if job.is_paused:
        return "paused"
    at = job.stacked.next_after(now)
    if at is None:
        return ""
    here, today = at.astimezone(), now.astimezone().date()
    return f"next {here:%H:%M:%S}" if here.date() == today else f"next {here:%Y-%m-%d %H:%M:%S %Z}"
