"""The source of one kind of times of a cadence; `job_times` has the three kinds. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from datetime import datetime, timedelta

from duetime.cadence.cadence import Cadence
from duetime.cadence.zones import DAY, OffsetPeriod, instant_at, seconds_of, zone
from duetime.instant import LATEST

SECOND = timedelta(seconds=1)


class TimeSource(ABC):
    """Gives times of one kind, of one cadence."""

    def __init__(self, cadence: Cadence, until: datetime) -> None:
        self.cadence, self.until = cadence, until
        self.name, self.zone = cadence.name, zone(cadence.tz)

    @property
    def grid(self) -> Cadence:
        """The cadence whose times are this source's between two of its turns."""
        return self.cadence

    @abstractmethod
    def next_after(self, at: datetime) -> datetime | None:
        """Return the first time after an instant; None if there is none up to `until`."""

    @abstractmethod
    def note(self, at: datetime) -> tuple[str, Hashable]:
        """Return the note on one of its times, and the value by which equal neighbours are folded."""

    @abstractmethod
    def turn(self, at: datetime) -> datetime:
        """Return the first instant from `at` on at which the note may change."""

    def span_at(self, at: datetime) -> OffsetPeriod:
        """The span of one offset that an instant lies in."""
        return self.zone.span(seconds_of(at))

    def day_of(self, at: datetime) -> int:
        """The local date, in days since 1970."""
        return (seconds_of(at) + self.span_at(at).offset) // DAY

    def begin_of(self, day: int) -> datetime:
        """The first instant at which a local date can be shown."""
        span = self.zone.span(day * DAY - self.zone.span(day * DAY).offset)
        offsets = [span.offset]
        if day * DAY - span.start < 2 * DAY:
            offsets.append(span.before)
        if span.end - day * DAY < 2 * DAY:
            offsets.append(span.after)
        return instant_of(day * DAY - max(offsets))


def local_of(at: datetime, tz: str) -> datetime:
    """What the wall clock of a zone shows at an instant, naive."""
    return at.replace(tzinfo=None) + timedelta(seconds=zone(tz).span(seconds_of(at)).offset)


def last_before(source: TimeSource, at: datetime, bound: datetime) -> datetime:
    """The last time of a source's grid before an instant, or `at` itself; found by halving."""
    low, high = 0, max(1, -((at - bound) // SECOND))
    while high - low > 1:
        middle = (low + high) // 2
        found = source.grid.next_after(at + middle * SECOND)
        low, high = (middle, high) if found is not None and found < bound else (low, middle)
    found = source.grid.next_after(at + low * SECOND)
    return found if found is not None and found < bound else at


def instant_of(second: int) -> datetime:
    """The instant so many seconds after 1970; what lies outside the calendar is later than any job's time."""
    return instant_at(second) or LATEST
