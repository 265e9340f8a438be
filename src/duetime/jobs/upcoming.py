"""The next nominal times of a job, without those under a pause. Pure."""

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
    """Return the nominal times after `now` without a pause, soonest first; endless if the cadences are.

    With `cadence`, return those of its own runs: a time that an earlier cadence shares belongs to that one.
    """
    if job.removed_at is not None:
        return
    if cadence != WHOLE_JOB:
        yield from _of_one(job, cadence, now)
        return
    times = [
        CadenceSet((cadence,)).after(start)
        for cadence in job.cadence_set.cadences
        if (start := _paused_until(job, cadence, now)) is not None
    ]
    for at, same in groupby(merge(*times, key=lambda due: due.at), key=lambda due: due.at):
        yield DueTime(at, tuple(name for due in same for name in due.cadences))


def _of_one(job: Job, name: str, now: datetime) -> Iterator[DueTime]:
    cadences = job.cadence_set.cadences
    index = next((index for index, cadence in enumerate(cadences) if cadence.name == name), None)
    if index is None or (start := _paused_until(job, cadences[index], now)) is None:
        return
    for due in CadenceSet((cadences[index],)).after(start):
        if not any(_has(job, cadence, due.at, now) for cadence in cadences[:index]):
            yield due


def _has(job: Job, cadence: Cadence, at: datetime, now: datetime) -> bool:
    start = _paused_until(job, cadence, now)
    return start is not None and at > start and cadence.next_after(at - _SECOND) == at


def _paused_until(job: Job, cadence: Cadence, now: datetime) -> datetime | None:
    """Return the end of a cadence's pauses; `now` without one, None if a pause has no end."""
    until = now
    for name in {WHOLE_JOB, cadence.name} & job.pauses.keys():
        ends_at = job.pauses[name].until
        if ends_at is None:
            return None
        until = max(until, ends_at)
    return until
