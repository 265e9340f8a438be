"""When a job will run next, as far as it is known now: without what a pause, or somebody, has skipped. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from heapq import merge
from itertools import groupby

from duetime.cadence import Cadence
from duetime.job import WHOLE_JOB, Job
from duetime.stacked import Due, Stacked


def coming(job: Job, now: datetime) -> Iterator[Due]:
    """The nominal times after `now` that no pause covers, soonest first; endless where the cadences are."""
    if job.dropped_at is not None:
        return
    times = [
        Stacked((each,)).after(start)
        for each in job.stacked.cadences
        if (start := _silent_until(job, each, now)) is not None
    ]
    for at, alike in groupby(merge(*times, key=lambda due: due.at), key=lambda due: due.at):
        yield Due(at, tuple(name for each in alike for name in each.cadences))


def _silent_until(job: Job, cadence: Cadence, now: datetime) -> datetime | None:
    """The end of the pauses that cover a cadence; `now` if there are none, None if one has no end."""
    until = now
    for name in {WHOLE_JOB, cadence.name} & job.pauses.keys():
        ends_at = job.pauses[name].until
        if ends_at is None:
            return None
        until = max(until, ends_at)
    return until
