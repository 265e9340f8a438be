"""The six fields of EventBridge Scheduler's ``cron(...)``, exactly as AWS documents them.

A subset of Quartz's language: weekdays are 1-7 from Sunday, ranges ascend, exactly one of the two day fields
is ``?``, day-of-week knows no steps, and ``L``, ``W`` and ``#`` stand alone in their field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from duetime.cadence.day_fields import ALL_DAYS, ALL_WEEKDAYS, DayFields
from duetime.cadence.errors import InvalidExpression
from duetime.cadence.words import MONTHS, WEEKDAYS

FIRST_YEAR, LAST_YEAR = 1970, 2199
ALL_AWS_YEARS = range(FIRST_YEAR, LAST_YEAR + 1)
_MOST_WEEKS = 5
_SATURDAY = 6


class AwsField(NamedTuple):
    """One field: its values run from ``low`` to ``high``; ``names`` are the values from ``low``."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    steps: bool = True


class CronFields(NamedTuple):
    """The six fields.

    Attributes:
        minutes: bit n for minute n.
        hours: bit n for hour n.
        days: the days and months.
        years: in ascending order.
    """

    minutes: int
    hours: int
    days: DayFields
    years: Sequence[int] = ALL_AWS_YEARS


class AwsToken(NamedTuple):
    """A field's text, and where it begins in the expression."""

    expression: str
    start: int
    text: str

    def refuse(self, problem: str, remedy: str) -> NoReturn:
        """Raise the error of this field."""
        raise InvalidExpression(self.expression, problem, remedy, start=self.start, width=len(self.text))


_MINUTE = AwsField("minutes", 0, 59)
_HOUR = AwsField("hours", 0, 23)
_DAY = AwsField("day-of-month", 1, 31)
_MONTH = AwsField("month", 1, 12, tuple(name.upper() for name in MONTHS))
_WEEKDAY = AwsField("day-of-week", 1, 7, tuple(name.upper() for name in WEEKDAYS), steps=False)
_YEAR = AwsField("year", FIRST_YEAR, LAST_YEAR)
_FIELDS = 6


def parse_cron_fields(expression: str, inside: str, at: int) -> CronFields:
    """Return the fields of the text between the parentheses, which begins at ``at`` in ``expression``.

    Raises:
        InvalidExpression: AWS's documentation does not allow the text.
    """
    tokens = [AwsToken(expression, at + word.start(), word.group()) for word in re.finditer(r"\S+", inside)]
    if len(tokens) != _FIELDS:
        problem = f"cron() has six fields, and this has {len(tokens)}"
        raise InvalidExpression(
            expression, problem, "write minutes hours day-of-month month day-of-week year"
        )
    minute, hour, day, month, weekday, year = tokens
    if (day.text == "?") == (weekday.text == "?"):
        weekday.refuse(
            "exactly one of day-of-month and day-of-week must be ?", "put ? in the one that does not matter"
        )
    days = _days(day) if weekday.text == "?" else _weekdays(weekday)
    return CronFields(
        minutes=_mask(minute, _MINUTE),
        hours=_mask(hour, _HOUR),
        days=days._replace(months=_mask(month, _MONTH)),
        years=tuple(sorted(_values(year, _YEAR))),
    )


def year_values(text: str) -> list[int]:
    """Return the years of a field, in ascending order.

    Raises:
        InvalidExpression: it is no such field.
    """
    return sorted(_values(AwsToken(text, 0, text), _YEAR))


def _days(token: AwsToken) -> DayFields:
    if token.text == "L":
        return DayFields(days=0, lasts=(0,))
    if token.text.endswith("W"):
        return DayFields(days=0, nearest=(_value(token, _DAY, token.text[:-1]),))
    return DayFields(days=ALL_DAYS if token.text == "*" else _mask(token, _DAY) >> 1)


def _weekdays(token: AwsToken) -> DayFields:
    if token.text == "L":
        return DayFields(weekdays=1 << _SATURDAY)
    if token.text.endswith("L"):
        return DayFields(weekdays=0, nth=((_number_of_weekday(token, token.text[:-1]), 0),))
    if "#" in token.text:
        weekday, _, nth = token.text.partition("#")
        if not nth.isdigit() or not 1 <= int(nth) <= _MOST_WEEKS:
            token.refuse(f"day-of-week: {nth!r} is no week of a month", "write one weekday#week, as in 3#2")
        return DayFields(weekdays=0, nth=((_number_of_weekday(token, weekday), int(nth)),))
    return DayFields(weekdays=ALL_WEEKDAYS if token.text == "*" else _mask(token, _WEEKDAY) >> 1)


def _number_of_weekday(token: AwsToken, text: str) -> int:
    """Return the weekday before L or #, which AWS's examples write as a digit; Sunday as 0."""
    if not text.isdigit():
        token.refuse(f"day-of-week: {text!r} is no weekday's number", "use 1-7, from Sunday")
    return _value(token, _WEEKDAY, text) - 1


def _mask(token: AwsToken, field: AwsField) -> int:
    return sum(1 << value for value in _values(token, field))


def _values(token: AwsToken, field: AwsField) -> set[int]:
    return {value for item in token.text.split(",") for value in _range(token, field, item)}


def _range(token: AwsToken, field: AwsField, item: str) -> range:
    values, slash, step = item.partition("/")
    if slash and not field.steps:
        token.refuse(f"{field.name}: / is no wildcard of this field", "list the days, as in MON,WED,FRI")
    if slash and not (step.isdigit() and 1 <= int(step) <= field.high - field.low):
        token.refuse(f"{field.name}: {step!r} is no increment", f"use 1-{field.high - field.low} after the /")
    if values == "*":
        return range(field.low, field.high + 1, int(step or 1))
    first, dash, last = values.partition("-")
    low = _value(token, field, first)
    high = _value(token, field, last) if dash else (field.high if slash else low)
    if high < low:
        token.refuse(
            f"{field.name}: the range {values} runs backwards", "let ranges ascend, or list two of them"
        )
    return range(low, high + 1, int(step or 1))


def _value(token: AwsToken, field: AwsField, text: str) -> int:
    if text in field.names:
        return field.low + field.names.index(text)
    if not text.isdigit() or not field.low <= int(text) <= field.high:
        words = f", or {field.names[0]}-{field.names[-1]}" if field.names else ""
        token.refuse(
            f"{field.name}: {text!r} is not one of its values", f"use {field.low}-{field.high}{words}"
        )
    return int(text)
