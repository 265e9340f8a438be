"""A cadence's times and days in the parts that other languages have, or the option that they lack."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from duetime.cadence._interval import Interval
from duetime.cadence.business_days import BusinessDay
from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.day_fields import ALL_DAYS, ALL_WEEKDAYS, ALL_WEEKS, LAST_WEEK, DayFields
from duetime.cadence.days import Cycle, Days
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.times import HOUR, MINUTE, Times, times_of
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.words import WEEKDAYS

_DATE_LENGTH = 10
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
        nth = tuple((day, n) for day, n in days.nth if only >> day & 1)
        days = days._replace(weekdays=days.weekdays & only, nth=nth, only_weekdays=ALL_WEEKDAYS)
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
            elif len(entry) == _DATE_LENGTH:
                dates.append(entry)
            else:
                self.fail(f"the date {entry} of every year as an exception", "exclude dates with their years")
        return days._replace(weekdays=weekdays, nth=nth), tuple(dates)
