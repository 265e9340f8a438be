"""``every(...)``: times evenly spaced from local midnight, and ``interval(...)``: elapsed time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import chain, islice
from math import gcd
from typing import TYPE_CHECKING, Self
from zoneinfo import ZoneInfo

from duetime.cadence.cadence import Cadence, Precision, declared, limits_of, spreads_seconds
from duetime.cadence.calendars import Calendar
from duetime.cadence.days import EVERY_DAY, FIRST_DAY, NEVER, UNIX_DAY, DayCycle, DayFields, weekday_of
from duetime.cadence.errors import InvalidCadence, NeverFires
from duetime.cadence.modifiers import Dst, Window, Words, check_cycle, read_modifiers
from duetime.cadence.walk import (
    DAY,
    NOTHING,
    DstPolicy,
    TimeSteps,
    WallSchedule,
    at_times,
)
from duetime.cadence.wall_cadence import (
    ALL_KINDS_OF_MONTH,
    WallCadence,
    build_wall_schedule,
    first_recurring,
)
from duetime.cadence.words import (
    clock_text,
    duration_of,
    duration_text,
    duration_words,
    listed,
    seconds_of_day,
    windows_text,
)
from duetime.cadence.zones import DEPLOYED, FIRST, LAST, instant_at, seconds_of, zone

if TYPE_CHECKING:
    from duetime.cadence.bounds import Moment
    from duetime.cadence.eventbridge import WakeExpression

_MOST_DAYS = 3_660


@dataclass(frozen=True, slots=True, kw_only=True)
class Every(WallCadence):
    """Times at a fixed step of the local day; the count restarts at each midnight.

    Attributes:
        step: seconds, at most a day; or a whole number of days, counted from ``anchor``.
        anchor: a day of the cycle; None unless ``step`` is longer than a day.
        at: the time of day of a number of days, in seconds since midnight; the first of several.
        later: the later times of the same days.
    """

    step: int
    anchor: date | None = None
    at: int = 0
    later: tuple[int, ...] = ()

    @property
    def times_of_day(self) -> tuple[int, ...]:
        """All times of day of a number of days, in order."""
        return self.at, *self.later

    def _rule(self) -> DstPolicy:
        within_a_day = self.step < DAY
        return self.modifiers.dst_policy(interval=within_a_day, starred=within_a_day)

    def _built(self) -> WallSchedule:
        if self.step < DAY:
            return build_wall_schedule(self._head(), DayFields(), TimeSteps(self.step), self.modifiers)
        cycle = (
            None
            if self.anchor is None
            else DayCycle(self.step // DAY, self.anchor.toordinal() - UNIX_DAY, length=1)
        )
        return build_wall_schedule(
            self._head(), DayFields(), at_times(self.times_of_day), self.modifiers, cycle
        )

    def _spelled_times(self, label: str) -> str:
        """Return the label and the times of day; nothing for midnight alone."""
        return label + ",".join(map(clock_text, self.times_of_day)) if any(self.times_of_day) else ""

    def _head(self) -> str:
        anchor = f" anchor={self.anchor}" if self.anchor else ""
        return f"every {duration_text(self.step)}{self._spelled_times(' at=')}{anchor}"

    def _label(self) -> str:
        anchor = f"_{self.anchor}" if self.anchor else ""
        at = self._spelled_times("_").replace(":", "_")
        return f"Every_{duration_text(self.step)}{at}{anchor}"

    def _words(self) -> str:
        words = f"every {duration_words(self.step)}"
        at = listed([*map(clock_text, self.times_of_day)]) if any(self.times_of_day) else ""
        if self.anchor:
            return f"{words} at {at or 'midnight'}, counted from {self.anchor}"
        if at:
            return f"{words} at {at}"
        if self.step < DAY and DAY % self.step:
            return f"{words} from midnight, the last stretch of each day being shorter"
        return words


@declared
def every(
    *,
    days: float | Words | None = None,
    hours: float | None = None,
    minutes: float | None = None,
    seconds: float | None = None,
    anchor: date | str | None = None,
    at: str | time | None = None,
    tz: str | ZoneInfo | None = None,
    dst: Dst = "cronos",
    months: Words | None = None,
    weeks: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    count: int | None = None,
    except_at: Moment | Iterable[Moment] | None = None,
    spread: str | timedelta | None = None,
) -> Every:
    """Return a cadence of evenly spaced times on the wall clock.

    ``every(minutes=10, window=("09:00", "17:00"))`` runs at :00, :10, :20 and so on. The count restarts at
    each local midnight: ``every(minutes=7)`` runs at 23:55 and then at 00:00. For elapsed time see
    :func:`~duetime.cadence.interval`.

    Args:
        days: a number counts days from ``anchor``; weekdays, as in ``"mon-fri"``, are a filter.
        hours: added to ``minutes`` and ``seconds``; at most a day together.
        minutes: see ``hours``.
        seconds: see ``hours``.
        anchor: a date of the cycle, required for more than one day.
        at: the time of day of a number of days, as in ``every(days=3, at="09:00", anchor="2027-01-04")``,
            or several; midnight by default.
        tz: as of :func:`~duetime.cadence.cron`, like the following options.
        dst: the rule for clock changes.
        months: a filter.
        weeks: a filter.
        window: a filter.
        calendar: a filter.
        start: no run is earlier.
        end: no run is later.
        count: the number of runs.
        except_at: times without a run.
        spread: the delays of different jobs.

    Raises:
        InvalidCadence: the length is zero or more than a day of hours, an option is invalid, or the window
            never opens.
    """
    of_days, only = _length_or_filter(days)
    modifiers = read_modifiers(
        tz=tz,
        dst=dst,
        days=only,
        months=months,
        weeks=weeks,
        window=window,
        calendar=calendar,
        start=start,
        end=end,
        count=count,
        except_at=except_at,
        spread=spread,
    )
    step = duration_of("every", days=of_days, hours=hours, minutes=minutes, seconds=seconds)
    if step > DAY and step % DAY:
        shown = f"every {duration_text(step)}"
        remedy = (
            f"use a day at most, or whole days, or interval(...) for {duration_text(step)} of elapsed time"
        )
        raise InvalidCadence(shown, "every: a wall clock restarts each day", remedy, start=len("every "))
    if at is not None and step < DAY:
        remedy = "leave at out, or use daily(...) for a time of each day"
        raise InvalidCadence(str(at), f"every: {duration_text(step)} has no time of day", remedy)
    _, anchored_on = check_cycle(max(1, step // DAY), anchor, "days", _MOST_DAYS)
    first, later = (0, ()) if at is None else seconds_of_day(at)
    return Every(modifiers=modifiers, step=step, anchor=anchored_on, at=first, later=later)


_SOME_YEARS = 4 * 366 * DAY
# Openings of a filter without an occurrence after which the search stops: 27 years of daily windows. It also
# stops 400 years after the first: then the dates of the Gregorian calendar come again on the same weekdays.
_MOST_OPENINGS, _ALL_OPENINGS, _WEEK = 10_000, 146_097 * DAY, 7 * DAY


def _on_grid(start: int, step: int, at: int) -> int:
    """Return the first time of a step after ``start`` that is not before ``at``."""
    return start + max(1, -((start - at) // step)) * step


def _covered(openings: set[tuple[int, int]], step: int) -> int:
    """Return how many remainders of a step, from 0 on, some openings with their lengths have."""
    reached = 0
    for low, length in sorted((low + before, length) for low, length in openings for before in (0, -step)):
        reached = max(reached, low + length + 1) if low <= reached else reached
    return reached


@lru_cache(maxsize=256)
def _parts(windows: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the first and the last second of each part of a day that is in a window, in order."""
    halves = [((a, b),) if a <= b else ((0, b), (a, DAY - 1)) for a, b in windows or ((0, DAY - 1),)]
    return tuple(sorted(chain.from_iterable(halves)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(Cadence):
    """Occurrences at a fixed step of elapsed seconds after a start.

    Attributes:
        step: seconds from one occurrence to the next.
        start: seconds since 1970; the first occurrence is one step later. Without a start, each search counts
            from its own instant.
    """

    step: int
    start: int | None = None
    _open: WallSchedule | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        opened = (
            build_wall_schedule(self._head(), DayFields(), TimeSteps(1), self.modifiers)
            if self.modifiers.narrows
            else None
        )
        object.__setattr__(self, "_open", opened)
        leap, where = None if self.start is None else self._leap, zone(self.modifiers.zone_name)
        object.__setattr__(self, "_limits", limits_of(self.modifiers, where, needs_start=False, leap=leap))

    def starting(self, at: datetime) -> Self:
        """Return this interval counted from an instant: the first reconcile of its job.

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        return replace(self, start=seconds_of(at))

    def check_can_run(self) -> None:
        modifiers, calendar = self.modifiers, self.modifiers.calendar
        if calendar is not None and calendar.moves:
            raise InvalidCadence(
                self.text,
                "calendar: an interval counts elapsed time, so its runs cannot move to another day",
                'use instead="skip", or a cadence of the wall clock, as in daily("09:00")',
            )
        is_known = calendar is None or not calendar.unresolved
        windows, is_begun = modifiers.windows, self.start is not None
        longest = self._longest_step(1 if is_begun else _MOST_OPENINGS // 2) if is_known else self.step
        daily = (
            f'a cadence of the wall clock, as in daily("{clock_text(windows[0][0]) if windows else "09:00"}")'
        )
        if is_begun and is_known and longest and self._next_of_all(FIRST) == NOTHING:
            problem = "interval: none of its times, counted from its start, is one that its filters allow"
            raise NeverFires(self.text, problem, f"choose another start=, or {daily}")
        if not is_begun and 0 < longest < self.step:
            opening = f"the window {windows_text(windows)}" if windows else "each time that its filters admit"
            shorter = longest - bool(windows)
            raise InvalidCadence(
                self.text,
                f"interval: {duration_text(self.step)} is longer than {opening}, and from some starts none of"
                " its times is in it for many years, so it may never run",
                f"use {f'at most {duration_text(shorter)}, or ' * bool(shorter)}{daily}, "
                "or a start= whose times are allowed",
            )
        Cadence.check_can_run(self)

    def _longest_step(self, openings: int) -> int:
        """Return its step if each start reaches a run; else the longest time in which its filters allow runs.

        Each time in which they allow runs covers some remainders of a start, divided by the step. Those of 41
        years are read, or as many as `openings`: all that recur, or else single dates.
        """
        if self._open is None:
            return self.step
        begin = opens = first_recurring(self._open.days, self.modifiers.calendar)
        at, longest, met, step = begin - 1, 0, set[tuple[int, int]](), self.step
        until = begin + (_SOME_YEARS if self._never_covers() else ALL_KINDS_OF_MONTH * 366 * DAY)
        for number, run in enumerate(islice(self._runs(at, 1, at, until), openings), 1):
            opens, at = opens if run[0] == at + 1 else run[0], run[-1]
            longest = max(longest, at + 1 - opens)
            met.add((opens % step, at - opens))
            # Its first openings may cover all remainders.
            is_power = number & number - 1 == 0
            if longest >= step or (is_power and _covered(met, step) >= step):
                return step
        return step if _covered(met, step) >= step or 0 < longest == at + 1 - begin else longest

    def _never_covers(self) -> bool:
        """Return whether the windows of a few years show that some start has no run, whatever the days.

        In each period of one offset they open on the same seconds of a week.
        """
        modifiers, step = self.modifiers, gcd(self.step, _WEEK)
        if not modifiers.windows or modifiers.calendar is not None or step == 1:
            return False
        where, at, offsets = zone(modifiers.zone_name), DEPLOYED, set[int]()
        while at < min(DEPLOYED + ALL_KINDS_OF_MONTH * 366 * DAY, LAST):
            span = where.span(at)
            at, offsets = span.end, {*offsets, span.offset}
        opened = {
            ((day * DAY + opens - offset) % step, shuts - opens)
            for opens, shuts in _parts(modifiers.windows)
            for day in range(7)
            for offset in offsets
        }
        return _covered(opened, step) < step

    def last_before(self, instant: datetime) -> datetime | None:
        self._check_started()
        return Cadence.last_before(self, instant)

    def matches(self, instant: datetime) -> bool:
        self._check_started()
        return Cadence.matches(self, instant)

    def _check_started(self) -> None:
        if self.start is None:
            raise InvalidCadence(self.text, "interval: it has no start", "give one, as in starting(instant)")

    @property
    def precision(self) -> Precision:
        is_minutes = self.step % 60 == 0 and (self.start or 0) % 60 == 0
        return "minute" if is_minutes and not spreads_seconds(self.modifiers) else "second"

    def wakes(self) -> tuple[WakeExpression, ...]:
        from duetime.cadence.wakes import interval_wakes  # noqa: PLC0415 - most processes never compile wakes

        return interval_wakes(self.step, filtered=self.modifiers.narrows)

    def _longest_spread(self) -> int:
        return min(self.step, DAY)

    def _next_of_all(self, at: int, until: int = LAST) -> int:
        start = at if self.start is None else self.start
        if self._open is None:
            return _on_grid(start, self.step, at + 1)
        return next(self._runs(start, self.step, at, until), (NOTHING,))[0]

    def _leap(self, at: int, most: int, until: int) -> tuple[int, int]:
        """Count the occurrences of each opening at once; see :data:`duetime.cadence.bounds.Leap`."""
        passed = 0
        for run in self._runs(at if self.start is None else self.start, self.step, at, until):
            if passed + len(run) >= most:
                return run[most - passed - 1], most
            passed += len(run)
        return until, passed

    def _runs(self, start: int, step: int, at: int, until: int) -> Iterator[Sequence[int]]:
        """Yield the times of a step after ``at`` and up to ``until`` in each opening of its filters."""
        days = EVERY_DAY if self._open is None else self._open.days
        only = self.modifiers.days
        where, parts = zone(self.modifiers.zone_name), _parts(self.modifiers.windows)
        found, stop, misses = _on_grid(start, step, at + 1), until, 0
        # Its times come again after a week and on these seconds of it, in a period of one offset.
        again, meets = gcd(step, _WEEK), dict[int, bool]()
        while found <= stop and misses < _MOST_OPENINGS:
            span = where.span(found)
            if span.offset not in meets:
                meets[span.offset] = again == 1 or any(
                    (start + span.offset - day * DAY - opens) % again <= shuts - opens
                    for day in range(7)
                    for opens, shuts in parts
                    if only >> weekday_of(day) & 1
                )
            if not meets[span.offset]:
                stop = stop if misses else min(until, found + _ALL_OPENINGS)
                misses, found = misses + 1 + (span.end - found) // DAY, _on_grid(start, step, span.end)
                continue
            day, second = divmod(max(found + span.offset, FIRST_DAY * DAY), DAY)
            opens, shuts = next((part for part in parts if second <= part[1]), parts[0])
            first = days.first_from(day + (second > shuts))
            if first == NEVER:
                return
            opens, shuts = (opens, shuts) if first == day else parts[0]
            midnight = first * DAY - span.offset
            if midnight + opens > found:
                stop, misses = stop if misses else min(until, midnight + opens + _ALL_OPENINGS), misses + 1
                found = _on_grid(start, step, min(midnight + opens, span.end))
            else:
                last = min(midnight + shuts, span.end - 1, until)
                yield range(found, last + 1, step)
                found, stop, misses = _on_grid(start, step, last + 1), until, 0

    def _head(self) -> str:
        start = None if self.start is None else instant_at(self.start)
        since = "" if start is None else f" start={start.replace(tzinfo=None).isoformat()}Z"
        return f"interval {duration_text(self.step)}{since}"

    def _label(self) -> str:
        return f"Interval_{duration_text(self.step)}"

    def describe(self) -> str:
        return Cadence.describe(self) if self.modifiers.narrows or self.modifiers.bounds else self._words()

    def _words(self) -> str:
        return f"every {duration_words(self.step)} of elapsed time"


@declared
def interval(
    *,
    weeks: float | Words | None = None,
    days: float | Words | None = None,
    hours: float | None = None,
    minutes: float | None = None,
    seconds: float | None = None,
    tz: str | ZoneInfo | None = None,
    months: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
    start: str | datetime | None = None,
    end: Moment | None = None,
    count: int | None = None,
    except_at: Moment | Iterable[Moment] | None = None,
    spread: str | timedelta | None = None,
) -> Interval:
    """Return a cadence of elapsed time, as in ``interval(minutes=7)``, independent of clock changes.

    The first reconcile of its job sets the start, with :meth:`Interval.starting`.

    Args:
        weeks: a number is a length of time; words, as in ``"first"``, are a filter.
        days: a number is a length of time; weekdays, as in ``"mon-fri"``, are a filter.
        hours: added to the rest.
        minutes: added to the rest.
        seconds: added to the rest.
        tz: the zone of the filters.
        months: run only in these months.
        window: run only from the first time of day to the second, both included. The count continues outside.
        calendar: dates to exclude, or the only dates to include.
        start: an instant, as in ``"2027-01-04T09:00Z"``; the first occurrence is one step later.
        end: as of :func:`~duetime.cadence.cron`, like the following options.
        count: without a ``start``, from the deploy on that gives the job a count.
        except_at: times without a run.
        spread: the delays of different jobs.

    Raises:
        InvalidCadence: the length is zero, an option is invalid, or the filters leave no run; without a
            ``start``, if some start has none.
    """
    (of_weeks, only_weeks), (of_days, only_days) = map(_length_or_filter, (weeks, days))
    step = duration_of(
        "interval", weeks=of_weeks, days=of_days, hours=hours, minutes=minutes, seconds=seconds
    )
    modifiers = read_modifiers(
        tz=tz,
        days=only_days,
        weeks=only_weeks,
        months=months,
        window=window,
        calendar=calendar,
        end=end,
        count=count,
        except_at=except_at,
        spread=spread,
    )
    return Interval(modifiers=modifiers, step=step, start=None if start is None else _instant(start))


def _instant(given: str | datetime) -> int:
    from duetime.cadence.bounds import moment_text  # noqa: PLC0415 - few intervals are declared with a start

    try:
        text = moment_text(given, "start")
    except InvalidCadence as error:
        problem = error.problem.replace("no such date or time", "not an instant")
        raise InvalidCadence(error.text, problem, "write it as in 2026-01-01T00:00:00Z") from None
    if not text.endswith("Z"):
        raise InvalidCadence(str(given), "start: the instant has no zone", "end it with Z or an offset")
    return seconds_of(datetime.fromisoformat(text))


def _length_or_filter(given: float | Words | None) -> tuple[float | None, Words | None]:
    return (given, None) if isinstance(given, int | float) else (None, given)
