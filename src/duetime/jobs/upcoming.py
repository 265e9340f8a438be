"""When a job will run next, as far as it is known now: without what a pause, or somebody, has skipped. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge
from itertools import groupby

from duetime.cadence import Cadence
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.job import WHOLE_JOB, Job

_SECOND = timedelta(seconds=1)


def upcoming(job: Job, now: datetime, cadence: str = WHOLE_JOB) -> Iterator[DueTime]:
    """The nominal times after `now` that no pause covers, soonest first; endless where the cadences are.

    Of one cadence those that a run is made for: not those that an earlier one of the job's has, too.
    """
    if job.removed_at is not None:
        return
    if cadence != WHOLE_JOB:
        yield from _of_one(job, cadence, now)
        return
    times = [
        CadenceSet((cadence,)).after(start)
        for cadence in job.stacked.cadences
        if (start := _silent_until(job, cadence, now)) is not None
    ]
    for at, alike in groupby(merge(*times, key=lambda due: due.at), key=lambda due: due.at):
        yield DueTime(at, tuple(name for each in alike for name in each.cadences))


def _of_one(job: Job, name: str, now: datetime) -> Iterator[DueTime]:
    cadences = job.stacked.cadences
    place = next((place for place, cadence in enumerate(cadences) if cadence.name == name), None)
    if place is None or (start := _silent_until(job, cadences[place], now)) is None:
        return
    for due in CadenceSet((cadences[place],)).after(start):
        if not any(_has(job, cadence, due.at, now) for cadence in cadences[:place]):
            yield due


def _has(job: Job, cadence: Cadence, at: datetime, now: datetime) -> bool:
    start = _silent_until(job, cadence, now)
    return start is not None and at > start and cadence.next_after(at - _SECOND) == at


def _silent_until(job: Job, cadence: Cadence, now: datetime) -> datetime | None:
    """The end of the pauses that cover a cadence; `now` if there are none, None if one has no end."""
    until = now
    for name in {WHOLE_JOB, cadence.name} & job.pauses.keys():
        ends_at = job.pauses[name].until
        if ends_at is None:
            return None
        until = max(until, ends_at)
    return until
