"""Minutes in which many jobs begin. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
    """Which jobs begin in each minute; a job that begins several times in a minute counts once.

    Attributes:
        groups: the jobs with the same times, each with its place among all jobs.
        groups_by_minute: the numbers of the groups that begin in a minute.
    """

    groups: list[list[tuple[int, str]]] = field(default_factory=list)
    groups_by_minute: defaultdict[datetime, list[int]] = field(default_factory=lambda: defaultdict(list))
    jobs: int = 0

    def add(self, job: str, times: Iterable[datetime]) -> int:
        """Count the times of a job, and return the number of its group."""
        group = len(self.groups)
        self.groups.append([])
        for minute in dict.fromkeys(floor(at, MINUTE) for at in times):
            self.groups_by_minute[minute].append(group)
        self.add_to(group, job)
        return group

    def add_to(self, group: int, job: str) -> None:
        """Count a job with the times of a group."""
        self.groups[group].append((self.jobs, job))
        self.jobs += 1

    def count_at(self, minute: datetime) -> int:
        """Return how many jobs begin in a minute."""
        return self._size(self.groups_by_minute.get(minute, ()))

    def crowds(self, above: int, most: int | None = None) -> list[Crowd]:
        """Return the sets of more than `above` jobs that begin in one minute, the largest first.

        Args:
            above: a number of jobs.
            most: the most sets that are returned; None returns all.
        """
        times = Counter(map(tuple, self.groups_by_minute.values()))
        first = {tuple(groups): at for at, groups in sorted(self.groups_by_minute.items(), reverse=True)}
        sizes = {groups: size for groups in times if (size := self._size(groups)) > above}
        largest = sorted(sizes, key=lambda groups: (-sizes[groups], first[groups]))
        return [Crowd(first[groups], self._names(groups), times[groups]) for groups in largest[:most]]

    def minutes_above(self, capacity: int) -> int:
        """Return in how many minutes more than `capacity` jobs begin."""
        return sum(self._size(groups) > capacity for groups in self.groups_by_minute.values())

    def hours(self) -> list[HourPeak]:
        """Return the load of each hour in which a job begins, in order."""
        minutes = defaultdict[datetime, list[datetime]](list)
        for minute in sorted(self.groups_by_minute):
            minutes[floor(minute, HOUR)].append(minute)
        return [self._peak(hour, found) for hour, found in minutes.items()]

    def _peak(self, hour: datetime, minutes: Sequence[datetime]) -> HourPeak:
        counts = {minute: self.count_at(minute) for minute in minutes}
        peak_at = max(minutes, key=lambda minute: (counts[minute], -minute.timestamp()))
        return HourPeak(hour, sum(counts.values()), peak_at, counts[peak_at])

    def _size(self, groups: Iterable[int]) -> int:
        return sum(len(self.groups[group]) for group in groups)

    def _names(self, groups: Iterable[int]) -> tuple[str, ...]:
        placed = sorted(job for group in groups for job in self.groups[group])
        return tuple(name for _, name in placed)


@dataclass(frozen=True, slots=True)
class LoadForecast:
    """The load of some jobs in a span of time.

    Attributes:
        minutes: has the jobs that were counted.
        is_complete: whether all jobs were counted.
    """

    minutes: MinuteCounts
    is_complete: bool


def forecast(jobs: Iterable[Job], now: datetime, until: datetime, *, most_minutes: int) -> LoadForecast:
    """Return the load of jobs after `now`, up to `until`; pauses are respected.

    Jobs are counted in their order, until their minutes exceed `most_minutes`. Jobs with the same cadences
    share a computation.
    """
    minutes, left, groups = MinuteCounts(), most_minutes, dict[object, int]()
    for job in jobs:
        key = job.ref if job.pauses or job.removed_at else job.cadence_set
        if key in groups:
            minutes.add_to(groups[key], job.name)
            continue
        times = tuple(islice(_minutes(job, now, until), left + 1))
        if len(times) > left:
            return LoadForecast(minutes, is_complete=False)
        left -= len(times)
        groups[key] = minutes.add(job.name, times)
    return LoadForecast(minutes, is_complete=True)


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
