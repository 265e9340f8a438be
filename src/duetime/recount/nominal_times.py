"""The nominal times of a cadence in a stretch of time, from its definition alone. Pure.

Each local day and each second of it is looked at; no search of `duetime.cadence` is used. It is slow, and
simple enough to be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from duetime.cadence._daily import AtATime, Once
from duetime.cadence._spaced import Every, Interval
from duetime.cadence.crontab import Cron
from duetime.recount.cron_text import CronText
from duetime.recount.local_days import LocalDays

if TYPE_CHECKING:
    from duetime.cadence import Cadence


HOUR, DAY = 3_600, 86_400
FIRST, LAST = -62_135_424_000, 253_402_128_000
"""Two days after the first instant of the calendar, and before the last one."""

_MINUTE, _THREE_HOURS = 60, 3 * HOUR


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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DATE = _EPOCH.date()
_SECOND, _ONE_DAY = timedelta(seconds=1), timedelta(days=1)
_CHUNK = 30 * DAY
_DATE_LENGTH = 10


class NominalTimes:
    """The nominal times of one cadence of one job.

    Args:
        cadence: the cadence, as its text is read.
        anchor: when the job was first added: an interval without a start counts from its second.
        job: the tenant and the job's name, as in ``acme/books-close``: the delay of a spread depends on them.
        counted: as of `Definition.counted`.
    """

    def __init__(self, cadence: Cadence, anchor: datetime, job: str, counted: str = "") -> None:
        self._cadence, self._tz, self._bounds = cadence, cadence.modifiers.zone_name, cadence.modifiers.bounds
        self._days, self._rule = LocalDays(cadence), _rule_of(cadence)
        self._anchor, self._counted = (anchor - _EPOCH) // _SECOND, counted
        self._seconds = None if isinstance(cadence, Interval) else self._within(_seconds_of(cadence))
        self._delay = 0 if self._bounds is None else _delay(self._bounds.spread, job)
        self._excluded, self._first, self._last = self._limits()

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Yield the nominal times in (start, end], in order."""
        low = max((start - _EPOCH) // _SECOND - self._delay, self._first - 1, FIRST)
        high = min((end - _EPOCH) // _SECOND - self._delay, self._last, LAST)
        if (last := self._last_counted(high)) is not None:
            high = min(high, last)
        for at in self._unbounded(low, high):
            if at not in self._excluded:
                yield _EPOCH + (at + self._delay) * _SECOND

    def _limits(self) -> tuple[set[int], int, int]:
        """Return the excluded instants, and the first and the last one that start and end allow."""
        bounds = self._bounds
        if bounds is None:
            return set(), FIRST, LAST
        excluded = {at for text in bounds.except_at for at in self._instants(text)}
        first = min(self._instants(bounds.start)) if bounds.start else FIRST
        last = max(self._instants(bounds.end, is_end=True)) if bounds.end else LAST
        return excluded, first, last

    def _instants(self, text: str, *, is_end: bool = False) -> list[int]:
        when = datetime.fromisoformat(text)
        if when.tzinfo is not None:
            return [(when - _EPOCH) // _SECOND]
        local = (when.replace(tzinfo=UTC) - _EPOCH) // _SECOND
        return instants_of(self._tz, local + (DAY - 1 if is_end and len(text) == _DATE_LENGTH else 0))

    def _last_counted(self, until: int) -> int | None:
        """Return the instant that completes the count; None if that is later, or there is no count."""
        if self._bounds is None or not self._bounds.count:
            return None
        left = self._bounds.count
        at = self._interval_start if isinstance(self._cadence, Interval) else self._first - 1
        if self._counted:
            number, _, since = self._counted.partition("@")
            left -= int(number)
            at = max(at, (datetime.fromisoformat(since) - _EPOCH) // _SECOND - self._delay)
        while left > 0 and at < until:
            for found in self._unbounded(at, min(at + _CHUNK, until)):
                left -= 1
                if not left:
                    return found
            at += _CHUNK
        return at if left <= 0 else None

    def _unbounded(self, start: int, end: int) -> Iterator[int]:
        """Yield the instants in (start, end] without regard to start, end, count and exceptions."""
        if start >= end:
            return
        if isinstance(self._cadence, Interval):
            yield from self._elapsed(self._cadence, start, end)
            return
        last = start
        for part in stretches(self._tz, start, end):
            gap, low = part.offset - part.before, part.start + part.offset
            is_moved = gap > 0 and self._rule.moves(gap) and self._any(part.start + part.before, low)
            if is_moved and last < part.start <= end:
                yield part.start
                last = part.start
            if gap < 0 and not self._rule.repeats(-gap):
                low -= gap
            until = min(part.end, end + 1) + part.offset
            for local in self._local(max(low, last + 1 + part.offset), until):
                last = local - part.offset
                yield last

    def _any(self, low: int, high: int) -> bool:
        return next(self._local(low, high), None) is not None

    def _local(self, low: int, high: int) -> Iterator[int]:
        """Yield the local times from `low` until before `high`, in seconds of the wall clock."""
        for day in range(low // DAY, -(-high // DAY)):
            if self._days.has(_FIRST_DATE + day * _ONE_DAY):
                yield from (day * DAY + at for at in self._seconds or () if low <= day * DAY + at < high)

    @property
    def _interval_start(self) -> int:
        start = self._cadence.start if isinstance(self._cadence, Interval) else None
        return self._anchor if start is None else start

    def _elapsed(self, cadence: Interval, start: int, end: int) -> Iterator[int]:
        origin, step = self._interval_start, cadence.step
        for number in range(max(1, (start - origin) // step + 1), (end - origin) // step + 1):
            at = origin + number * step
            local = at + offset_at(self._tz, at)
            is_open = not cadence.modifiers.windows or bool(self._within([local % DAY]))
            if is_open and self._days.has(_FIRST_DATE + local // DAY * _ONE_DAY):
                yield at

    def _within(self, seconds: list[int]) -> list[int]:
        """Return those of some times of day that lie in a window, if there are windows."""
        windows = self._cadence.modifiers.windows
        if not windows:
            return seconds
        return [at for at in seconds if any(_is_in(at, opens, shuts) for opens, shuts in windows)]


def _is_in(at: int, opens: int, shuts: int) -> bool:
    return opens <= at <= shuts if opens <= shuts else at >= opens or at <= shuts


def _seconds_of(cadence: Cadence) -> list[int]:
    match cadence:
        case Cron():
            return CronText.parse(cadence.expression, cadence.day_rule).seconds_of_day()
        case Every():
            return [*range(0, DAY, cadence.step)] if cadence.step < DAY else [*cadence.times_of_day]
        case Once():
            return [cadence.local % DAY]
        case AtATime():
            return [*cadence.times_of_day]
        case _:
            return []


def _rule_of(cadence: Cadence) -> ClockRule:
    dst = cadence.modifiers.dst
    if isinstance(cadence, Cron):
        text = CronText.parse(cadence.expression, cadence.day_rule)
        return ClockRule(dst, text.is_interval, text.is_starred)
    is_step = isinstance(cadence, Every) and cadence.step < DAY
    return ClockRule(dst, is_step, is_step)


def _delay(spread: int, job: str) -> int:
    """Return the delay of a job: whole minutes if the spread has several."""
    if not spread:
        return 0
    unit = _MINUTE if spread % _MINUTE == 0 and spread > _MINUTE else 1
    return int.from_bytes(sha256(job.encode()).digest()[:8], "big") % (spread // unit) * unit
