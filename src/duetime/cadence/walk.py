"""The times of a day, and the way from wall-clock times to instants, with the rules for clock changes.

Times of a day are seconds since local midnight, computed without listing them. Local time is counted in
seconds: day number times 86,400 plus second of the day. If the clocks jump forward, local times from
``end + offset`` until before ``end + after`` do not exist (a gap). If they jump back, local times from
``end + after`` until before ``end + offset`` come twice (an overlap).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from duetime.cadence.days import FIRST_DAY, NEVER, Days, OneDay
from duetime.cadence.zones import LAST, OffsetPeriod, Zone

HOUR = 3_600
MINUTE = 60
DAY = 86_400
NO_TIME = -1


class Times(Protocol):
    """The times of a day. Immutable."""

    @property
    def whole_minutes(self) -> bool:
        """Whether all times are whole minutes."""

    def first_from(self, second: int) -> int:
        """Return the first time at or after a second of the day, or ``NO_TIME`` if the day has none."""


class Fields:
    """Every hour in ``hours`` with every minute in ``minutes`` and second in ``seconds``, as in cron.

    Each is a bit mask: bit n stands for the value n. No mask may be zero.
    """

    __slots__ = ("_first_in_hour", "hours", "minutes", "seconds")

    def __init__(self, hours: int, minutes: int, seconds: int = 1) -> None:
        self.hours = hours
        self.minutes = minutes
        self.seconds = seconds
        self._first_in_hour = MINUTE * low_bit(minutes) + low_bit(seconds)

    @property
    def whole_minutes(self) -> bool:
        return self.seconds == 1

    def first_from(self, second: int) -> int:
        hour, rest = divmod(second, HOUR)
        if self.hours >> hour & 1:
            found = self._first_in_rest_of_hour(rest)
            if found >= 0:
                return hour * HOUR + found
        later = self.hours >> hour + 1
        if not later:
            return NO_TIME
        return (hour + (later & -later).bit_length()) * HOUR + self._first_in_hour

    def _first_in_rest_of_hour(self, rest: int) -> int:
        minute, second = divmod(rest, MINUTE)
        if second:
            left = self.seconds >> second
            if left and self.minutes >> minute & 1:
                return minute * MINUTE + second + (left & -left).bit_length() - 1
            minute += 1
        later = self.minutes >> minute
        if not later:
            return NO_TIME
        minute += (later & -later).bit_length() - 1
        return minute * MINUTE + (self.seconds & -self.seconds).bit_length() - 1


@dataclass(slots=True)
class TimeSteps:
    """Times at a fixed step of seconds, counted from each midnight."""

    step: int

    @property
    def whole_minutes(self) -> bool:
        return self.step % MINUTE == 0

    def first_from(self, second: int) -> int:
        found = -(-second // self.step) * self.step
        return found if found < DAY else NO_TIME


@dataclass(slots=True)
class Windowed:
    """Times in a window, both ends included. A window that opens later than it shuts crosses midnight."""

    times: Times
    opens: int
    shuts: int

    @property
    def whole_minutes(self) -> bool:
        return self.times.whole_minutes

    def first_from(self, second: int) -> int:
        if self.opens <= self.shuts:
            found = self.times.first_from(max(second, self.opens))
            return found if found <= self.shuts else NO_TIME
        found = self.times.first_from(second)
        if self.shuts < found < self.opens:
            found = self.times.first_from(self.opens)
        return found


@dataclass(slots=True)
class AnyOf:
    """The times of several parts of the day."""

    parts: tuple[Times, ...]

    @property
    def whole_minutes(self) -> bool:
        return all(part.whole_minutes for part in self.parts)

    def first_from(self, second: int) -> int:
        return min((at for part in self.parts if (at := part.first_from(second)) != NO_TIME), default=NO_TIME)


def at_time(second_of_day: int) -> Fields:
    """Return one time a day."""
    hour, rest = divmod(second_of_day, HOUR)
    minute, second = divmod(rest, MINUTE)
    return Fields(1 << hour, 1 << minute, 1 << second)


def at_times(seconds_of_day: Sequence[int]) -> Times:
    """Return some times a day."""
    parts = tuple(map(at_time, seconds_of_day))
    return parts[0] if len(parts) == 1 else AnyOf(parts)


def times_of(times: Times) -> Iterator[int]:
    """Yield the times of a day, in order."""
    at = times.first_from(0)
    while at != NO_TIME:
        yield at
        at = times.first_from(at + 1) if at + 1 < DAY else NO_TIME


def low_bit(mask: int) -> int:
    """Return the index of the lowest bit set."""
    return (mask & -mask).bit_length() - 1


NOTHING = NEVER * DAY
"""No time."""

# Clock changes and offsets are at most a day, so two days separate all effects.
_FAR = 2 * DAY
_ALWAYS = 1 << 40
# Periods of one offset that a search reads at most: a time that a gap hides takes four of them.
_MOST_PERIODS = 240


class DstPolicy(NamedTuple):
    """The rule for occurrences at clock changes.

    Attributes:
        moves_up_to: seconds of a gap, at most, whose occurrences run once at the gap's end; longer gaps skip
            them.
        repeats_from: seconds of an overlap, at least, whose occurrences run in both passes; else they run
            once.
        in_last_pass: whether *once* means the second pass instead of the first.
    """

    moves_up_to: int
    repeats_from: int
    in_last_pass: bool = False


MOVED_AND_REPEATED = DstPolicy(_ALWAYS, 0)
"""Cronos, for interval expressions."""
MOVED_AND_ONCE = DstPolicy(_ALWAYS, _ALWAYS)
"""Cronos, for fixed times."""
BY_THE_CLOCK = DstPolicy(-1, 0)
"""Vixie cron, for wildcard expressions: it follows the wall clock."""
WITHIN_THREE_HOURS = DstPolicy(3 * 3_600, 3 * 3_600)
"""Vixie cron, for fixed times: it corrects clock changes of less than three hours."""
SKIPPED_AND_ONCE = DstPolicy(-1, _ALWAYS)
"""EventBridge Scheduler."""
SKIPPED_AND_LAST = DstPolicy(-1, _ALWAYS, in_last_pass=True)
"""EventBridge Scheduler, if it fires in the second pass of an overlap, which is undocumented."""


@dataclass(slots=True, eq=False)
class WallSchedule:
    """Days and their times on a wall clock."""

    days: Days | OneDay
    times: Times

    def first_from(self, local: int, until: int = LAST) -> int:
        """Return the first local time at or after ``local``, or ``NOTHING`` without one up to ``until``."""
        day, second = divmod(local, DAY)
        found = self.days.first_from(day, until // DAY)
        if found == day:
            time = self.times.first_from(second)
            if time >= 0:
                return day * DAY + time
            found = self.days.first_from(day + 1, until // DAY)
        return NOTHING if found == NEVER else found * DAY + self.times.first_from(0)


def next_after(wall: WallSchedule, zone: Zone, policy: DstPolicy, at: int, latest: int = LAST) -> int:
    """Return the first instant strictly after ``at`` of a wall schedule in a zone, or ``NOTHING``.

    If it is after ``latest``, the result may be ``NOTHING`` too.

    The search goes from one offset period to the next: each iteration takes a later period, or jumps to a
    time that no clock change can affect. It ends where the gaps of sixty years have hidden each time.
    """
    span = zone.span(at)
    low = _first_open(span, policy, at)
    found = wall.first_from(low, latest + _FAR)
    for _ in range(_MOST_PERIODS):
        until = _shown_until(span, policy)
        if NOTHING < found < until:
            return found - span.offset
        if until > low + _FAR:
            if found == NOTHING:
                return NOTHING
            if found > until + 2 * _FAR:
                low, span = found, zone.span(found - _FAR)
                continue
        if until <= found < span.end + span.after and span.after - span.offset <= policy.moves_up_to:
            return span.end
        reopened = _open_again(span, policy, low, found)
        if reopened is not None:
            low = reopened
            found = wall.first_from(low, latest + _FAR)
        span = zone.span(span.end)
    return NOTHING


def _first_open(span: OffsetPeriod, policy: DstPolicy, at: int) -> int:
    """Return the first local time after ``at`` that may run in this period.

    The second pass of an overlap excludes times that run once.
    """
    low = at + span.offset + 1
    if 0 < span.before - span.offset < policy.repeats_from and not policy.in_last_pass:
        low = max(low, span.start + span.before)
    return max(low, FIRST_DAY * DAY)


def _shown_until(span: OffsetPeriod, policy: DstPolicy) -> int:
    """Return the local time at which this period's occurrences end: a clock change, or a last pass begins."""
    if policy.in_last_pass and 0 < span.offset - span.after < policy.repeats_from:
        return span.end + span.after
    return span.end + span.offset


def _open_again(span: OffsetPeriod, policy: DstPolicy, low: int, found: int) -> int | None:
    """Return the local time from which to search the next period, or None if the search is already right."""
    resumes = span.end + span.after
    if span.after > span.offset:
        return resumes if NOTHING < found < resumes else None
    back = span.offset - span.after
    if back and resumes < low and (policy.in_last_pass or back >= policy.repeats_from):
        return resumes
    return None
