"""The times of a day of a cadence, as seconds since local midnight, computed without listing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

HOUR = 3_600
MINUTE = 60
DAY = 86_400
NEVER = -1


class Times(Protocol):
    """The times of a day. Immutable."""

    @property
    def whole_minutes(self) -> bool:
        """Whether all times are whole minutes."""

    def first_from(self, second: int) -> int:
        """Return the first time at or after a second of the day, or ``NEVER`` if the day has none."""


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
            return NEVER
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
            return NEVER
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
        return found if found < DAY else NEVER


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
            return found if found <= self.shuts else NEVER
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
        return min((at for part in self.parts if (at := part.first_from(second)) != NEVER), default=NEVER)


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
    while at != NEVER:
        yield at
        at = times.first_from(at + 1) if at + 1 < DAY else NEVER


def low_bit(mask: int) -> int:
    """Return the index of the lowest bit set."""
    return (mask & -mask).bit_length() - 1
