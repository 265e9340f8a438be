"""A second, simple implementation of cadences, which checks every second or minute.

It uses nothing of ``duetime.cadence``: no parser, no masks, no search for clock changes. It is slow. It
supports only zones whose changes fall on whole steps, as they do in the tested years.
"""

from __future__ import annotations

import calendar
import functools
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Callable

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
LIMITS = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Plain:
    """A cron expression as six texts, with its day rule."""

    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    day_rule: str | None = None

    @classmethod
    def parse(cls, expression: str, day_rule: str | None = None) -> Plain:
        fields = expression.upper().split()
        return cls(*(fields if len(fields) == 6 else ["0", *fields]), day_rule=day_rule)

    def matches(self, local: datetime) -> bool:
        return (
            listed(self.second, local.second, 0)
            and listed(self.minute, local.minute, 1)
            and listed(self.hour, local.hour, 2)
            and self.has_day(local.date())
        )

    @functools.cache  # noqa: B019 - the tests draw a few thousand
    def has_day(self, day: date) -> bool:
        if not listed(self.month, day.month, 4):
            return False
        by_date = any(is_date(item, day) for item in self.day.split(","))
        by_week = any(is_weekday(item, day) for item in self.weekday.split(","))
        if self.day not in "*?" and self.weekday not in "*?" and self.day_rule == "or":
            return by_date or by_week
        return by_date and by_week

    @property
    def interval(self) -> bool:
        return bool(re.search(r"[*?/-]", self.second + self.minute + self.hour))

    @property
    def starred(self) -> bool:
        return "*" in (self.second[0], self.minute[0], self.hour[0])


@functools.cache
def listed(text: str, value: int, field: int) -> bool:
    return any(is_value(item, value, field) for item in text.split(","))


def is_value(item: str, value: int, field: int) -> bool:
    low, high = LIMITS[field]
    span = high - low + 1
    values, _, step = item.partition("/")
    step = int(step or 1)
    if values in ("*", "?"):
        return (value - low) % step == 0
    first, dash, last = values.partition("-")
    start = number(first, field)
    if not dash and "/" not in item:
        return value == start % 7 if field == 5 else value == start
    if field == 5:
        return is_weekday_in_range(start, number(last, field) if dash else 7, step, value)
    end = number(last, field) if dash else high
    ahead = (value - start) % span
    return ahead <= (end - start) % span and ahead % step == 0


def is_weekday_in_range(start: int, end: int, step: int, value: int) -> bool:
    """Sunday is 0 and 7, so a range that ends on 7 ends on the Sunday after."""
    if end < start:
        start, end = start % 7, end if start % 7 <= end else end + 7
    return any(day % 7 == value for day in range(start, end + 1, step))


def number(text: str, field: int) -> int:
    if text in MONTHS and field == 4:
        return MONTHS.index(text) + 1
    if text in WEEKDAYS and field == 5:
        return WEEKDAYS.index(text)
    return int(text)


def is_date(item: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if item.startswith("L"):
        back = int(item.removesuffix("W").removeprefix("L").removeprefix("-") or 0)
        number = length - back
        return number >= 1 and day.day == (workday(day, number) if item.endswith("W") else number)
    if item.endswith("W"):
        number = int(item[:-1])
        return number <= length and day.day == workday(day, number)
    return is_value(item, day.day, 3)


def workday(day: date, number: int) -> int:
    """Return the Monday to Friday of the month nearest to a day of it."""
    length = calendar.monthrange(day.year, day.month)[1]
    candidates = [n for n in range(1, length + 1) if day.replace(day=n).weekday() < 5]
    return min(candidates, key=lambda n: (abs(n - number), n))


def is_weekday(item: str, day: date) -> bool:
    weekday = day.isoweekday() % 7
    if item.endswith("L"):
        length = calendar.monthrange(day.year, day.month)[1]
        return number(item[:-1], 5) % 7 == weekday and day.day + 7 > length
    if "#" in item:
        name, nth = item.split("#")
        return number(name, 5) % 7 == weekday and (day.day - 1) // 7 + 1 == int(nth)
    return is_value(item, weekday, 5)


def occurrences(
    matches: Callable[[datetime], bool],
    tz: str,
    start: datetime,
    end: datetime,
    *,
    dst: str = "cronos",
    interval: bool = False,
    starred: bool = False,
    step: timedelta = MINUTE,
) -> list[datetime]:
    """Return every instant in (start, end] at which a matching local time runs.

    ``start`` lies on a whole step. The rules are those of the design: ``cronos`` runs what a gap holds once,
    at its end, and repeats intervals in an overlap; ``vixie`` follows the clock where a field is starred,
    else does as cronos for jumps of up to three hours; ``eventbridge`` skips what a gap holds, and runs what
    an overlap holds once.
    """
    zone = ZoneInfo(tz)
    found = []
    at = start
    before = at.astimezone(zone).replace(tzinfo=None)
    while (at := at + step) <= end:
        local = at.astimezone(zone)
        shown, expected = local.replace(tzinfo=None), before + step
        jumped = shown - expected
        moves = dst == "cronos" or (dst == "vixie" and not starred and jumped <= timedelta(hours=3))
        swallowed = moves and expected < shown and any_between(matches, expected, shown, step)
        repeated = local.fold == 1 and not repeats(local, dst, interval=interval, starred=starred)
        if swallowed or (matches(shown) and not repeated):
            found.append(at.astimezone(UTC))
        before = shown
    return found


def repeats(local: datetime, dst: str, *, interval: bool, starred: bool) -> bool:
    if dst == "vixie":
        jumped_back = local.replace(fold=0).utcoffset() - local.utcoffset()
        return starred or jumped_back >= timedelta(hours=3)
    return dst == "cronos" and interval


def any_between(
    matches: Callable[[datetime], bool], first: datetime, last: datetime, step: timedelta
) -> bool:
    while first < last:
        if matches(first):
            return True
        first += step
    return False
