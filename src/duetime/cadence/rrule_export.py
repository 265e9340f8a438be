"""Cadences as recurrence rules of iCalendar: ``DTSTART``, ``RRULE`` and ``EXDATE``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from duetime.cadence._interval import Interval
from duetime.cadence._once import Once
from duetime.cadence.bounds import instants_of
from duetime.cadence.business_days import BusinessDay
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.day_fields import ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, DayFields
from duetime.cadence.days import DayCycle, MonthCycle, YearCycle
from duetime.cadence.exported import Exported, Parts
from duetime.cadence.rrule_text import from_rrule
from duetime.cadence.times import DAY, HOUR, MINUTE, times_of
from duetime.cadence.walk import NOTHING, WallSchedule
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.words import WEEKDAYS, bits
from duetime.cadence.zones import EPOCH, LAST, Zone, instant_at, seconds_of, zone

_CODES = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_ALL_HOURS, _ALL_SIXTY = (1 << 24) - 1, (1 << 60) - 1
_SECOND = timedelta(seconds=1)
_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_COMPARED = 50
_WORKWEEK = 0b011_1110


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
    first = _regular_wall(wall).first_from(begin + zone(cadence.tz).span(begin).offset)
    if first == NOTHING or cadence.next_after((instant_at(begin) or EPOCH) - _SECOND) is None:
        exported.fail("a cadence without a later time", "give an earlier start")
    rule = _rule(exported, parts)
    return f"{_dated('DTSTART', first, cadence.tz)}\nRRULE:{rule}", _excluded(wall, parts)


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
    if cycle is not None or parts.hours != _ALL_HOURS:
        return "DAILY"
    return "MINUTELY" if parts.minutes == _ALL_SIXTY else "HOURLY"


def _chosen(exported: Exported, cadence: BusinessDay, days: DayFields) -> str:
    """Return the positions of business days among the weekdays of the month."""
    if days.weekdays != _WORKWEEK or days.days != ALL_DAYS:
        exported.fail("filtered business days", "leave days= and weeks= out")
    if cadence.later:
        exported.fail("business days at several times of day", "declare a cadence for each time")
    nth = [n + 1 for n in bits(cadence.on.firsts)] + [-back - 1 for back in bits(cadence.on.lasts)]
    return _listed("BYSETPOS", nth)


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
        midnight = seconds_of(datetime.fromisoformat(entry).replace(tzinfo=UTC))
        local |= {midnight + at for at in times_of(cadence.wall.times)}
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
    first = cadence.next_after(after if start is None else max(after, start - _SECOND))
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
    return "" if at is None else f"{at:%Y%m%dT%H%M%S}"
