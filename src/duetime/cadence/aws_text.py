"""Values and days as EventBridge's ``cron(...)`` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence.day_fields import ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, ALL_WEEKS, LAST_WEEK

if TYPE_CHECKING:
    from duetime.cadence.day_fields import DayFields

_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_RUN = 3
_SHORTEST, _LONGEST = 28, 31
_AWAY = 2
"""Days that the nearest weekday may lie from the day it was asked for."""
_WEEKDAYS_A_MONTH = 4.35
MOST_TERMS = 2


class DayTerms(NamedTuple):
    """The two day fields, once for each expression that is needed.

    Attributes:
        pairs: (day-of-month, day-of-week) of each expression.
        exact: whether they come on no other days than the cadence's.
    """

    pairs: tuple[tuple[str, str], ...]
    exact: bool


def day_terms(days: DayFields) -> DayTerms:
    """The day fields that cover those days, months aside: exactly if two expressions can, else with days to spare."""
    by_date = days.days != ALL_DAYS or bool(days.lasts or days.nearest or days.nearest_lasts)
    by_week = days.weekdays != ALL_WEEKDAYS
    filtered = days.only_weekdays != ALL_WEEKDAYS or days.weeks != ALL_WEEKS
    if not by_date:
        return _week_terms(days)
    if days.either:
        dates, weekdays = (
            _date_terms(days),
            _week_terms(days._replace(only_weekdays=ALL_WEEKDAYS, weeks=ALL_WEEKS)),
        )
        pairs = dates.pairs + weekdays.pairs
        if len(pairs) > MOST_TERMS:
            return DayTerms((("*", "?"),), exact=False)
        return DayTerms(pairs, dates.exact and weekdays.exact and not filtered)
    if by_week and _rarer_by_week(days):
        return _week_terms(days)._replace(exact=False)
    return DayTerms(_date_terms(days).pairs, _date_terms(days).exact and not by_week and not filtered)


def values_text(mask: int, low: int, high: int) -> str:
    """A mask as ``*``, ``0/5``, ``9-17`` or a list."""
    values = [n for n in range(low, high + 1) if mask >> n & 1]
    if len(values) == high - low + 1:
        return "*"
    step = values[1] - values[0] if len(values) >= _RUN else 0
    if step > 1 and values == list(range(values[0], high + 1, step)):
        return f"{values[0]}/{step}"
    return ",".join(_runs(values, [str(n) for n in range(high + 1)]))


def months_field(mask: int) -> str:
    """The month field."""
    return "*" if mask == ALL_MONTHS else ",".join(_runs(_bits(mask), [str(n) for n in range(13)]))


def _date_terms(days: DayFields) -> DayTerms:
    terms = [("L", "?") for back in days.lasts if not back]
    terms += [(f"{day}W", "?") for day in days.nearest]
    if days.days:
        terms.insert(0, (_dates_text(days.days), "?"))
    if len(terms) <= MOST_TERMS and not days.nearest_lasts and not any(days.lasts):
        return DayTerms(tuple(terms), exact=True)
    return DayTerms(((_dates_text(_all_dates(days)), "?"),), exact=False)


def _all_dates(days: DayFields) -> int:
    """Every day of a month that its days, L and W may ever mean, the 1st as bit 0."""
    found = days.days
    for back in days.lasts:
        found |= _dates(_SHORTEST - back, _LONGEST - back)
    for day in days.nearest:
        found |= _dates(day - _AWAY, day + _AWAY)
    for back in days.nearest_lasts:
        found |= _dates(_SHORTEST - back - _AWAY, _LONGEST - back + _AWAY)
    return found


def _week_terms(days: DayFields) -> DayTerms:
    weekdays = days.weekdays & days.only_weekdays
    nth = tuple((day, n) for day, n in days.nth if days.only_weekdays >> day & 1)
    if days.weeks != ALL_WEEKS:
        return _filtered_by_week(days, weekdays, nth)
    terms = [("?", _weekdays_text(weekdays))] if weekdays else []
    terms += [("?", _nth_text(day, n)) for day, n in nth]
    if len(terms) <= MOST_TERMS:
        return (
            DayTerms(tuple(terms), exact=True)
            if weekdays != ALL_WEEKDAYS
            else DayTerms((("*", "?"),), exact=True)
        )
    for day, _ in nth:
        weekdays |= 1 << day
    return DayTerms((("?", _weekdays_text(weekdays)),), exact=False)


def _filtered_by_week(days: DayFields, weekdays: int, nth: tuple[tuple[int, int], ...]) -> DayTerms:
    """Weekdays in some weeks of the month: ``3#2`` where one of each is meant, else the dates that those weeks have."""
    weeks = _bits(days.weeks)
    chosen = [
        ("?", _nth_text(day, 0 if week == LAST_WEEK else week + 1))
        for day in _bits(weekdays)
        for week in weeks
    ]
    if not nth and len(chosen) <= MOST_TERMS:
        return DayTerms(tuple(chosen), exact=True)
    dates = 0
    for week in weeks:
        dates |= _dates(22, _LONGEST) if week == LAST_WEEK else _dates(7 * week + 1, 7 * week + 7)
    exact = weekdays == ALL_WEEKDAYS and not nth and LAST_WEEK not in weeks
    return DayTerms(((_dates_text(dates), "?"),), exact)


def _rarer_by_week(days: DayFields) -> bool:
    dates = _all_dates(days).bit_count() if days.days != ALL_DAYS else _LONGEST
    return days.weekdays.bit_count() * _WEEKDAYS_A_MONTH + len(days.nth) < dates


def _dates(first: int, last: int) -> int:
    mask = 0
    for day in range(max(1, first), min(_LONGEST, last) + 1):
        mask |= 1 << day - 1
    return mask


def _dates_text(mask: int) -> str:
    return values_text(mask << 1, 1, _LONGEST)


def _weekdays_text(mask: int) -> str:
    return ",".join(_runs(_bits(mask), list(_NAMES)))


def _nth_text(day: int, nth: int) -> str:
    return f"{day + 1}#{nth}" if nth else f"{day + 1}L"


def _bits(mask: int) -> list[int]:
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


def _runs(values: list[int], names: list[str]) -> list[str]:
    parts: list[list[int]] = []
    for value in values:
        if parts and parts[-1][-1] + 1 == value:
            parts[-1].append(value)
        else:
            parts.append([value])
    texts: list[str] = []
    for part in parts:
        texts += (
            [f"{names[part[0]]}-{names[part[-1]]}"] if len(part) >= _RUN else [names[value] for value in part]
        )
    return texts
