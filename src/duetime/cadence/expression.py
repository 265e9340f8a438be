"""A cron expression, read: what it says about seconds, minutes, hours and days, or why it says nothing.

Five fields (minute hour day-of-month month day-of-week), six with a leading second, or one of the ``@daily`` family. The
special items are Quartz's as Cronos reads them: ``L``, ``L-3``, ``LW``, ``L-3W``, ``15W`` of the month; ``5L`` and ``MON#2`` of the
week.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, NoReturn, get_args

from duetime.cadence.cron_days import month_days, weekdays
from duetime.cadence.day_fields import DayFields
from duetime.cadence.errors import AmbiguousDays, InvalidCadence, InvalidCron, NeverFires, nearest
from duetime.cadence.fields import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, FieldError

DayRule = Literal["and", "or"]

LONGEST = 1_000
"""Characters that an expression may have: every value of every field, listed, has fewer."""
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
        days: what the day and month fields admit.
        interval: whether second, minute or hour is a ``*``, a ``?``, a range or a step (Cronos' notion).
        starred: whether second, minute or hour begins with a star (vixie cron's notion).
    """

    text: str
    seconds: int
    minutes: int
    hours: int
    days: DayFields
    interval: bool
    starred: bool


def parse_cron(given: str, day_rule: DayRule | None = None) -> CronParts:
    """Read a cron expression.

    Raises:
        InvalidCron: it is not of the language; :class:`AmbiguousDays` when both day fields are restricted and
            ``day_rule`` is not said.
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
        _refuse_length(given, len(text.split(" ")))
    try:
        parts = _read(text.lower() if text[0] == "@" else text, tokens, day_rule)
    except FieldError as refused:
        _refuse(given, refused)
    if not parts.days.ever():
        _refuse_days(given, tokens)
    return parts


def _readable(given: str) -> str:
    """The expression in capitals with single spaces, once it is known to be one of a sane size and alphabet."""
    if len(given) > LONGEST:
        raise InvalidCron(given, f"{len(given)} characters are no cron expression", f"use at most {LONGEST}")
    if not given.isascii():
        at = next(n for n, char in enumerate(given) if not char.isascii())
        raise InvalidCron(
            given,
            f"{given[at]!r} is not of the ASCII alphabet",
            "use 0-9, A-Z and * , - / ?",
            start=at,
            width=1,
        )
    text = " ".join(given.upper().split())
    if not text:
        raise InvalidCron(given, "the expression is empty", "write five fields, as in 30 2 * * *")
    return text


def _macro(given: str, text: str) -> str:
    if text in _MACROS:
        return _MACROS[text]
    if text == "@REBOOT":
        raise InvalidCron(
            given, "@reboot names no time", "nothing reboots here; use once(...), on_event(...) or manual()"
        )
    known = [macro.lower() for macro in _MACROS]
    raise InvalidCron(
        given, f"there is no {text[:20].lower()}", nearest(text, known) or f"use {', '.join(known)}"
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
            'say day_rule="and" for days that match both, or day_rule="or" for days that match either,'
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


def _refuse_length(given: str, count: int) -> NoReturn:
    remedy = "write minute hour day-of-month month day-of-week, with second before them if need be"
    raise InvalidCron(given, f"a cron expression has 5 or 6 fields, and this has {count}", remedy)


def _refuse(given: str, refused: FieldError) -> NoReturn:
    if refused.field == _BOTH:
        start, _ = _place(given, _NAMES.index(DAY.name))
        problem = refused.problem.removeprefix(f"{_BOTH}: ")
        last, width = _place(given, _NAMES.index(WEEKDAY.name))
        raise AmbiguousDays(given, problem, refused.remedy, start=start, width=last + width - start)
    start, width = _place(given, _NAMES.index(refused.field))
    raise InvalidCron(given, refused.problem, refused.remedy, start=start, width=width)


def _refuse_days(given: str, tokens: list[str]) -> NoReturn:
    start, width = _place(given, _NAMES.index(DAY.name))
    when = f"day-of-month {tokens[3]}, month {tokens[4]}, day-of-week {tokens[5]}"
    raise NeverFires(
        given, f"no month ever has such a day ({when})", "ask for a day that comes", start=start, width=width
    )


def _place(given: str, field: int) -> tuple[int, int]:
    """Where a field stands in what was given, and how wide it is; ``field`` counts from the seconds."""
    tokens = given.split()
    wanted = field - (_MOST - len(tokens))
    end = 0
    for token in tokens[: wanted + 1]:
        start = given.index(token, end)
        end = start + len(token)
    return start, end - start
