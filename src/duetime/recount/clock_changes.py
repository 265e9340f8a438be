"""The offsets of a zone in a stretch of time, from `zoneinfo` alone, and the rules at their changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

HOUR, DAY = 3_600, 86_400
FIRST, LAST = -62_135_424_000, 253_402_128_000
"""Two days after the first instant of the calendar, and before the last one."""

_THREE_HOURS = 3 * HOUR


class Stretch(NamedTuple):
    """A time of one offset, in seconds since 1970: it includes `start` and excludes `end`.

    `before` is the offset before `start`; it equals `offset` if the clocks did not change then.
    """

    start: int
    end: int
    offset: int
    before: int


class ClockRule(NamedTuple):
    """What a cadence does when the clocks change."""

    dst: str
    is_interval: bool
    """Cronos: it has a star, a range or a step."""
    is_starred: bool
    """Vixie cron: it has a star at the beginning of a field."""

    def moves(self, gap: int) -> bool:
        """Return whether the times in a gap of so many seconds run once, at its end."""
        return self.dst == "cronos" or (self.dst == "vixie" and not self.is_starred and gap <= _THREE_HOURS)

    def repeats(self, overlap: int) -> bool:
        """Return whether times that the clocks show twice run twice."""
        if self.dst == "vixie":
            return self.is_starred or overlap >= _THREE_HOURS
        return self.dst == "cronos" and self.is_interval


def offset_at(tz: str, at: int) -> int:
    """Return a zone's offset from UTC at an instant, in seconds."""
    offset = datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(tz)).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def stretches(tz: str, start: int, end: int) -> Iterator[Stretch]:
    """Yield the stretches of one offset from an instant to a later one; the first may begin before."""
    changes = _changes(tz, (start - DAY) // DAY, end // DAY + 1)
    edges = [(start - DAY) // DAY * DAY, *changes, (end // DAY + 1) * DAY]
    for at, until in pairwise(edges):
        offset = offset_at(tz, at)
        yield Stretch(at, until, offset, offset_at(tz, at - 1) if at in changes else offset)


@lru_cache(maxsize=512)
def _changes(tz: str, first_day: int, last_day: int) -> tuple[int, ...]:
    """Return the instants in these days at which a zone's offset changes: no two are within an hour."""
    found, known = [], offset_at(tz, first_day * DAY)
    for hour in range(first_day * DAY, last_day * DAY, HOUR):
        if (following := offset_at(tz, hour + HOUR)) != known:
            low, high = hour, hour + HOUR
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset_at(tz, middle) == known else (low, middle)
            if high < last_day * DAY:
                found.append(high)
            known = following
    return tuple(found)


def instants_of(tz: str, local: int) -> list[int]:
    """Return the instants of a local time: two if the clocks show it twice, the gap's end if never."""
    parts = [*stretches(tz, local - DAY, local + DAY)]
    found = [local - part.offset for part in parts if part.start <= local - part.offset < part.end]
    gaps = [part.start for part in parts if part.start + part.before <= local < part.start + part.offset]
    return found or gaps
