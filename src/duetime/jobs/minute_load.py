"""The runs of other jobs in the minutes of some times. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from duetime.instant import floor
from duetime.jobs.upcoming import upcoming
from duetime.model.job import Job

_MINUTE = timedelta(minutes=1)
_TICK = timedelta(microseconds=1)
_MOST_RUNS = 60
"""The most runs of one job that are counted in a minute."""


@dataclass(frozen=True, slots=True)
class MinuteLoad:
    """The planned runs of other jobs in one minute."""

    at: datetime
    """The begin of the minute."""
    runs: int
    """The planned runs of other jobs in it."""
    jobs: tuple[str, ...]
    """The jobs that have them, by name."""


def load_beside(times: Iterable[datetime], others: Sequence[Job]) -> Iterator[MinuteLoad]:
    """Yield the load of each time's minute that has any, in the order of the times."""
    for minute in dict.fromkeys(floor(at, _MINUTE) for at in times):
        counts = {job.name: count for job in others if (count := _runs(job, minute))}
        if counts:
            yield MinuteLoad(minute, sum(counts.values()), tuple(sorted(counts)))


def _runs(job: Job, minute: datetime) -> int:
    times = (due.at for due in upcoming(job, minute - _TICK))
    return sum(1 for _ in islice(takewhile(lambda at: at < minute + _MINUTE, times), _MOST_RUNS))
