"""Read a cron expression item by item, without the masks of `duetime.cadence.expression`. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from typing import Self

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_SECOND, _MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY = range(6)
_LIMITS = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_ANY = ("*", "?")
_SATURDAY = 5
_MACROS = {
    "@YEARLY": "0 0 0 1 1 *",
    "@ANNUALLY": "0 0 0 1 1 *",
    "@MONTHLY": "0 0 0 1 * *",
    "@WEEKLY": "0 0 0 * * 0",
    "@DAILY": "0 0 0 * * *",
    "@MIDNIGHT": "0 0 0 * * *",
    "@HOURLY": "0 0 * * * *",
    "@EVERY_MINUTE": "0 * * * * *",
    "@EVERY_SECOND": "* * * * * *",
}


@dataclass(frozen=True, slots=True)
class CronText:
    """A valid expression as six texts, with its day rule."""

    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    day_rule: str | None

    @classmethod
    def parse(cls, expression: str, day_rule: str | None) -> Self:
        """Split an expression of five or six fields, or a macro."""
        text = expression.upper()
        fields = _MACROS.get(text, text).split()
        second, minute, hour, day, month, weekday = fields if len(fields) == len(_LIMITS) else ["0", *fields]
        return cls(second, minute, hour, day, month, weekday, day_rule)

    @property
    def is_interval(self) -> bool:
        """Whether second, minute or hour has a star, a range or a step."""
        return bool(re.search(r"[*?/-]", f"{self.second} {self.minute} {self.hour}"))

    @property
    def is_starred(self) -> bool:
        """Whether second, minute or hour begins with a star."""
        return any(field.startswith("*") for field in (self.second, self.minute, self.hour))

    def seconds_of_day(self) -> list[int]:
        """Return its times of a day, as seconds from midnight, in order."""
        hours, minutes, seconds = (
            [value for value in range(high + 1) if _is_listed(text, value, field)]
            for text, field, high in (
                (self.hour, _HOUR, 23),
                (self.minute, _MINUTE, 59),
                (self.second, 0, 59),
            )
        )
        return [
            hour * 3_600 + minute * 60 + second for hour in hours for minute in minutes for second in seconds
        ]

    def has(self, day: date) -> bool:
        """Return whether it runs on a local date."""
        if not _is_listed(self.month, day.month, _MONTH):
            return False
        by_date = any(_is_date(item, day) for item in self.day.split(","))
        by_week = any(_is_weekday(item, day) for item in self.weekday.split(","))
        if self.day_rule == "or" and self.day not in _ANY and self.weekday not in _ANY:
            return by_date or by_week
        return by_date and by_week


def last_of(day: date) -> int:
    """Return the number of days of a date's month."""
    return monthrange(day.year, day.month)[1]


def nearest_workday(day: date, number: int) -> int:
    """Return the Monday to Friday of the month nearest to a day of it, the earlier of two."""
    workdays = [n for n in range(1, last_of(day) + 1) if day.replace(day=n).weekday() < _SATURDAY]
    return min(workdays, key=lambda n: (abs(n - number), n))


def _is_listed(text: str, value: int, field: int) -> bool:
    return any(_is_value(item, value, field) for item in text.split(","))


def _is_value(item: str, value: int, field: int) -> bool:
    low, high = _LIMITS[field]
    values, slash, steps = item.partition("/")
    step = int(steps or 1)
    if values in _ANY:
        return (value - low) % step == 0
    first, dash, last = values.partition("-")
    start = _number(first, field)
    if not dash and not slash:
        return value == (start % 7 if field == _WEEKDAY else start)
    if field == _WEEKDAY:
        return _is_in_week(start, _number(last, field) if dash else 7, step, value)
    end = _number(last, field) if dash else high
    span = high - low + 1
    ahead = (value - start) % span
    return ahead <= (end - start) % span and ahead % step == 0


def _is_in_week(start: int, end: int, step: int, value: int) -> bool:
    """Return whether a range of weekdays has a value; Sunday is 0 and 7."""
    if end < start:
        start %= 7
        end = end if start <= end else end + 7
    return any(day % 7 == value for day in range(start, end + 1, step))


def _number(text: str, field: int) -> int:
    if field == _MONTH and text in _MONTHS:
        return _MONTHS.index(text) + 1
    if field == _WEEKDAY and text in _WEEKDAYS:
        return _WEEKDAYS.index(text)
    return int(text)


def _is_date(item: str, day: date) -> bool:
    if not item.startswith("L") and not item.endswith("W"):
        return _is_value(item, day.day, _DAY)
    text = item.removesuffix("W")
    number = last_of(day) - int(text[2:] or 0) if text.startswith("L") else int(text)
    if not 1 <= number <= last_of(day):
        return False
    return day.day == (nearest_workday(day, number) if item.endswith("W") else number)


def _is_weekday(item: str, day: date) -> bool:
    weekday = day.isoweekday() % 7
    if item.endswith("L"):
        return _number(item[:-1], _WEEKDAY) % 7 == weekday and day.day + 7 > last_of(day)
    name, sign, nth = item.partition("#")
    if sign:
        return _number(name, _WEEKDAY) % 7 == weekday and (day.day + 6) // 7 == int(nth)
    return _is_value(item, weekday, _WEEKDAY)
