"""A preview of a cadence: its next occurrences, and what the occurrences alone do not show.

``duetime preview`` and the admin API both use it. It has warnings about valid cadences that may not do what
their author meant; the console translates these sentences by their wording. It compares a cron expression's
occurrences with croniter's, to find mistakes of either evaluator; duetime's own evaluator decides. The
comparison covers only what croniter is known to compute correctly: times on a clock that never changes, and
the common part of the cron language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import gcd
from typing import Self

from duetime._english import counted
from duetime.cadence._daily import Once
from duetime.cadence._spaced import Interval
from duetime.cadence.bounds import instants_of
from duetime.cadence.cadence import Cadence
from duetime.cadence.crontab import Cron
from duetime.cadence.days import ALL_DAYS, LENGTHS, Days, MonthCycle, YearCycle
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.explain import LocalOccurrence, local_occurrences
from duetime.cadence.expression import DAY, MONTH, WEEKDAY, CronField, parse_cron
from duetime.cadence.modifiers import PLAIN
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.words import MONTHS, WEEKDAYS, bits
from duetime.cadence.zones import DEPLOYED, EPOCH, instant_at, seconds_of, zone

AHEAD = 400 * 86_400
"""Seconds searched for clock changes: a year and a month, since next year's changes may come later."""
# Changed occurrences returned at most.
_MOST = 4
_SIX = 6
_DATES_NEEDED = timedelta(days=90)
_UNITS = (("second", 60, "minute"), ("minute", 60, "hour"), ("hour", 24, "day"))
_EVEN = {"second": "interval(seconds={})", "minute": "interval(minutes={})", "hour": "interval(hours={})"}
_HIGHEST = {"second": 59, "minute": 59, "hour": 23, "day-of-month": 31, "month": 12, "day-of-week": 6}
_MANY_YEARS, _YEAR = 10, timedelta(days=366)
_MONTH_DAYS, _WEEK_DAYS, _MONTHS = 31, 7, 12


def cadence_warnings(
    cadence: Cadence, start: datetime | None = None, until: datetime | None = None
) -> list[str]:
    """Return the warnings about a cadence, a sentence each; empty for most.

    Args:
        cadence: the cadence.
        start: warn if its calendar's dates end within ninety days after it, or before `until`, or if its
            next run after it, or after 2025 without it, is many years ahead.
        until: the last occurrence of interest.
    """
    try:
        cadence.check_can_run()
    except InvalidCadence as refused:
        return [f"{refused.problem}; {refused.remedy}"]
    found = [*_cron_warnings(cadence)] if isinstance(cadence, Cron) else []
    found += _missing_date_warnings(cadence)
    found += _late_warnings(cadence, start)
    return [*found, *_needless_exclusions(cadence), *_ending_dates(cadence, start, until)]


def upcoming_clock_changes(
    cadence: Cadence, start: datetime, until: datetime | None = None
) -> Iterator[LocalOccurrence]:
    """Return the first occurrence that each clock change in (start, until] affects.

    Without ``until``, return the next four within a year.

    Raises:
        NaiveInstant: a datetime without a zone.
    """
    if not isinstance(cadence, WallCadence):
        return iter(())
    at = seconds_of(start)
    if until is None:
        return islice(_changed(cadence, at, at + AHEAD), _MOST)
    return _changed(cadence, at, seconds_of(until))


def _changed(cadence: WallCadence, at: int, last: int) -> Iterator[LocalOccurrence]:
    where = zone(cadence.tz)
    span = where.span(at)
    while span.end <= last and span.end > at:
        jump = abs(span.after - span.offset)
        opens, shuts = instant_at(max(at, span.end - jump - 1)), instant_at(span.end + jump)
        if jump and opens is not None and shuts is not None:
            yield from islice((row for row in local_occurrences(cadence, opens, shuts) if row.mark), 1)
        span = where.span(span.end)


def _cron_warnings(cadence: Cron) -> Iterator[str]:
    fields = cadence.expression.split()
    if len(fields) == _SIX and "?" in (fields[2], fields[4]):
        from duetime.cadence.dialects import eventbridge_text  # noqa: PLC0415 - few expressions need it

        if text := eventbridge_text(cadence.expression):
            yield (
                "six fields begin with the second; if this is EventBridge's, which begin with the minute"
                f' and end with the year, write "{text}"'
            )
    if len(fields) > 1:
        if fields[-3] == "?" and re.search(r"(?<![#/])[1-7]", fields[-1]):
            yield (
                f"in day-of-week {fields[-1]} Sunday is 0 or 7 and Monday 1; Quartz and EventBridge count"
                " from Sunday 1: names are the same everywhere"
            )
        yield from _each_unit_warnings(cadence, fields)
        yield from _uneven_step_warnings(fields)
        yield from _uneven_day_warnings(*fields[-3:])
        for name, text in zip([*_HIGHEST][-len(fields) :], fields, strict=True):
            for item in text.split(","):
                yield from _range_warnings(name, item)


def _ending_dates(cadence: Cadence, start: datetime | None, until: datetime | None) -> Iterator[str]:
    calendar = cadence.modifiers.calendar
    if start is None or calendar is None or calendar.through is None:
        return
    if calendar.through < max(start + _DATES_NEEDED, until or start).date().isoformat():
        yield (
            f"the dates of calendar {calendar.name or 'without a name'} end on {calendar.through}:"
            " later days have no holidays; deploy with further years"
        )


def _needless_exclusions(cadence: Cadence) -> Iterator[str]:
    """Warn about excluded times that are no occurrences."""
    bounds = cadence.modifiers.bounds
    if bounds is None or not bounds.except_at or (isinstance(cadence, Interval) and cadence.start is None):
        return
    where, all_times = zone(cadence.tz), replace(bounds, except_at=(), delay=0)
    unexcluded = replace(cadence, modifiers=replace(cadence.modifiers, bounds=all_times))
    for text in bounds.except_at:
        if not any(unexcluded.matches(at) for at in map(instant_at, instants_of(text, where)) if at):
            yield f"except_at {text} excludes nothing: it is no time of the cadence"


def _each_unit_warnings(cadence: Cron, fields: list[str]) -> Iterator[str]:
    """Warn about ``* 2 * * *``, which runs in each minute of the hour."""
    smaller, larger = ("second", "minute") if len(fields) == _SIX else ("minute", "hour")
    if fields[0] == "*" and re.fullmatch(r"\d+(?:,\d+)*", fields[1]):
        parts = parse_cron(" ".join(["0", *fields[1:]]), cadence.day_rule)
        modifiers = replace(cadence.modifiers, default_tz=None)
        once = replace(cadence, parts=parts, modifiers=modifiers).text.removeprefix("cron ")
        yield f'{smaller} * runs in each {smaller} of the {larger}; to run once in it, write "{once}"'


def _uneven_day_warnings(day: str, month: str, weekday: str) -> Iterator[str]:
    """Warn about steps of days and months, which restart with each month, week or year."""
    if (number := _step_of_all(day, DAY)) and number < _MONTH_DAYS:
        yield f"{day} restarts on the 1st of each month; every(days={number}, anchor=...) is even"
    if (number := _step_of_all(month, MONTH)) and _MONTHS % number:
        last = (_MONTHS - 1) // number * number + 1
        yield (
            f"month {month} restarts each year: from month {last} to the next 1 it is"
            f" {counted(_MONTHS + 1 - last, 'month')}; list the months"
        )
    if (number := _step_of_all(weekday, WEEKDAY)) and number < _WEEK_DAYS:
        last = (_WEEK_DAYS - 1) // number * number
        yield (
            f"day-of-week {weekday} restarts each Sunday: from day {last} to the next 0 it is"
            f" {counted(_WEEK_DAYS - last, 'day')}; name the weekdays, as in MON,WED,FRI"
        )


def _step_of_all(text: str, field: CronField) -> int:
    """Return the step through all of a field's values; 0 without one, or with a step of one."""
    found = re.fullmatch(r"[^,]+/0*(\d+)", text)
    is_of_all = found is not None and found[1] != "1" and field.mask(text) == field.mask(f"*/{found[1]}")
    return int(found[1]) if found and is_of_all else 0


def _range_warnings(name: str, item: str) -> Iterator[str]:
    """Warn about ranges that wrap, and about steps that are longer than their range."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?(?:/(\d+))?", item)
    if not found or not (found[2] or found[3]):
        return
    low, high, step = int(found[1]), int(found[2] or _HIGHEST[name]), int(found[3] or 1)
    if low > high and not (name == "day-of-week" and high == 0):
        yield (
            f"{name} {item} goes over the end of the {'week' if name == 'day-of-week' else 'range'}:"
            f" {low} and later, and up to {high}; for those between,"
            f" write {high}-{low}{f'/{step}' * bool(found[3])}"
        )
    elif low < high and low + step > high:
        yield f"{name} {item} is {low} alone, since its step is longer than its range"


def _uneven_step_warnings(fields: list[str]) -> Iterator[str]:
    """Warn about steps whose last stretch in each hour or day has another length."""
    for text, (unit, size, larger_unit) in zip(fields, _UNITS[_SIX - len(fields) :], strict=False):
        step = re.fullmatch(r"([*?]|\d+)(?:-(\d+))?/(\d+)", text)
        if not step:
            continue
        first, number = int(re.sub("[*?]", "0", step[1])), int(step[3])
        last = first + (int(step[2] or size - 1) - first) // number * number
        short = size - last + first
        is_to_the_end = not step[2] or first < number >= size - last
        if is_to_the_end and short != number and last != first:
            yield (
                f"{text} restarts each {larger_unit}: from {unit} {last} to the next {first}"
                f" it is {counted(short, unit)}; {_EVEN[unit].format(number)} is even"
            )


def _missing_date_warnings(cadence: Cadence) -> Iterator[str]:
    """Warn about a date that some months in question do not have."""
    if not isinstance(cadence, WallCadence) or not isinstance(cadence.wall.days, Days):
        return
    fields, cycle = cadence.wall.days.fields, cadence.wall.days.cycle
    ends = (*fields.lasts, *fields.nearest_lasts)
    if fields.either or fields.capped or 0 in ends:
        return
    months, listed = bits(fields.months), {n + 1 for n in bits(fields.days)}
    dates = {*listed, *fields.nearest, *(back + 1 for back in ends)}
    if isinstance(cycle, MonthCycle):
        months = [n for n in months if (n - 1 - cycle.anchor) % gcd(cycle.every, _MONTHS) == 0]
    days = {(month, day) for month in months for day in dates}
    days = days & cycle.dates if isinstance(cycle, YearCycle) else days
    missing = {(month, day) for month, day in days if day > LENGTHS[month]}
    is_without = {month for month, _ in missing} - {month for month, _ in days - missing}
    # The days of a range up to the end of a month are meant as far as it has them.
    alone = sorted(day for _, day in missing if is_without or day - 1 not in listed)
    is_stepped = isinstance(cadence, Cron) and "/" in cadence.expression.split()[-3:][0]
    if alone and (is_without or not is_stepped):
        effect = "is passed over" if is_without else "has no run for it"
        yield (
            f"a month without a day {alone[0]} {effect}; L is the last day of each,"
            f' and monthly("{alone[0]}-or-last", ...) that of those'
        )


def _late_warnings(cadence: Cadence, start: datetime | None) -> Iterator[str]:
    """Warn about a next run that is many years later than its parts let expect."""
    bounds, calendar = cadence.modifiers.bounds, cadence.modifiers.calendar
    if isinstance(cadence, Once) or (calendar is not None and calendar.unresolved):
        return
    anchor = datetime.fromisoformat(f"{getattr(cadence, 'anchor', None) or '1970-01-01'}T00:00Z")
    deployed = instant_at(DEPLOYED) or EPOCH
    starts = [start or max(deployed, min(anchor, deployed + _MANY_YEARS * _YEAR))]
    starts += filter(
        None, map(instant_at, instants_of(bounds.start, zone(cadence.tz)) if bounds and bounds.start else ())
    )
    following = cadence.next_after(max(starts))
    if following is not None and following - max(starts) > _MANY_YEARS * _YEAR:
        yield f"its next run is on {following.date()}, since what it combines seldom comes together: check it"


COMPARED_FROM = datetime(2027, 12, 30, 21, 47, 13, tzinfo=UTC)
"""The start of the comparison: it crosses a year's end into a leap year, and is no round time."""
_RANGE = re.compile(r"(?P<first>\w+)-(?P<last>\w+)(/\d+)?", re.ASCII)
_OPEN_STEP = re.compile(r"(^|,)\w+/", re.ASCII)
_NUMBERS = {
    name.upper(): n for names, low in ((WEEKDAYS, 0), (MONTHS, 1)) for n, name in enumerate(names, low)
}
"""The numbers of weekdays and months, by their names."""
_LAST_WEEKDAY = re.compile(r"\b(?P<day>[0-7]|[A-Z]{3})L\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One occurrence on which the two differ.

    Attributes:
        after: the instant after which both searched.
        ours: duetime's occurrence, in UTC.
        theirs: croniter's; None if croniter found none or rejected the expression.
    """

    after: datetime
    ours: datetime | None
    theirs: datetime | None

    def __str__(self) -> str:
        return f"after {self.after.isoformat()}: {_shown(self.ours)}, but croniter says {_shown(self.theirs)}"


def compare_with_croniter(
    cadence: Cron, *, start: datetime = COMPARED_FROM, count: int = 20
) -> list[Disagreement]:
    """Return where croniter's next ``count`` occurrences of the bare expression differ; empty if they agree.

    Zone, clock rule and filters are ignored. An expression with an :func:`incomparable_reason` is not
    compared.
    """
    if incomparable_reason(cadence) is not None:
        return []
    from croniter import croniter  # noqa: PLC0415 - the import takes 30 ms

    bare = replace(cadence, modifiers=PLAIN)
    expression = _LAST_WEEKDAY.sub(
        lambda last: f"L{int(_NUMBERS.get(last['day'], last['day'])) % 7}",
        cadence.expression.replace("?", "*"),
    )
    found: list[Disagreement] = []
    ours: datetime | None = start
    for _ in range(count):
        if ours is None:
            break
        after = ours
        ours = bare.next_after(after)
        try:
            fields = croniter(expression, after, day_or=cadence.day_rule != "and", second_at_beginning=True)
            theirs = fields.get_next(datetime)
        except (ValueError, KeyError):
            theirs = None
        if ours != theirs:
            found.append(Disagreement(after, ours, theirs))
    return found


def incomparable_reason(cadence: Cron) -> str | None:
    """Return why this expression is not compared with croniter, or None if it is."""
    days = cadence.parts.days
    if days.nearest or days.nearest_lasts or any(days.lasts):
        return "croniter does not know W and L-n"
    if days.nth and (days.weekdays or len(days.nth) > 1 or days.days != ALL_DAYS or days.lasts):
        return "croniter reads the L and # of a weekday correctly only if they are alone in their field"
    if _OPEN_STEP.search(cadence.expression.split()[-1]):
        return "croniter ends FRI/2 on Saturday, before day 7"
    for item in re.split("[ ,]", cadence.expression):
        bounds = _RANGE.fullmatch(item)
        if bounds and int(_NUMBERS.get(bounds["first"], bounds["first"])) >= int(
            _NUMBERS.get(bounds["last"], bounds["last"])
        ):
            return "croniter reads a range that wraps, or has one value, differently"
    return None


def _shown(instant: datetime | None) -> str:
    return "never" if instant is None else instant.isoformat()


@dataclass(frozen=True, slots=True)
class Preview:
    """A cadence's occurrences after a start, with warnings.

    Attributes:
        cadence: the cadence.
        until: the end of the preview; None for a number of occurrences.
        occurrences: the occurrences shown, and the clock changes that skip some.
        changes: effects of clock changes within a year of the last occurrence shown; empty if ``until`` is
            set.
        notes: warnings, a sentence each.
        disagreements: where croniter computes other occurrences of a cron expression, a sentence each.
        second_opinion: croniter's result, or why it is not compared; None unless the cadence is a cron
            expression.
    """

    cadence: Cadence
    until: datetime | None
    occurrences: tuple[LocalOccurrence, ...]
    changes: tuple[LocalOccurrence, ...]
    notes: tuple[str, ...]
    disagreements: tuple[str, ...]
    second_opinion: str | None

    @classmethod
    def from_occurrences(
        cls, cadence: Cadence, occurrences: Iterable[LocalOccurrence], start: datetime, until: datetime | None
    ) -> Self:
        """Return the preview that shows these occurrences of (start, until].

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        shown = tuple(occurrences)
        last = max((row.at for row in shown if row.at), default=start)
        disagreements: tuple[str, ...] = ()
        opinion = None
        if isinstance(cadence, Cron):
            disagreements = tuple(map(str, compare_with_croniter(cadence)))
            opinion = _second_opinion(cadence, disagreements)
        return cls(
            cadence=cadence,
            until=until,
            occurrences=shown,
            changes=()
            if until is not None
            else tuple(row for row in upcoming_clock_changes(cadence, last) if row not in shown),
            notes=tuple(cadence_warnings(cadence, start, last)),
            disagreements=disagreements,
            second_opinion=opinion,
        )


def _second_opinion(cadence: Cron, disagreements: tuple[str, ...]) -> str:
    """Return the result as a sentence; the console translates it by its wording."""
    reason = incomparable_reason(cadence)
    if reason is not None:
        return f"not asked, since {reason}"
    return "croniter disagrees" if disagreements else "croniter agrees, changes of the clocks aside"
