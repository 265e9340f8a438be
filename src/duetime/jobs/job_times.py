"""Where times come from: those that a cadence has, and those that a calendar or a change of the clocks took. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from duetime.cadence.cadence import Cadence, WallCadence
from duetime.cadence.explain import Explained, explained
from duetime.cadence.options import calendar_text
from duetime.cadence.walk import NOTHING
from duetime.cadence.zones import DAY, OffsetPeriod, seconds_of
from duetime.errors import truncate
from duetime.jobs.time_source import SECOND, TimeSource, instant_of

_SATURDAY = 5
_LONGEST_MOVE = 366
"""Days that a calendar moves something at most; see `duetime.cadence.calendars`."""


class NominalTimes(TimeSource):
    """The times that a cadence has."""

    def next_after(self, at: datetime) -> datetime | None:
        """See `Source`."""
        found = self.cadence.next_after(at)
        return None if found is None or found > self.until else found

    def told(self, at: datetime) -> tuple[str, Hashable]:
        """What a change of the clocks did to it, and whether its calendar moved it here."""
        mark = self._mark(at)
        words = ["moved here by its calendar"] if self._was_moved(at) else []
        if mark is None or not mark.words:
            return "".join(words), tuple(words)
        return "; ".join([mark.words, *words]), (mark.mark, mark.offset, *words)

    def turn(self, at: datetime) -> datetime:
        """See `Source`."""
        span, turns = self.span_at(at), [self.until]
        if isinstance(self.cadence, WallCadence):
            after_change, before_change = _reach(span)
            edges = (span.start, span.start + after_change, span.end - before_change, span.end)
            turns += [each for each in map(instant_of, edges) if each >= at]
        if self._moving is not None:
            turns.append(self.begin_of(self.day_of(at) + 1))
        return max(at, min(turns))

    def _mark(self, at: datetime) -> Explained | None:
        """What the clocks did; only near a change of them is it asked."""
        if not isinstance(self.cadence, WallCadence):
            return None
        span, second = self.span_at(at), seconds_of(at)
        after_change, before_change = _reach(span)
        if second - span.start > after_change and span.end - second > before_change:
            return None
        return next((each for each in explained(self.cadence, at - SECOND, at) if each.at == at), None)

    @cached_property
    def _moving(self) -> Cadence | None:
        """The cadence without its calendar, if that moves times."""
        calendar = self.cadence.scope.calendar
        return without_calendar(self.cadence) if calendar is not None and calendar.moves else None

    def _was_moved(self, at: datetime) -> bool:
        return self._moving is not None and self._moving.next_after(at - SECOND) != at


class CalendarExcluded(TimeSource):
    """The times that a cadence would have without its calendar, and does not have with it."""

    def __init__(self, cadence: Cadence, until: datetime) -> None:
        super().__init__(cadence, until)
        if cadence.scope.calendar is None:
            raise ValueError(f"{cadence.name} has no calendar")
        self._calendar = cadence.scope.calendar
        self._plain = without_calendar(cadence)

    @property
    def grid(self) -> Cadence:
        """The cadence without its calendar: a time that it keeps is one of another source, and ends every jump."""
        return self._plain

    @property
    def reason(self) -> str:
        """The calendar, in short."""
        return truncate(f"calendar {self._calendar.name or calendar_text(self._calendar)}", 200)

    def next_after(self, at: datetime) -> datetime | None:
        """See `Source`."""
        while (found := self._plain.next_after(at)) is not None and found <= self.until:
            if self._is_silent(found):
                return found
            at = max(found, self._before_silence(found))
        return None

    def told(self, at: datetime) -> tuple[str, Hashable]:
        """Where its calendar moved it, if it moves what it silences."""
        if not self._calendar.moves:
            return "", ()
        day = self.day_of(at)
        for later in range(day + 1, day + 1 + _LONGEST_MOVE):
            date = instant_of(later * DAY).date()
            if date.weekday() < _SATURDAY and self._calendar.leaves(later):
                return f"moved to {date}", later
        return "no business day to move it to within a year", ()

    def turn(self, at: datetime) -> datetime:
        """See `Source`."""
        if not self._calendar.moves:
            return self.until
        return max(at, min(self.until, self.begin_of(self.day_of(at) + 1)))

    def _is_silent(self, at: datetime) -> bool:
        """By its local date; what a gap moved across midnight had another one, and is compared."""
        span = self.span_at(at)
        if span.start == seconds_of(at) and span.before < span.offset:
            return self.cadence.next_after(at - SECOND) != at
        return not self._calendar.leaves(self.day_of(at))

    def _before_silence(self, at: datetime) -> datetime:
        """Up to when nothing is silenced after a time that is not: the days until the next silent one need no look."""
        day, span = self.day_of(at), self.span_at(at)
        is_shown_again = (span.end + span.after) // DAY < day
        if is_shown_again or not self._calendar.leaves(day):
            return at
        last = self.day_of(self.until) + 1
        silent = next((index for index in range(day + 1, last + 1) if not self._calendar.leaves(index)), None)
        return self.until if silent is None else self.begin_of(silent) - SECOND


class DstGap(TimeSource):
    """Gaps whose times a cadence's clock rule skips."""

    def __init__(self, cadence: WallCadence, until: datetime) -> None:
        super().__init__(cadence, until)
        self._wall, self._longest_moved = cadence.wall, max(0, cadence.clock.moves_up_to)

    def next_after(self, at: datetime) -> datetime | None:
        """See `Source`."""
        span, last = self.span_at(at), seconds_of(self.until)
        while span.end <= last:
            if span.after - span.offset > self._longest_moved and self.missing(instant_of(span.end)):
                return instant_of(span.end)
            span = self.zone.span(span.end)
        return None

    def told(self, at: datetime) -> tuple[str, Hashable]:
        """What the clocks jumped over."""
        return self.gap(at).words, at

    def turn(self, at: datetime) -> datetime:
        """See `Source`."""
        return at

    def gap(self, at: datetime) -> Explained:
        """The gap at the instant when the clocks jumped."""
        return next(each for each in explained(self.cadence, at - SECOND, at) if each.mark == "skipped")

    def missing(self, at: datetime) -> Sequence[int]:
        """The local times, in seconds since 1970, that the cadence would have had in the gap."""
        span = self.span_at(at)
        found, local = [], self._wall.first_from(span.start + span.before)
        while NOTHING < local < span.start + span.offset:
            found.append(local)
            local = self._wall.first_from(local + 1)
        return found


def sources_of(cadence: Cadence, until: datetime) -> Iterator[TimeSource]:
    """All that tells of a cadence's times up to an instant."""
    yield NominalTimes(cadence, until)
    if cadence.scope.calendar is not None:
        yield CalendarExcluded(cadence, until)
    if isinstance(cadence, WallCadence):
        yield DstGap(cadence, until)


def without_calendar(cadence: Cadence) -> Cadence:
    """The cadence as it would be if its calendar let everything through."""
    return replace(cadence, scope=replace(cadence.scope, calendar=None))


def _reach(span: OffsetPeriod) -> tuple[int, int]:
    """For how many seconds the change before a span, and the one after it, may mark times in it."""
    return abs(span.before - span.offset), abs(span.after - span.offset)
