"""The parser of cron expressions.

An expression has five fields (minute hour day-of-month month day-of-week), six with a leading second, or is a
macro such as ``@daily``. The special items are Quartz's as Cronos reads them. Day-of-month has ``L``,
``L-3``, ``LW``, ``L-3W`` and ``15W``; day-of-week has ``5L`` and ``MON#2``.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, NoReturn, get_args

from duetime.cadence.days import DayFields
from duetime.cadence.errors import AmbiguousDays, InvalidCadence, InvalidCron, NeverFires, did_you_mean
from duetime.cadence.fields import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, FieldError, month_days, weekdays
from duetime.cadence.words import PLAIN, is_plain

DayRule = Literal["and", "or"]

LONGEST = 1_000
"""Characters of an expression at most: a list of all values of all fields has fewer."""
_MACROS = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
    "@EVERY_MINUTE": "* * * * *",
    "@EVERY_SECOND": "* * * * * *",
}
_UNRESTRICTED = ("*", "?")
_FEWEST, _MOST = 5, 6
_BOTH = "days"
_NAMES = tuple(field.name for field in (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY))


class CronParts(NamedTuple):
    """A valid expression.

    Attributes:
        text: the expression, in capitals and with single spaces.
        seconds: bit mask of the seconds; ``minutes`` and ``hours`` likewise.
        days: the day and month fields.
        interval: whether second, minute or hour is a ``*``, a ``?``, a range or a step (Cronos's definition).
        starred: whether second, minute or hour begins with a star (vixie cron's definition).
    """

    text: str
    seconds: int
    minutes: int
    hours: int
    days: DayFields
    interval: bool
    starred: bool


def parse_cron(given: str, day_rule: DayRule | None = None) -> CronParts:
    """Return the parts of a cron expression.

    Raises:
        InvalidCron: the expression is invalid; :class:`AmbiguousDays` if both day fields are restricted
            without a ``day_rule``.
        NeverFires: no month has such a day.
    """
    if day_rule is not None and day_rule not in get_args(DayRule):
        raise InvalidCadence(str(day_rule), "day_rule: not a rule", "use and, or or")
    text = _readable(given)
    tokens = text.split(" ")
    if text[0] == "@":
        tokens = _macro(given, text).split(" ")
    if len(tokens) == _FEWEST:
        tokens.insert(0, "0")
    if len(tokens) != _MOST:
        remedy = "write minute hour day-of-month month day-of-week, with second before them if need be"
        count = len(text.split(" "))
        raise InvalidCron(given, f"a cron expression has 5 or 6 fields, and this has {count}", remedy)
    try:
        parts = _read(text.lower() if text[0] == "@" else text, tokens, day_rule)
    except FieldError as error:
        _fail(given, error)
    if not parts.days.ever():
        start, width = _position(given, _NAMES.index(DAY.name))
        when = f"day-of-month {tokens[3]}, month {tokens[4]}, day-of-week {tokens[5]}"
        problem, remedy = f"no month ever has such a day ({when})", "choose a day that exists"
        raise NeverFires(given, problem, remedy, start=start, width=width)
    return parts


def _readable(given: str) -> str:
    """Return the expression in capitals with single spaces, after checking its length and characters."""
    if not isinstance(given, str):
        raise InvalidCron(str(given), "a cron expression is a text", 'write it as in "30 2 * * *"')
    if len(given) > LONGEST:
        raise InvalidCron(given, f"{len(given)} characters are no cron expression", f"use at most {LONGEST}")
    at = next((n for n, char in enumerate(given) if not is_plain(char)), None)
    if at is not None:
        problem = f"{given[at]!r} is not {PLAIN}"
        raise InvalidCron(given, problem, "use 0-9, A-Z and * , - / ?", start=at, width=1)
    text = " ".join(given.upper().split())
    if not text:
        raise InvalidCron(given, "the expression is empty", "write five fields, as in 30 2 * * *")
    return text


def _macro(given: str, text: str) -> str:
    if text in _MACROS:
        return _MACROS[text]
    if text == "@REBOOT":
        raise InvalidCron(given, "@reboot names no time", "use once(...), on_event(...) or manual()")
    known = [macro.lower() for macro in _MACROS]
    raise InvalidCron(
        given, f"there is no {text[:20].lower()}", did_you_mean(text, known) or f"use {', '.join(known)}"
    )


def _read(text: str, tokens: list[str], day_rule: DayRule | None) -> CronParts:
    second, minute, hour, day, month, weekday = tokens
    seconds, minutes, hours = SECOND.mask(second), MINUTE.mask(minute), HOUR.mask(hour)
    dates = month_days(day)
    months = MONTH.mask(month)
    days_of_week, nth = weekdays(weekday)
    both = day not in _UNRESTRICTED and weekday not in _UNRESTRICTED
    if both and day_rule is None:
        remedy = (
            'give day_rule="and" for days that match both, or day_rule="or" for days that match either,'
            " as a crontab does"
        )
        raise FieldError(_BOTH, "day-of-month and day-of-week are both restricted", remedy)
    return CronParts(
        text,
        seconds,
        minutes,
        hours,
        DayFields(*dates, days_of_week, nth, both and day_rule == "or", months),
        not f"{second},{minute},{hour}".replace(",", "").isdigit(),
        second[0] == "*" or minute[0] == "*" or hour[0] == "*",
    )


def _fail(given: str, error: FieldError) -> NoReturn:
    if error.field == _BOTH:
        start, _ = _position(given, _NAMES.index(DAY.name))
        problem = error.problem.removeprefix(f"{_BOTH}: ")
        last, width = _position(given, _NAMES.index(WEEKDAY.name))
        raise AmbiguousDays(given, problem, error.remedy, start=start, width=last + width - start)
    start, width = _position(given, _NAMES.index(error.field))
    raise InvalidCron(given, error.problem, error.remedy, start=start, width=width)


def _position(given: str, field: int) -> tuple[int, int]:
    """Return where a field begins in the given text, and its width; ``field`` counts from the seconds."""
    words = [*re.finditer(r"\S+", given)]
    word = words[field - (_MOST - len(words))]
    return word.start(), len(word.group())
