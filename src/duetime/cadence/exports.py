"""Cadences in other languages: recurrence rules of iCalendar, and systemd's calendar events.

:class:`Exported` has a cadence's times and days in the parts that other languages have, or names the option
that they lack.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple, NoReturn

from duetime.cadence._daily import Once
from duetime.cadence._spaced import Interval
from duetime.cadence.bounds import instants_of
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.days import (
    ALL_DAYS,
    ALL_HOURS,
    ALL_MONTHS,
    ALL_SIXTY,
    ALL_WEEKDAYS,
    ALL_WEEKS,
    FIRST_DAY,
    LAST_WEEK,
    Cycle,
    DayCycle,
    DayFields,
    Days,
    MonthCycle,
    YearCycle,
)
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.rrule_text import from_rrule
from duetime.cadence.walk import DAY, HOUR, MINUTE, NOTHING, Times, WallSchedule, times_of
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.weeks_and_months import BusinessDay
from duetime.cadence.words import DATE_LENGTH, WEEKDAY_NAMES, WEEKDAYS, bits, ranges
from duetime.cadence.zones import EPOCH, FIRST, LAST, Zone, instant_at, seconds_of, zone

_LAST_SEVEN = tuple(range(7))


class Parts(NamedTuple):
    """The parts of a cadence of a wall clock.

    Attributes:
        hours: bit n for hour n.
        minutes: bit n for minute n.
        seconds: bit n for second n.
        days: the days, with the filters applied, so that ``only_weekdays`` and ``weeks`` filter nothing.
        cycle: which weeks, days, months or years count.
        excluded: dates that the calendar excludes.
    """

    hours: int
    minutes: int
    seconds: int
    days: DayFields
    cycle: Cycle | None
    excluded: tuple[str, ...]


class Exported:
    """A cadence, and the name of the language to which it is translated."""

    def __init__(self, cadence: Cadence, language: str) -> None:
        self.cadence, self.language = cadence, language

    def fail(self, what: str, remedy: str) -> NoReturn:
        """Raise the error of what the language cannot express."""
        raise InvalidCadence(self.cadence.text, f"{self.language} cannot express {what}", remedy)

    def wall(self) -> tuple[WallCadence, Days]:
        """Return the cadence and its days.

        Raises:
            InvalidCadence: it has no days on a wall clock, or a spread.
        """
        if isinstance(self.cadence, Interval):
            self.fail("elapsed time", "use every(...), or what the other scheduler has for elapsed time")
        if not isinstance(self.cadence, WallCadence):
            self.fail("a trigger", "it has no times")
        bounds = self.cadence.modifiers.bounds
        if bounds is not None and bounds.spread:
            self.fail("spread=", "leave it out, and set a delay there")
        days = self.cadence.wall.days
        if not isinstance(days, Days):
            self.fail("a single time as a rule", "write the time itself")
        return self.cadence, days

    def parts(self) -> Parts:
        """Return the parts of the cadence.

        Raises:
            InvalidCadence: it has options that the language lacks.
        """
        cadence, days = self.wall()
        if cadence.modifiers.offset is not None:
            self.fail("offset=", "name the days themselves")
        if cadence.modifiers.calendar is not None and cadence.modifiers.calendar.moves:
            self.fail("a calendar that moves runs", 'use instead="skip"')
        hours, minutes, seconds = self._masks(cadence.wall.times)
        fields = self._fields(days.fields)
        excluded: tuple[str, ...] = ()
        if cadence.modifiers.calendar is not None:
            fields, excluded = self._without(fields, cadence.modifiers.calendar)
        return Parts(hours, minutes, seconds, fields, days.cycle, excluded)

    def _masks(self, times: Times) -> tuple[int, int, int]:
        """Return hours, minutes and seconds of which each combination is a time."""
        found = {(at // HOUR, at % HOUR // MINUTE, at % MINUTE) for at in times_of(times)}
        masks = tuple(sum(1 << value for value in {time[unit] for time in found}) for unit in range(3))
        if masks[0].bit_count() * masks[1].bit_count() * masks[2].bit_count() != len(found):
            self.fail(
                "these times of day, which are no list of hours and minutes", "declare several cadences"
            )
        return masks[0], masks[1], masks[2]

    def _fields(self, days: DayFields) -> DayFields:
        """Return the day fields with their filters applied."""
        if days.either:
            self.fail('day_rule="or"', "declare a cadence for the dates and one for the weekdays")
        if days.nearest or days.nearest_lasts:
            self.fail("the weekday nearest to a day", "name the days themselves")
        if days.capped:
            self.fail("the last day in the place of another", "declare a cadence for the shorter months")
        only = days.only_weekdays
        days = days._replace(
            weekdays=days.weekdays & only,
            nth=tuple((day, n) for day, n in days.nth if only >> day & 1),
            only_weekdays=ALL_WEEKDAYS,
        )
        if days.weeks == ALL_WEEKS:
            return days
        by_week = (
            sum(0b111_1111 << 7 * week for week in range(LAST_WEEK) if days.weeks >> week & 1) & ALL_DAYS
        )
        if not days.weeks >> LAST_WEEK & 1 and not days.lasts:
            return days._replace(days=days.days & by_week, weeks=ALL_WEEKS)
        if days.weeks == 1 << LAST_WEEK and days.days == ALL_DAYS:
            return days._replace(days=0, lasts=_LAST_SEVEN, weeks=ALL_WEEKS)
        return self.fail("these weeks= beside its days", "name the days themselves")

    def _without(self, days: DayFields, calendar: Calendar) -> tuple[DayFields, tuple[str, ...]]:
        """Return the days without the weekdays that a calendar excludes, and its single dates."""
        calendar.leaves(FIRST_DAY)  # an unresolved calendar refuses
        if isinstance(self.cadence, BusinessDay) and calendar.exclude:
            self.fail("the business days of a calendar", "leave the calendar out")
        if calendar.working and (isinstance(self.cadence, BusinessDay) or {*calendar.exclude} & {*WEEKDAYS}):
            self.fail("the working days of a calendar", "leave them out")
        if calendar.include:
            self.fail("the dates that a calendar includes", "declare several cadences")
        weekdays, nth, dates = days.weekdays, days.nth, []
        for entry in calendar.exclude:
            if entry in WEEKDAYS:
                weekday = WEEKDAYS.index(entry)
                weekdays &= ~(1 << weekday)
                nth = tuple(pair for pair in nth if pair[0] != weekday)
            elif len(entry) == DATE_LENGTH:
                dates.append(entry)
            else:
                self.fail(f"the date {entry} of every year as an exception", "exclude dates with their years")
        return days._replace(weekdays=weekdays, nth=nth), tuple(dates)


_CODES = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_SECOND = timedelta(seconds=1)
_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_COMPARED = 50
_WORKWEEK = 0b011_1110
_SYSTEMD_NAMES = [name[:3] for name in WEEKDAY_NAMES]
_LONGEST_MONTH = 31


def to_rrule(cadence: Cadence, *, start: datetime | None = None) -> str:
    """Return the recurrence rule of a cadence, as lines ``DTSTART``, ``RRULE`` and ``EXDATE``.

    The rule is read back, and its next fifty times are compared with the cadence's, clock changes aside:
    calendars differ in what they do at one.

    Args:
        cadence: the cadence.
        start: leave earlier times out. Required, unless the cadence has a start of its own.

    Raises:
        InvalidCadence: a rule cannot express the cadence, or there is no start.
        NaiveInstant: a start without a zone.
    """
    exported, tz = Exported(cadence, "an RRULE"), cadence.tz
    if isinstance(cadence, Interval):
        if cadence.start is None and start is not None:
            cadence = cadence.starting(start)
        (rule, excluded), tz = _of_interval(exported, cadence, start), "UTC"
    elif isinstance(cadence, Once):
        rule, excluded = f"{_dated('DTSTART', cadence.local, tz)}\nRRULE:FREQ=DAILY;COUNT=1", set()
    else:
        rule, excluded = _of_wall(exported, cadence, start)
    if (last := cadence.ends_at) is not None:
        rule += f";UNTIL={_local(seconds_of(last))}Z"
    if excluded:
        end, where = ("Z", "") if tz == "UTC" else ("", f";TZID={tz}")
        rule += f"\nEXDATE{where}:{','.join(f'{_local(at)}{end}' for at in sorted(excluded))}"
    if not _are_alike(cadence, from_rrule(rule), zone(tz)):
        exported.fail("these days together", "declare several cadences")
    return rule


def _are_alike(cadence: Cadence, read: Cadence, where: Zone) -> bool:
    """Return whether the next times of a rule are those of its cadence, changes of the clocks aside."""

    def next_times(of: Cadence) -> list[int]:
        return [*islice(map(seconds_of, of.between(begin - _SECOND, _LATEST)), _COMPARED)]

    begin = read.next_after(_EARLIEST) or _LATEST
    mine, theirs = next_times(cadence), next_times(read)
    until = min((times[-1] for times in (mine, theirs) if len(times) == _COMPARED), default=LAST)
    differing = {at for at in {*mine} ^ {*theirs} if at <= until}
    return all(len({where.offset(at + n * DAY) for n in (-2, 0, 2)}) > 1 for at in differing)


def _of_wall(exported: Exported, cadence: Cadence, start: datetime | None) -> tuple[str, set[int]]:
    """Return the rule of a cadence of a wall clock, and the local times that it excludes."""
    parts = exported.parts()
    wall, _ = exported.wall()
    bounds = cadence.modifiers.bounds
    begin = None if start is None else seconds_of(start)
    if bounds is not None and bounds.start:
        own = min(instants_of(bounds.start, zone(cadence.tz)))
        begin = own if begin is None else max(own, begin)
    if begin is None:
        exported.fail("a cadence without a start", "give start=datetime(2027, 1, 4, tzinfo=UTC) or another")
    first = _regular_wall(wall).first_from(max(begin + zone(cadence.tz).span(begin).offset, FIRST))
    if (
        first == NOTHING
        or cadence.next_after((instant_at(max(begin, FIRST + DAY)) or EPOCH) - _SECOND) is None
    ):
        exported.fail("a cadence without a later time", "give an earlier start")
    return f"{_dated('DTSTART', first, cadence.tz)}\nRRULE:{_rule(exported, parts)}", _excluded(wall, parts)


def _regular_wall(cadence: WallCadence) -> WallSchedule:
    """Return the days and times with those that a calendar excludes, as a rule counts them."""
    calendar = cadence.modifiers.calendar
    if calendar is None:
        return cadence.wall
    weekdays = [entry for entry in calendar.exclude if entry in WEEKDAYS]
    regular = Calendar(exclude=weekdays) if weekdays else None
    return replace(cadence, modifiers=replace(cadence.modifiers, calendar=regular)).wall


def _rule(exported: Exported, parts: Parts) -> str:
    days, cycle = parts.days, parts.cycle
    if isinstance(cycle, YearCycle):
        days = _dates(exported, days, cycle)
    if days.nth and days.weekdays:
        exported.fail("counted weekdays beside others", "declare a cadence for each")
    frequency = _frequency(exported, parts)
    by_day = _by_day(days)
    month_days = [n + 1 for n in bits(days.days)] if days.days != ALL_DAYS else []
    month_days += [-back - 1 for back in days.lasts]
    if frequency in ("WEEKLY", "MONTHLY") and not (by_day or month_days):
        by_day = f";BYDAY={','.join(_CODES)}"
    if isinstance(exported.cadence, BusinessDay):
        by_day += _chosen(exported, exported.cadence, days)
    every = f";INTERVAL={cycle.every}" if cycle is not None and cycle.every > 1 else ""
    week = ";WKST=MO" if frequency == "WEEKLY" else ""
    months = "" if days.months == ALL_MONTHS else _listed("BYMONTH", bits(days.months))
    pieces = _listed("BYSECOND", bits(parts.seconds))
    if frequency != "MINUTELY":
        pieces += _listed("BYMINUTE", bits(parts.minutes))
    if frequency not in ("MINUTELY", "HOURLY"):
        pieces += _listed("BYHOUR", bits(parts.hours))
    return f"FREQ={frequency}{every}{week}{months}{_listed('BYMONTHDAY', month_days)}{by_day}{pieces}"


def _dates(exported: Exported, fields: DayFields, cycle: YearCycle) -> DayFields:
    """Return the day fields with the days and months of the dates of a year that the filters leave."""
    left = {(month, day) for month, day in cycle.dates if fields.months >> month & fields.days >> day - 1 & 1}
    months, days = {month for month, _ in left}, {day for _, day in left}
    if len(left) != len(months) * len(days):
        exported.fail("different days of different months", "declare a cadence for each month")
    return fields._replace(months=sum(1 << month for month in months), days=sum(1 << day - 1 for day in days))


def _frequency(exported: Exported, parts: Parts) -> str:
    """Return the frequency that repeats the cycle, or the shortest one that the days permit."""
    days, cycle = parts.days, parts.cycle
    if isinstance(cycle, YearCycle):
        return "YEARLY"
    if days.nth or isinstance(cycle, MonthCycle) or isinstance(exported.cadence, BusinessDay):
        return "MONTHLY"
    if isinstance(cycle, DayCycle) and cycle.length > 1:
        if days.days != ALL_DAYS or days.lasts:
            exported.fail("days of the month in every n-th week", "declare several cadences")
        return "WEEKLY"
    if cycle is not None or parts.hours != ALL_HOURS:
        return "DAILY"
    return "MINUTELY" if parts.minutes == ALL_SIXTY else "HOURLY"


def _chosen(exported: Exported, cadence: BusinessDay, days: DayFields) -> str:
    """Return the positions of business days among the weekdays of the month."""
    if days.weekdays != _WORKWEEK or days.days != ALL_DAYS:
        exported.fail("filtered business days", "leave days= and weeks= out")
    if cadence.later:
        exported.fail("business days at several times of day", "declare a cadence for each time")
    return _listed(
        "BYSETPOS",
        ([n + 1 for n in bits(cadence.on.firsts)] + [-back - 1 for back in bits(cadence.on.lasts)]),
    )


def _by_day(days: DayFields) -> str:
    entries = [f"{nth or -1}{_CODES[day]}" for day, nth in days.nth]
    if days.weekdays != ALL_WEEKDAYS:
        entries += [_CODES[day] for day in bits(days.weekdays)]
    return f";BYDAY={','.join(entries)}" if entries else ""


def _listed(name: str, values: list[int]) -> str:
    return f";{name}={','.join(map(str, values))}" if values else ""


def _excluded(cadence: WallCadence, parts: Parts) -> set[int]:
    """Return the local times that the calendar and ``except_at`` exclude."""
    bounds, where = cadence.modifiers.bounds, zone(cadence.tz)
    found = {at for text in (bounds.except_at if bounds else ()) for at in instants_of(text, where)}
    local = {at + where.span(at).offset for at in found}
    for entry in parts.excluded:
        local |= {
            seconds_of(datetime.fromisoformat(entry).replace(tzinfo=UTC)) + at
            for at in times_of(cadence.wall.times)
        }
    return local


def _of_interval(exported: Exported, cadence: Interval, start: datetime | None) -> tuple[str, set[int]]:
    """Return the rule of elapsed time, in UTC, and the times that it excludes."""
    if cadence.modifiers.narrows:
        exported.fail("an interval with filters", "leave the filters out")
    if cadence.delay or (cadence.modifiers.bounds and cadence.modifiers.bounds.spread):
        exported.fail("spread=", "leave it out, and set a delay there")
    if cadence.start is None:
        exported.fail("an interval without a start", "give start=datetime(2027, 1, 4, tzinfo=UTC)")
    after = instant_at(cadence.start) or _EARLIEST
    first = cadence.next_after(after if start is None else max(after, max(start, _EARLIEST) - _SECOND))
    if first is None:
        exported.fail("a cadence without a later time", "give an earlier start")
    units = (("DAILY", DAY), ("HOURLY", HOUR), ("MINUTELY", MINUTE), ("SECONDLY", 1))
    frequency, size = next((name, size) for name, size in units if cadence.step % size == 0)
    rule = f"FREQ={frequency};INTERVAL={cadence.step // size}"
    bounds, where = cadence.modifiers.bounds, zone(cadence.tz)
    excluded = {at for text in (bounds.except_at if bounds else ()) for at in instants_of(text, where)}
    return f"{_dated('DTSTART', seconds_of(first), 'UTC')}\nRRULE:{rule}", excluded


def _dated(name: str, local: int, tz: str) -> str:
    return f"{name}:{_local(local)}Z" if tz == "UTC" else f"{name};TZID={tz}:{_local(local)}"


def _local(local: int) -> str:
    at = instant_at(local)
    return "" if at is None else f"{at.year:04}{at:%m%dT%H%M%S}"


def to_systemd(cadence: Cadence) -> str:
    """Return the calendar event of a cadence, with its zone, for ``OnCalendar=``.

    systemd skips times in a gap of the clocks, and runs once what comes twice.

    Raises:
        InvalidCadence: no single event can express the cadence.
    """
    exported = Exported(cadence, "OnCalendar")
    if isinstance(cadence, Once):
        at = instant_at(cadence.local)
        return f"{at.year:04}-{at:%m-%d %H:%M:%S} {cadence.tz}" if at else ""
    parts = exported.parts()
    bounds = cadence.modifiers.bounds
    if bounds is not None:
        shown = next(name for name in ("start", "end", "count", "except_at") if getattr(bounds, name))
        exported.fail(f"{shown}=", "leave it out, or enable and disable the timer")
    if parts.cycle is not None or isinstance(cadence, BusinessDay) or parts.excluded:
        what = (
            "a cycle" if parts.cycle else "business days" if not parts.excluded else "the dates of a calendar"
        )
        exported.fail(what, "let the service check the date")
    weekdays, sign, day = _event_days(exported, parts.days)
    on = [n for n in (*range(1, 7), 0) if weekdays >> n & 1]
    shown_weekdays = f"{','.join(ranges(on, _SYSTEMD_NAMES, joint='..'))} "
    month = "*" if parts.days.months == ALL_MONTHS else _numbers(bits(parts.days.months))
    units = ((parts.hours, ALL_HOURS), (parts.minutes, ALL_SIXTY), (parts.seconds, ALL_SIXTY))
    clock = ":".join("*" if mask == every else _numbers(bits(mask)) for mask, every in units)
    return f"{shown_weekdays * (weekdays != ALL_WEEKDAYS)}*-{month}{sign}{day} {clock} {cadence.tz}"


def _event_days(exported: Exported, days: DayFields) -> tuple[int, str, str]:
    """Return the weekdays, the sign before the days of the month, and these."""
    weekdays, numbers, lasts = days.weekdays, days.days, days.lasts
    if days.nth:
        on = {day for day, _ in days.nth}
        weeks = {n for _, n in days.nth}
        is_product = len(on) * len(weeks) == len(days.nth) and not days.weekdays
        if not is_product or numbers != ALL_DAYS or lasts or (0 in weeks and len(weeks) > 1):
            exported.fail("these weekdays of the month", "declare a cadence for each")
        weekdays = sum(1 << day for day in on)
        if weeks == {0}:
            return weekdays, "~", _numbers([n + 1 for n in _LAST_SEVEN])
        listed = [day for n in weeks for day in range(7 * n - 6, 7 * n + 1) if day <= _LONGEST_MONTH]
        return weekdays, "-", _numbers(sorted(listed))
    if lasts and numbers:
        exported.fail("days from both ends of the month", "declare a cadence for each")
    if lasts:
        return weekdays, "~", _numbers(sorted(back + 1 for back in lasts))
    return weekdays, "-", "*" if numbers == ALL_DAYS else _numbers([n + 1 for n in bits(numbers)])


def _numbers(values: list[int]) -> str:
    return ",".join(ranges(values, [f"{n:02}" for n in range(values[-1] + 1)], joint=".."))
