"""A cadence's days as terms that EventBridge's ``cron(...)`` can express, and the text of its fields."""

from __future__ import annotations

from typing import NamedTuple

from duetime.cadence.day_fields import ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS, LAST_WEEK, DayFields
from duetime.cadence.words import bits, ranges

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
    found = days.days
    for back in days.lasts:
        found |= _dates(_SHORTEST - back, _LONGEST - back)
    for day in days.nearest:
        found |= _dates(day - _AWAY, day + _AWAY)
    for day in days.capped:
        found |= _dates(_SHORTEST, day)
    for back in days.nearest_lasts:
        found |= _dates(_SHORTEST - back - _AWAY, _LONGEST - back + _AWAY)
    return found


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
    exact = weekdays == ALL_WEEKDAYS and not nth and LAST_WEEK not in weeks
    return DayTerms((DayFields(days=dates),), exact)


def _rarer_by_week(days: DayFields) -> bool:
    dates = _all_dates(days).bit_count() if days.days != ALL_DAYS else _LONGEST
    return days.weekdays.bit_count() * _WEEKDAYS_A_MONTH + len(days.nth) < dates


def _dates(first: int, last: int) -> int:
    return sum(1 << day - 1 for day in range(max(1, first), min(_LONGEST, last) + 1))
