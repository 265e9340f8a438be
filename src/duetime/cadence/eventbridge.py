"""EventBridge Scheduler's expressions: values, a strict parser, their texts, and when they fire.

From AWS's *Schedule types in EventBridge Scheduler*: ``at(yyyy-mm-ddThh:mm:ss)``, ``rate(value unit)`` and
``cron(minutes hours day-of-month month day-of-week year)``, each evaluated in a separate time zone. The
parser rejects everything that this page does not document, because the emulators accept any text.

The six fields of ``cron(...)`` are a subset of Quartz's language: weekdays are 1-7 from Sunday, ranges
ascend, exactly one of the two day fields is ``?``, day-of-week knows no steps, and ``L``, ``W`` and ``#``
stand alone in their field. :func:`day_terms` returns a cadence's days as terms that such fields can express.

Clock changes, from the same page: a time that does not exist is skipped, and a time that comes twice runs
once. The page does not name the pass, so :meth:`WakeExpression.next_after` computes either.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple, NoReturn

from duetime.cadence.days import (
    ALL_DAYS,
    ALL_MONTHS,
    ALL_WEEKDAYS,
    ALL_WEEKS,
    LAST_WEEK,
    DayFields,
    Days,
    OneDay,
)
from duetime.cadence.errors import InvalidExpression, UnknownZone
from duetime.cadence.walk import (
    DAY,
    HOUR,
    MINUTE,
    SKIPPED_AND_LAST,
    SKIPPED_AND_ONCE,
    Fields,
    WallSchedule,
    at_time,
    next_after,
)
from duetime.cadence.words import MONTHS, WEEKDAYS, bits, ranges
from duetime.cadence.zones import instant_at, seconds_of, zone

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
    return CronFields(
        minutes=_mask(minute, _MINUTE),
        hours=_mask(hour, _HOUR),
        days=(_days(day) if weekday.text == "?" else _weekdays(weekday))._replace(
            months=_mask(month, _MONTH)
        ),
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


_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_RUN = 3
_SHORTEST, _LONGEST = 28, 31
# Days between a day and its nearest weekday, at most.
_AWAY = 2
_WEEKDAYS_A_MONTH = 4.35
MOST_TERMS = 2


class DayTerms(NamedTuple):
    """Days as terms of which each fits one expression.

    Attributes:
        terms: each has a single rule for days, and every month.
        exact: whether the terms have exactly the cadence's days, rather than some more.
    """

    terms: tuple[DayFields, ...]
    exact: bool


def day_terms(days: DayFields) -> DayTerms:
    """Return terms that cover these days, months aside, with additional days unless two terms suffice."""
    by_date = days.days != ALL_DAYS or bool(days.lasts or days.nearest or days.nearest_lasts or days.capped)
    by_week = days.weekdays != ALL_WEEKDAYS
    filtered = days.only_weekdays != ALL_WEEKDAYS or days.weeks != ALL_WEEKS
    if not by_date:
        return _week_terms(days)
    dates = _date_terms(days)
    if days.either:
        weekdays = _week_terms(days._replace(only_weekdays=ALL_WEEKDAYS, weeks=ALL_WEEKS))
        terms = dates.terms + weekdays.terms
        if len(terms) > MOST_TERMS:
            return DayTerms((DayFields(),), exact=False)
        return DayTerms(terms, dates.exact and weekdays.exact and not filtered)
    if by_week and _rarer_by_week(days):
        return _week_terms(days)._replace(exact=False)
    return dates._replace(exact=dates.exact and not by_week and not filtered)


def day_text(term: DayFields) -> tuple[str, str]:
    """Return the fields day-of-month and day-of-week of a term."""
    if term.lasts:
        return "L", "?"
    if term.nearest:
        return f"{term.nearest[0]}W", "?"
    if term.nth:
        [(day, nth)] = term.nth
        return "?", f"{day + 1}#{nth}" if nth else f"{day + 1}L"
    if term.weekdays != ALL_WEEKDAYS:
        return "?", ",".join(ranges(bits(term.weekdays), list(_NAMES)))
    return values_text(term.days << 1, 1, _LONGEST), "?"


def values_text(mask: int, low: int, high: int) -> str:
    """Return a mask as ``*``, ``0/5``, ``9-17`` or a list."""
    values = bits(mask)
    if len(values) == high - low + 1:
        return "*"
    step = values[1] - values[0] if len(values) >= _RUN else 0
    if step > 1 and values == list(range(values[0], high + 1, step)):
        return f"{values[0]}/{step}"
    return ",".join(ranges(values, [str(n) for n in range(high + 1)]))


def months_text(mask: int) -> str:
    """Return the month field."""
    return "*" if mask == ALL_MONTHS else ",".join(ranges(bits(mask), [str(n) for n in range(13)]))


def _date_terms(days: DayFields) -> DayTerms:
    terms = [DayFields(days=days.days)] if days.days else []
    terms += [DayFields(days=0, lasts=(0,)) for back in days.lasts if not back]
    terms += [DayFields(days=0, nearest=(day,)) for day in days.nearest]
    if len(terms) <= MOST_TERMS and not (days.nearest_lasts or days.capped or any(days.lasts)):
        return DayTerms(tuple(terms), exact=True)
    return DayTerms((DayFields(days=_all_dates(days)),), exact=False)


def _all_dates(days: DayFields) -> int:
    """Return every day of a month that its days, L and W can match, the 1st as bit 0."""
    spans = [(_SHORTEST - back, _LONGEST - back) for back in days.lasts]
    spans += [(day - _AWAY, day + _AWAY) for day in days.nearest]
    spans += [(_SHORTEST, day) for day in days.capped]
    spans += [(_SHORTEST - back - _AWAY, _LONGEST - back + _AWAY) for back in days.nearest_lasts]
    return reduce(or_, (_dates(first, last) for first, last in spans), days.days)


def _week_terms(days: DayFields) -> DayTerms:
    weekdays = days.weekdays & days.only_weekdays
    nth = tuple((day, n) for day, n in days.nth if days.only_weekdays >> day & 1)
    if days.weeks != ALL_WEEKS:
        return _weeks_of_month_terms(days, weekdays, nth)
    terms = [DayFields(weekdays=weekdays)] if weekdays else []
    terms += [DayFields(weekdays=0, nth=(pair,)) for pair in nth]
    if weekdays == ALL_WEEKDAYS or len(terms) <= MOST_TERMS:
        return DayTerms(tuple(terms[:1] if weekdays == ALL_WEEKDAYS else terms), exact=True)
    for day, _ in nth:
        weekdays |= 1 << day
    return DayTerms((DayFields(weekdays=weekdays),), exact=False)


def _weeks_of_month_terms(days: DayFields, weekdays: int, nth: tuple[tuple[int, int], ...]) -> DayTerms:
    """Return weekdays of some weeks of the month: ``3#2`` for single weekdays, else these weeks' dates."""
    weeks = bits(days.weeks)
    terms = [
        DayFields(weekdays=0, nth=((day, 0 if week == LAST_WEEK else week + 1),))
        for day in bits(weekdays)
        for week in weeks
    ]
    if not nth and len(terms) <= MOST_TERMS:
        return DayTerms(tuple(terms), exact=True)
    dates = 0
    for week in weeks:
        dates |= _dates(22, _LONGEST) if week == LAST_WEEK else _dates(7 * week + 1, 7 * week + 7)
    return DayTerms((DayFields(days=dates),), weekdays == ALL_WEEKDAYS and not nth and LAST_WEEK not in weeks)


def _rarer_by_week(days: DayFields) -> bool:
    dates = _all_dates(days).bit_count() if days.days != ALL_DAYS else _LONGEST
    return days.weekdays.bit_count() * _WEEKDAYS_A_MONTH + len(days.nth) < dates


def _dates(first: int, last: int) -> int:
    return sum(1 << day - 1 for day in range(max(1, first), min(_LONGEST, last) + 1))


LONGEST = 256
"""Characters that an expression may have (CreateSchedule, ScheduleExpression)."""
LONGEST_ZONE = 50
"""Characters that a zone's name may have (CreateSchedule, ScheduleExpressionTimezone)."""

_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", re.ASCII)
_RATE = re.compile(r"rate\(([1-9]\d{0,8}) (minute|hour|day)(s?)\)", re.ASCII)
_CRON = re.compile(r"cron\((.*)\)", re.ASCII)
_UNITS = {"minute": MINUTE, "hour": HOUR, "day": DAY}


@dataclass(frozen=True, slots=True)
class WakeExpression(ABC):
    """A valid expression, and the zone in which it is evaluated.

    Attributes:
        expression: the text for EventBridge.
        tz: an IANA zone.
    """

    expression: str
    tz: str

    def next_after(
        self, instant: datetime, *, last_pass: bool = False, start: datetime | None = None
    ) -> datetime | None:
        """Return the first firing strictly after ``instant``, in UTC; None if there is none.

        Args:
            instant: an aware datetime.
            last_pass: fire local times that come twice in their second pass instead of their first.
            start: the first firing of a rate: the schedule's start date or its creation. By default a rate
                counts from ``instant``.

        Raises:
            NaiveInstant: an instant without a zone.
        """
        after = seconds_of(instant)
        return instant_at(
            self._next(after, after if start is None else seconds_of(start), last_pass=last_pass)
        )

    @abstractmethod
    def _next(self, after: int, start: int, *, last_pass: bool) -> int: ...


@dataclass(frozen=True, slots=True)
class RateExpression(WakeExpression):
    """``rate(...)``: elapsed time, independent of clock changes.

    Attributes:
        period: seconds from one firing to the next.
    """

    period: int

    def _next(self, after: int, start: int, *, last_pass: bool) -> int:
        del last_pass
        return start if after < start else start + ((after - start) // self.period + 1) * self.period


@dataclass(frozen=True, slots=True)
class WallExpression(WakeExpression):
    """``at(...)`` or ``cron(...)``: times on the zone's wall clock."""

    _wall: WallSchedule = field(compare=False, repr=False)

    def _next(self, after: int, start: int, *, last_pass: bool) -> int:
        del start
        return next_after(
            self._wall, zone(self.tz), SKIPPED_AND_LAST if last_pass else SKIPPED_AND_ONCE, after
        )


@lru_cache(maxsize=256)
def parse_expression(text: str, tz: str = "UTC") -> WakeExpression:
    """Return the expression of a text, read as strictly as AWS documents it.

    Raises:
        InvalidExpression: EventBridge Scheduler would reject the expression or the zone.
    """
    _check_zone(tz)
    if len(text) > LONGEST:
        raise InvalidExpression(text, f"{len(text)} characters are too many", f"use at most {LONGEST}")
    if match := _AT.fullmatch(text):
        return _at(text, tz, match[1])
    if match := _RATE.fullmatch(text):
        return _rate(text, tz, match)
    if text.isascii() and (match := _CRON.fullmatch(text)):
        return _wall_expression(text, tz, parse_cron_fields(text, match[1], match.start(1)))
    remedy = "write at(yyyy-mm-ddThh:mm:ss), rate(5 minutes) or cron(0 9 * * ? *)"
    raise InvalidExpression(text, "not an expression of EventBridge Scheduler", remedy)


def at_expression(instant: datetime) -> WakeExpression:
    """Return the ``at(...)`` of an instant, in UTC, without the fraction of a second.

    Raises:
        NaiveInstant: an instant without a zone.
    """
    day, second = divmod(seconds_of(instant), DAY)
    return WallExpression(
        f"at({instant.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat()})",
        "UTC",
        WallSchedule(OneDay(day), at_time(second)),
    )


def rate_expression(minutes: int) -> WakeExpression:
    """Return the ``rate(...)`` of a number of minutes, in the largest unit that fits."""
    seconds = minutes * MINUTE
    unit, size = next((unit, size) for unit, size in reversed(_UNITS.items()) if seconds % size == 0)
    return RateExpression(f"rate({seconds // size} {unit}s)", "UTC", seconds)


def cron_expression(fields: CronFields, tz: str) -> WakeExpression:
    """Return the ``cron(...)`` of fields with at most one rule for days, in every year."""
    day, weekday = day_text(fields.days)
    minutes, hours = values_text(fields.minutes, 0, 59), values_text(fields.hours, 0, 23)
    return _wall_expression(
        f"cron({minutes} {hours} {day} {months_text(fields.days.months)} {weekday} *)", tz, fields
    )


def _wall_expression(text: str, tz: str, fields: CronFields) -> WakeExpression:
    wall = WallSchedule(Days(fields.days, years=fields.years), Fields(fields.hours, fields.minutes))
    return WallExpression(text, tz, wall)


def _at(text: str, tz: str, local: str) -> WakeExpression:
    try:
        when = datetime.fromisoformat(local).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidExpression(
            text, "at: no such date or time", "use yyyy-mm-ddThh:mm:ss", start=3, width=19
        ) from None
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        problem = f"at: the year {when.year} is out of range"
        raise InvalidExpression(text, problem, f"use {FIRST_YEAR}-{LAST_YEAR}", start=3, width=4)
    day, second = divmod(seconds_of(when), DAY)
    return WallExpression(text, tz, WallSchedule(OneDay(day), at_time(second)))


def _rate(text: str, tz: str, match: re.Match[str]) -> WakeExpression:
    if not match[3] and match[1] != "1":
        raise InvalidExpression(
            text,
            f"rate: {match[2]} is for one",
            f"write {match[2]}s",
            start=match.start(2),
            width=len(match[2]),
        )
    return RateExpression(text, tz, int(match[1]) * _UNITS[match[2]])


def _check_zone(tz: str) -> None:
    if len(tz) > LONGEST_ZONE:
        raise InvalidExpression(
            tz, f"a zone's name of {len(tz)} characters is too long", f"use at most {LONGEST_ZONE}"
        )
    try:
        zone(tz)
    except UnknownZone as unknown:
        raise InvalidExpression(tz, unknown.problem, unknown.remedy) from None
