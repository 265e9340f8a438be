"""Minutes in which many jobs begin. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from duetime.instant import floor
from duetime.jobs.upcoming import upcoming
from duetime.model.job import Job

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Jobs that begin in the same minutes.

    Attributes:
        at: the first such minute.
        times: how many minutes have the same jobs.
    """

    at: datetime
    jobs: tuple[str, ...]
    times: int


@dataclass(frozen=True, slots=True)
class HourPeak:
    """The load of an hour.

    Attributes:
        at: the begin of the hour.
        begins: how often a job begins in it, counted once a minute.
        peak_at: its first minute with the most jobs.
        peak: how many jobs begin in that minute.
    """

    at: datetime
    begins: int
    peak_at: datetime
    peak: int


@dataclass(slots=True)
class MinuteCounts:
    """Which jobs begin in each minute; a job that begins several times in a minute counts once."""

    jobs_by_minute: defaultdict[datetime, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, job: str, times: Iterable[datetime]) -> None:
        """Count the times of a job."""
        for minute in dict.fromkeys(floor(at, MINUTE) for at in times):
            self.jobs_by_minute[minute].append(job)

    def crowds(self, above: int) -> list[Crowd]:
        """Return the sets of more than `above` jobs that begin in one minute, the largest first."""
        return _crowds({at: jobs for at, jobs in self.jobs_by_minute.items() if len(jobs) > above})

    def minutes_above(self, capacity: int) -> int:
        """Return in how many minutes more than `capacity` jobs begin."""
        return sum(len(jobs) > capacity for jobs in self.jobs_by_minute.values())

    def hours(self) -> list[HourPeak]:
        """Return the load of each hour in which a job begins, in order."""
        minutes = defaultdict[datetime, list[datetime]](list)
        for minute in sorted(self.jobs_by_minute):
            minutes[floor(minute, HOUR)].append(minute)
        return [self._peak(hour, found) for hour, found in minutes.items()]

    def _peak(self, hour: datetime, minutes: Sequence[datetime]) -> HourPeak:
        counts = {minute: len(self.jobs_by_minute[minute]) for minute in minutes}
        peak_at = max(minutes, key=lambda minute: (counts[minute], -minute.timestamp()))
        return HourPeak(hour, sum(counts.values()), peak_at, counts[peak_at])


def _crowds(by_minute: Mapping[datetime, Sequence[str]]) -> list[Crowd]:
    times = Counter(tuple(jobs) for jobs in by_minute.values())
    first = {tuple(jobs): at for at, jobs in sorted(by_minute.items(), reverse=True)}
    found = (Crowd(first[jobs], jobs, count) for jobs, count in times.items())
    return sorted(found, key=lambda crowd: (-len(crowd.jobs), crowd.at))


@dataclass(frozen=True, slots=True)
class LoadForecast:
    """The load of some jobs in a span of time.

    Attributes:
        counted: how many jobs were counted.
        is_complete: whether all jobs were counted.
    """

    minutes: MinuteCounts
    counted: int
    is_complete: bool


def forecast(jobs: Iterable[Job], now: datetime, until: datetime, *, most_minutes: int) -> LoadForecast:
    """Return the load of jobs after `now`, up to `until`; pauses are respected.

    Jobs are counted in their order, until their minutes exceed `most_minutes`. Jobs with the same cadences
    share a computation.
    """
    minutes, counted, left = MinuteCounts(), 0, most_minutes
    known = dict[object, tuple[datetime, ...]]()
    for job in jobs:
        key = job.ref if job.pauses or job.removed_at else job.cadence_set
        times = known.get(key)
        if times is None:
            times = known[key] = tuple(islice(_minutes(job, now, until), left + 1))
            if len(times) > left:
                return LoadForecast(minutes, counted, is_complete=False)
            left -= len(times)
        minutes.add(job.name, times)
        counted += 1
    return LoadForecast(minutes, counted, is_complete=True)


def _minutes(job: Job, now: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the minutes in which a job begins, each once: a job of every second costs what one of 30 does."""
    times, last = upcoming(job, now), None
    while (due := next(times, None)) is not None and due.at <= until:
        minute = floor(due.at, MINUTE)
        if minute != last:
            yield minute
            last = minute
        else:
            times = upcoming(job, minute + MINUTE - timedelta.resolution)
