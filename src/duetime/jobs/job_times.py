"""The times of a cadence, and those that a calendar or a change of the clocks removed. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from duetime._lazy_property import lazy_property
from duetime.cadence.bounds import moment_text
from duetime.cadence.cadence import Cadence
from duetime.cadence.durations import duration_text
from duetime.cadence.explain import LocalOccurrence, local_occurrences
from duetime.cadence.options import calendar_text
from duetime.cadence.walk import NOTHING
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.zones import DAY, OffsetPeriod, instant_at, seconds_of, zone
from duetime.errors import truncate
from duetime.instant import LATEST

SECOND = timedelta(seconds=1)
_SATURDAY = 5
# Days that a calendar moves something at most; see `duetime.cadence.calendars`.
_LONGEST_MOVE = 366


class TimeSource(ABC):
    """Gives times of one kind, of one cadence."""

    def __init__(self, cadence: Cadence, until: datetime) -> None:
        self.cadence, self.until = cadence, until
        self.name, self.zone = cadence.name, zone(cadence.tz)

    @property
    def grid(self) -> Cadence:
        """The cadence whose times are this source's between two of its turns."""
        return self.cadence

    @abstractmethod
    def next_after(self, at: datetime) -> datetime | None:
        """Return the first time after an instant; None if there is none up to `until`."""

    @abstractmethod
    def note(self, at: datetime) -> tuple[str, Hashable]:
        """Return the note on one of its times, and the value by which equal neighbours are folded."""

    @abstractmethod
    def turn(self, at: datetime) -> datetime:
        """Return the first instant from `at` on at which the note may change."""

    def span_at(self, at: datetime) -> OffsetPeriod:
        """Return the period of one offset that contains an instant."""
        return self.zone.span(seconds_of(at))

    def day_of(self, at: datetime) -> int:
        """Return the local date of a time before its delay, in days since 1970."""
        at -= self.cadence.delay * SECOND
        return (seconds_of(at) + self.span_at(at).offset) // DAY

    def begin_of(self, day: int) -> datetime:
        """Return the first instant at which clocks can show a local date."""
        span = self.zone.span(day * DAY - self.zone.span(day * DAY).offset)
        offsets = [span.offset]
        if day * DAY - span.start < 2 * DAY:
            offsets.append(span.before)
        if span.end - day * DAY < 2 * DAY:
            offsets.append(span.after)
        return instant_of(day * DAY - max(offsets))


class NominalTimes(TimeSource):
    """The times that a cadence has."""

    def next_after(self, at: datetime) -> datetime | None:
        found = self.cadence.next_after(at)
        return None if found is None or found > self.until else found

    def note(self, at: datetime) -> tuple[str, Hashable]:
        """Return the effect of a change of the clocks, and whether the calendar moved the time here."""
        mark = self._mark(at)
        was_moved = self._moving is not None and self._moving.next_after(at - SECOND) != at
        words = ["moved here by its calendar"] if was_moved else []
        if delay := self.cadence.delay:
            words.append(f"{duration_text(delay)} later, by its spread")
        if mark is None or not mark.words:
            return "".join(words), tuple(words)
        return "; ".join([mark.words, *words]), (mark.mark, mark.offset, *words)

    def turn(self, at: datetime) -> datetime:
        span, turns = self.span_at(at), [self.until]
        if isinstance(self.cadence, WallCadence):
            after_change, before_change = _reach(span)
            edges = (span.start, span.start + after_change, span.end - before_change, span.end)
            delayed = (edge + self.cadence.delay for edge in edges)
            turns += [edge for edge in map(instant_of, (*edges, *delayed)) if edge >= at]
        if self._moving is not None:
            turns.append(self.begin_of(self.day_of(at) + 1) + self.cadence.delay * SECOND)
        return max(at, min(turns))

    def _mark(self, at: datetime) -> LocalOccurrence | None:
        """Return the effect of the clocks; only near a change is it computed."""
        if not isinstance(self.cadence, WallCadence):
            return None
        second = seconds_of(at) - self.cadence.delay
        span = self.zone.span(second)
        after_change, before_change = _reach(span)
        if second - span.start > after_change and span.end - second > before_change:
            return None
        return next(
            (mark for mark in local_occurrences(self.cadence, at - SECOND, at) if mark.at == at), None
        )

    @lazy_property
    def _moving(self) -> Cadence | None:
        """The cadence without its calendar, if that moves times."""
        calendar = self.cadence.modifiers.calendar
        is_moving = calendar is not None and calendar.moves and not self.cadence.counts_business_days
        return without_calendar(self.cadence) if is_moving else None


class CalendarExcluded(TimeSource):
    """The times that a cadence's calendar removes."""

    def __init__(self, cadence: Cadence, until: datetime) -> None:
        super().__init__(cadence, until)
        if cadence.modifiers.calendar is None:
            raise ValueError(f"{cadence.name} has no calendar")
        self._calendar = cadence.modifiers.calendar
        self._plain = without_calendar(cadence)

    @property
    def grid(self) -> Cadence:
        """The cadence without its calendar."""
        return self._plain

    @property
    def reason(self) -> str:
        return truncate(f"calendar {self._calendar.name or calendar_text(self._calendar)}", 200)

    def next_after(self, at: datetime) -> datetime | None:
        while (found := self._plain.next_after(at)) is not None and found <= self.until:
            if self._is_silent(found):
                return found
            at = max(found, self._before_silence(found))
        return None

    def note(self, at: datetime) -> tuple[str, Hashable]:
        """Return the day to which the calendar moved the time."""
        if not self._calendar.moves:
            return "", ()
        moved = self._calendar.moved_to(self.day_of(at))
        if moved is None:
            return "no business day to move it to within a year", ()
        return f"moved to {instant_of(moved * DAY).date()}", moved

    def turn(self, at: datetime) -> datetime:
        if not self._calendar.moves:
            return self.until
        return max(at, min(self.until, self.begin_of(self.day_of(at) + 1)))

    def _is_silent(self, at: datetime) -> bool:
        """Return whether the calendar excludes a time, by its local date.

        A gap may have moved the time across midnight; then the cadences are compared.
        """
        second = seconds_of(at) - self.cadence.delay
        span = self.zone.span(second)
        if span.start == second and span.before < span.offset:
            return self.cadence.next_after(at - SECOND) != at
        return not self._calendar.leaves(self.day_of(at))

    def _before_silence(self, at: datetime) -> datetime:
        """Return the end of the days without an excluded time, which need no check."""
        day, span = self.day_of(at), self.span_at(at)
        is_shown_again = (span.end + span.after) // DAY < day
        if is_shown_again or not self._calendar.leaves(day):
            return at
        last = self.day_of(self.until) + 1
        silent = next((index for index in range(day + 1, last + 1) if not self._calendar.leaves(index)), None)
        return self.until if silent is None else self.begin_of(silent) - SECOND


class DstGap(TimeSource):
    """The clock gaps whose times a cadence skips."""

    def __init__(self, cadence: WallCadence, until: datetime) -> None:
        super().__init__(cadence, until)
        self._cadence, self._wall, self._longest_moved = (
            cadence,
            cadence.wall,
            max(0, cadence.clock.moves_up_to),
        )

    def next_after(self, at: datetime) -> datetime | None:
        span, last = self.span_at(at), seconds_of(self.until)
        while span.end <= last:
            is_skipped = span.after - span.offset > self._longest_moved and self._cadence.is_within(span.end)
            if is_skipped and self.missing(instant_of(span.end)):
                return instant_of(span.end)
            span = self.zone.span(span.end)
        return None

    def note(self, at: datetime) -> tuple[str, Hashable]:
        return self.gap(at).words, at

    def turn(self, at: datetime) -> datetime:
        return at

    def gap(self, at: datetime) -> LocalOccurrence:
        """Return the gap at the instant when the clocks jumped."""
        return next(
            mark for mark in local_occurrences(self.cadence, at - SECOND, at) if mark.mark == "skipped"
        )

    def missing(self, at: datetime) -> Sequence[int]:
        """Return the cadence's local times in the gap, in seconds since 1970."""
        span = self.span_at(at)
        found, local = [], self._wall.first_from(span.start + span.before)
        while NOTHING < local < span.start + span.offset:
            found.append(local)
            local = self._wall.first_from(local + 1)
        return found


def sources_of(cadence: Cadence, until: datetime) -> Iterator[TimeSource]:
    """Return the sources of a cadence up to an instant."""
    yield NominalTimes(cadence, until)
    if cadence.modifiers.calendar is not None and not cadence.counts_business_days:
        yield CalendarExcluded(cadence, until)
    if isinstance(cadence, WallCadence):
        yield DstGap(cadence, until)


def without_calendar(cadence: Cadence) -> Cadence:
    """Return the cadence without its calendar, and with the end that its count has."""
    bounds = cadence.modifiers.bounds
    if bounds is not None and bounds.count and (last := cadence.last_before(LATEST)):
        end = moment_text(last - cadence.delay * SECOND, "end")
        bounds = replace(bounds, count=0, end=end)
    return replace(cadence, modifiers=replace(cadence.modifiers, calendar=None, bounds=bounds))


def _reach(span: OffsetPeriod) -> tuple[int, int]:
    """Return for how many seconds the changes before and after a span may mark its times."""
    return abs(span.before - span.offset), abs(span.after - span.offset)


def local_of(at: datetime, tz: str) -> datetime:
    """Return the local time of an instant, naive."""
    return at.replace(tzinfo=None) + timedelta(seconds=zone(tz).span(seconds_of(at)).offset)


def last_before(source: TimeSource, at: datetime, bound: datetime) -> datetime:
    """Return the last time of a source's grid before an instant, or `at` itself, by bisection."""
    low, high = 0, max(1, -((at - bound) // SECOND))
    while high - low > 1:
        middle = (low + high) // 2
        found = source.grid.next_after(at + middle * SECOND)
        low, high = (middle, high) if found is not None and found < bound else (low, middle)
    found = source.grid.next_after(at + low * SECOND)
    return found if found is not None and found < bound else at


def instant_of(second: int) -> datetime:
    """Return the instant so many seconds after 1970; outside the calendar, one later than any job's time."""
    return instant_at(second) or LATEST
