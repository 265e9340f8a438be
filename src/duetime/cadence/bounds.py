"""The bounds of a cadence: a start, an end, a number of runs, excluded instants, and a spread.

Imported only for a cadence that has some. Start, end and excluded instants are local times, or instants with
``Z``. They limit the cadence's own times; a job's delay, which the spread sets, is added afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

from duetime.cadence.errors import InvalidCadence
from duetime.cadence.walk import DAY, MINUTE, NOTHING
from duetime.cadence.words import BLANKS, DATE_LENGTH, MOST_RUNS, duration_of, seconds_in
from duetime.cadence.zones import FIRST, LAST, Zone, seconds_of

Moment = str | date
"""A date, a local date and time, or an instant; as text, ``date`` or ``datetime``."""

Leap = Callable[[int, int, int], tuple[int, int]]
"""Returns a later instant, and how many occurrences are after the given one and no later than it.

They are at most as many as the second argument, and the instant is no later than the third. It returns the
given instant and 0 where it cannot count at once.
"""

# Occurrences that are searched one by one before the next leap.
_STEPS = 16
MOST_EXCLUDED = 100
_EXAMPLE = "as in 2027-01-04, 2027-01-04T09:00 or 2027-01-04T09:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds as canonical texts and seconds; the defaults limit nothing.

    Attributes:
        start: no occurrence is earlier.
        end: no occurrence is later.
        count: the number of occurrences of the job, excluded ones included; 0 for any number.
        except_at: times at which there is no occurrence.
        spread: each job's delay is less than so many seconds.
        delay: the seconds of one job's delay; not part of the text.
        used: how many of the `count` one job had up to `used_until`, in seconds since 1970; not part of the
            text either.
    """

    start: str = ""
    end: str = ""
    count: int = 0
    except_at: tuple[str, ...] = ()
    spread: int = 0
    delay: int = 0
    used: int = 0
    used_until: int = FIRST

    @property
    def unit(self) -> int:
        """The seconds of which each delay is a multiple: a minute, if the spread has several."""
        return MINUTE if self.spread % MINUTE == 0 and self.spread > MINUTE else 1

    def delay_of(self, key: str) -> int:
        """Return a job's delay, the same for the same key."""
        return (
            int.from_bytes(sha256(key.encode()).digest()[:8], "big") % (self.spread // self.unit) * self.unit
        )


class Limits:
    """Bounds in one zone, as seconds since 1970."""

    __slots__ = ("_counted", "_last", "_leap", "delay", "excluded", "first")

    def __init__(self, bounds: Bounds, where: Zone, *, needs_start: bool, leap: Leap | None = None) -> None:
        """Resolve the bounds.

        Args:
            bounds: the bounds.
            where: the zone of their local times.
            needs_start: whether a count needs a start.
            leap: counts many occurrences at once; without it, there is nothing to count from.

        Raises:
            InvalidCadence: the end is before the start, or a count has no start.
        """
        if bounds.count and not bounds.start and needs_start:
            raise InvalidCadence(
                f"count={bounds.count}", "count: there is no start to count from", 'give start="2027-01-04"'
            )
        self.first = min(instants_of(bounds.start, where)) if bounds.start else FIRST
        self._last = max(instants_of(bounds.end, where, is_end=True)) if bounds.end else LAST
        left = max(bounds.count - bounds.used, 0) if bounds.count and leap else None
        self._counted = max(self.first - 1, bounds.used_until - bounds.delay), left
        self.delay, self._leap = bounds.delay, leap
        self.excluded = frozenset(at for text in bounds.except_at for at in instants_of(text, where))
        if self._last < self.first:
            raise InvalidCadence(
                bounds.end, f"end: it is before the start, {bounds.start}", "give a later end"
            )

    def last(self, search: Callable[..., int], until: int = LAST) -> int:
        """Return the last second that may have an occurrence, before the delay.

        Occurrences are counted only up to ``until``. If the count allows later ones, the result is no earlier
        than ``until``, and else the exact one.
        """
        at, left = self._counted
        while left and at < until:
            if left % _STEPS == 0 and self._leap:
                at, passed = self._leap(at, left - 1, min(until, self._last))
                left -= passed
            found = search(at)
            at, left = (found, left - 1) if NOTHING < found <= self._last else (at, None)
        self._counted = at, left
        return at if left == 0 else self._last

    def next_after(self, search: Callable[..., int], at: int, until: int) -> int:
        """Return the first occurrence of a search strictly after ``at`` within the bounds, or ``NOTHING``."""
        at = max(at - self.delay, self.first - 1)
        while True:
            at = search(at, until)
            if at == NOTHING or at > self.last(search, at):
                return NOTHING
            if at not in self.excluded:
                return at + self.delay


def read_bounds(
    *,
    start: Moment | None,
    end: Moment | None,
    count: int | None,
    except_at: Moment | Iterable[Moment] | None,
    spread: str | timedelta | None,
) -> Bounds:
    """Return the bounds of a cadence's options.

    Raises:
        InvalidCadence: an option is invalid.
    """
    if count is not None and (type(count) is not int or not 1 <= count <= MOST_RUNS):
        raise InvalidCadence(f"count={count}", f"count: {count} is no number of runs", f"use 1-{MOST_RUNS}")
    return Bounds(
        start="" if start is None else moment_text(start, "start"),
        end="" if end is None else moment_text(end, "end"),
        count=count or 0,
        except_at=() if except_at is None else _excluded(except_at),
        spread=0 if spread is None else _spread(spread),
    )


def moment_text(given: Moment, option: str) -> str:
    """Return the canonical text of a date, a local time or an instant.

    Raises:
        InvalidCadence: it is none of them.
    """
    value = given
    if isinstance(given, str):
        text = given.strip(BLANKS)
        with suppress(ValueError):
            value = date.fromisoformat(text) if len(text) == DATE_LENGTH else datetime.fromisoformat(text)
    if not isinstance(value, date):
        raise InvalidCadence(str(given), f"{option}: no such date or time", f"write it {_EXAMPLE}")
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.microsecond:
        raise InvalidCadence(str(given), f"{option}: a fraction of a second", "give whole seconds")
    if value.tzinfo is None:
        return value.isoformat().removesuffix(":00")
    return value.astimezone(UTC).replace(tzinfo=None).isoformat().removesuffix(":00") + "Z"


def _excluded(given: Moment | Iterable[Moment]) -> tuple[str, ...]:
    listed = given.split(",") if isinstance(given, str) else [given] if isinstance(given, date) else given
    if not isinstance(listed, Iterable):
        raise InvalidCadence(str(given), "except_at: not a list of times", f"write each {_EXAMPLE}")
    texts = sorted({moment_text(entry, "except_at") for entry in listed})
    for text in texts:
        if len(text) == DATE_LENGTH:
            raise InvalidCadence(
                text,
                "except_at: a date has no time of day",
                f'write it as in {text}T09:00, or exclude the day: calendar=Calendar(exclude=["{text}"])',
            )
    if not 1 <= len(texts) <= MOST_EXCLUDED:
        raise InvalidCadence(
            "except_at",
            f"except_at: it lists {len(texts)} times",
            f"list 1-{MOST_EXCLUDED}, or use a calendar",
        )
    return tuple(texts)


def _spread(given: str | timedelta) -> int:
    if isinstance(given, str):
        try:
            return seconds_in(given.strip(BLANKS))
        except InvalidCadence as error:
            raise InvalidCadence(given, f"spread: {error.problem}", error.remedy) from None
    if not isinstance(given, timedelta):
        raise InvalidCadence(str(given), f"spread: {given!r} is no length of time", "write it as in 10m")
    return duration_of("spread", seconds=given.total_seconds())


def instants_of(text: str, where: Zone, *, is_end: bool = False) -> list[int]:
    """Return the instants of a text: two if the clocks show the time twice, the gap's end if never."""
    if text.endswith("Z"):
        return [seconds_of(datetime.fromisoformat(text))]
    local = seconds_of(datetime.fromisoformat(text).replace(tzinfo=UTC))
    if is_end and len(text) == DATE_LENGTH:
        local += DAY - 1
    span = where.span(local - where.span(local).offset)
    offsets = {span.before, span.offset, span.after}
    found = [local - offset for offset in offsets if where.span(local - offset).offset == offset]
    return found or [where.span(local - min(offsets)).start]
