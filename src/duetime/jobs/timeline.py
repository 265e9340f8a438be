"""The timeline of a job.

Its nominal times in order with their status, and those that calendars and gaps removed. Pure.

A version has times while it was in force. A cadence of every second, paused for a month, has millions with
one status. After `counted` of them in a row the walk jumps to the last one before a change: the next turn of
the history, the next row, or the next time of another source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush, merge
from typing import Protocol

from duetime import ids
from duetime._lazy_property import lazy_property
from duetime.cadence.bounds import moment_text
from duetime.cadence.cadence import Cadence
from duetime.cadence.explain import LocalOccurrence, local_occurrences
from duetime.cadence.options import calendar_text
from duetime.cadence.walk import NOTHING
from duetime.cadence.wall_cadence import WallCadence
from duetime.cadence.words import duration_text
from duetime.cadence.zones import DAY, OffsetPeriod, instant_at, seconds_of, zone
from duetime.declare.timed_cadences import has_times
from duetime.errors import truncate
from duetime.instant import LATEST
from duetime.jobs.occurrence_status import JobHistory, Occurrence, OccurrenceStatus, status_of
from duetime.model.action import Action, SkipReason, Trigger
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Version

MANY = 10_000
"""The most times of one status in a row that are counted; then the walk jumps to the last one."""

Keyed = tuple[Hashable, Occurrence]
"""An occurrence with its key; neighbours with one key may be folded."""

_LEAST = timedelta(microseconds=1)


class OccurrenceRows(Protocol):
    """The rows of a job, read on demand."""

    def of_version(self, number: int, after: datetime, until: datetime) -> Iterator[Action]:
        """Return a version's rows with a nominal time in (after, until], oldest first; also manual runs."""

    def of_events(self, after: datetime, until: datetime) -> Iterator[Action]:
        """Return the runs that events of (after, until] started, oldest first."""


def timeline(
    known: JobHistory, rows: OccurrenceRows, start: datetime, end: datetime, *, counted: int = MANY
) -> Iterator[Keyed]:
    """Return the occurrences in (start, end], in order.

    A version without times, or a self-scheduled one, has its runs; others leave out manual runs. Each run of
    a backfill is an entry of its own, beside that of its nominal time; it may be older than its job.
    """
    planned = _planned(known, rows, start, end, counted=counted)
    backfilled = _backfilled(known, rows, start, end)
    yield from merge(planned, backfilled, key=lambda keyed: keyed[1].at)


def _backfilled(known: JobHistory, rows: OccurrenceRows, start: datetime, end: datetime) -> Iterator[Keyed]:
    numbers = {backfill.version for backfill in known.backfills if backfill.overlaps(start, end + _LEAST)}
    of_versions = [
        _run(row, version, known.job.cadences_of(version.definition))
        for version in known.versions
        if version.number in numbers
        for row in rows.of_version(version.number, start, end)
        if row.trigger is Trigger.BACKFILL
    ]
    yield from sorted(of_versions, key=lambda keyed: keyed[1].at)


def _planned(
    known: JobHistory, rows: OccurrenceRows, start: datetime, end: datetime, *, counted: int
) -> Iterator[Keyed]:
    for version in known.versions:
        cadence_set = known.job.cadences_of(version.definition)
        after, until = max(version.since, start), min(version.until or end, end)
        if version.definition.self_scheduled or not has_times(cadence_set.cadences):
            yield from (
                _run(row, version, cadence_set) for row in _runs(version, cadence_set, rows, start, end)
            )
        elif after < until:
            planned = rows.of_version(version.number, after, until)
            yield from _Walk(known, version, cadence_set, planned, until, counted=counted).after(after)


def _runs(
    version: Version, cadence_set: CadenceSet, rows: OccurrenceRows, start: datetime, end: datetime
) -> Iterator[Action]:
    """Return a version's runs; their ids contain seconds only, so the version's first second is included."""
    planned = rows.of_version(version.number, start, end)
    if not cadence_set.triggers:
        return planned
    since = version.since.replace(microsecond=0) - _LEAST
    until = version.until.replace(microsecond=0) - _LEAST if version.until else end
    events = rows.of_events(max(since, start), min(until, end))
    return merge(planned, events, key=lambda row: ids.nominal_at(row.id))


def _run(row: Action, version: Version, cadence_set: CadenceSet) -> Keyed:
    """Return a row by itself: a run without a nominal time, or one whose cadence no longer has its time."""
    at, verdict = ids.nominal_at(row.id), status_of(row)
    tz = cadence_set.by_name.get(row.cadence or "", cadence_set.cadences[0]).tz
    by = f"triggered by {row.created_by}" if row.trigger is Trigger.MANUAL else ""
    if row.trigger is Trigger.BACKFILL:
        by = f"run by backfill {ids.backfill_of(row.id)} of {row.created_by}"
    return row.id, Occurrence(
        at=at,
        local=local_of(at, tz),
        tz=tz,
        cadences=(row.cadence,) if row.cadence else (),
        version=version.number,
        account=verdict.account,
        reason=str(verdict.reason),
        note="; ".join(filter(None, (by, verdict.note))),
        action_id=row.id,
    )


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
        return not self._calendar.keeps(self.day_of(at))

    def _before_silence(self, at: datetime) -> datetime:
        """Return the end of the days without an excluded time, which need no check."""
        day, span = self.day_of(at), self.span_at(at)
        is_shown_again = (span.end + span.after) // DAY < day
        if is_shown_again or not self._calendar.keeps(day):
            return at
        last = self.day_of(self.until) + 1
        silent = next((index for index in range(day + 1, last + 1) if not self._calendar.keeps(index)), None)
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


class _Walk:
    def __init__(
        self,
        known: JobHistory,
        version: Version,
        cadence_set: CadenceSet,
        rows: Iterator[Action],
        until: datetime,
        *,
        counted: int,
    ) -> None:
        self._known, self._version, self._cadence_set, self._until = known, version, cadence_set, until
        self._counted = counted
        self._turns = sorted([*known.turns(), until + _LEAST])
        self._rows = (row for row in rows if not ids.is_beside_plan(row.id))
        self._row = next(self._rows, None)
        self._last: Hashable = None
        self._alike = 0

    def after(self, start: datetime) -> Iterator[Keyed]:
        """Return the occurrences after an instant."""
        sources = [
            source for cadence in self._cadence_set.cadences for source in sources_of(cadence, self._until)
        ]
        coming = [
            (at, place)
            for place, source in enumerate(sources)
            if (at := source.next_after(start)) is not None
        ]
        heapify(coming)
        while coming:
            at, places = coming[0][0], []
            while coming and coming[0][0] == at:
                places.append(heappop(coming)[1])
            here = [sources[place] for place in places]
            yield from self._strays(at)
            found = list(self._found(at, here))
            yield from found
            following = coming[0][0] if coming else self._until + _LEAST
            if (rest := self._rest(found, here, following)) is not None:
                yield rest
                at = rest[1].ends_at
            for place in places:
                if (later := sources[place].next_after(at)) is not None:
                    heappush(coming, (later, place))
        yield from self._strays(self._until + _LEAST)

    def _found(self, at: datetime, here: Sequence[TimeSource]) -> Iterator[Keyed]:
        """Return the entries at an instant: one, and one more for the times in a gap."""
        gaps = [source for source in here if isinstance(source, DstGap)]
        nominal = [source for source in here if isinstance(source, NominalTimes)]
        excluded = [source for source in here if isinstance(source, CalendarExcluded)]
        if gaps:
            yield self._gap(at, gaps)
        row = self._row_at(at)
        if nominal:
            yield self._nominal(at, nominal, excluded, row)
        elif row is not None:
            yield _run(row, self._version, self._cadence_set)
        elif excluded:
            yield self._excluded(at, excluded)

    def _nominal(
        self,
        at: datetime,
        here: Sequence[TimeSource],
        excluded: Sequence[CalendarExcluded],
        row: Action | None,
    ) -> Keyed:
        names = tuple(source.name for source in here)
        verdict = self._known.status_at(row, at, names)
        noted = [source.note(at) for source in here]
        notes = [
            *(note for note, _ in noted),
            *(f"{source.name} is silent: {source.reason}" for source in excluded),
        ]
        entry = self._entry(at, here, verdict.account, verdict.reason, _joined(verdict.note, *notes))
        if row is not None:
            return row.id, replace(entry, action_id=row.id, executed_at=row.executed_at)
        likeness = tuple(likeness for _, likeness in noted)
        return (self._version.number, verdict, names, likeness, tuple(notes[len(here) :])), entry

    def _excluded(self, at: datetime, here: Sequence[CalendarExcluded]) -> Keyed:
        noted = [source.note(at) for source in here]
        reason = _joined(*(source.reason for source in here))
        entry = self._entry(
            at, here, OccurrenceStatus.CALENDAR, reason, _joined(*(note for note, _ in noted))
        )
        return (self._version.number, reason, entry.cadences, entry.note), entry

    def _gap(self, at: datetime, here: Sequence[DstGap]) -> Keyed:
        note = _joined(*(source.note(at)[0] for source in here))
        entry = self._entry(at, here, OccurrenceStatus.GAP, "", note)
        missing = sum(len(source.missing(at)) for source in here)
        return ("gap", at), replace(entry, local=here[0].gap(at).local, count=missing)

    def _entry(
        self, at: datetime, here: Sequence[TimeSource], account: OccurrenceStatus, reason: str, note: str
    ) -> Occurrence:
        tz = here[0].cadence.tz
        return Occurrence(
            at=at,
            local=local_of(at, tz),
            tz=tz,
            cadences=tuple(source.name for source in here),
            version=self._version.number,
            account=account,
            reason=str(reason),
            note=note,
        )

    def _rest(self, found: Sequence[Keyed], here: Sequence[TimeSource], following: datetime) -> Keyed | None:
        """Return a fold of the later times that share the present status, after too many of them."""
        if len(found) != 1 or found[0][0] != self._last:
            self._last, self._alike = found[-1][0] if found else None, 0
        self._alike += 1
        if self._alike <= self._counted or len(here) != 1:
            return None
        key, entry = found[0]
        turn = self._turns[bisect_left(self._turns, entry.at)]
        row_at = ids.nominal_at(self._row.id) if self._row else following
        last = last_before(here[0], entry.at, min(following, turn, row_at, here[0].turn(entry.at)))
        if last == entry.at:
            return None
        return key, replace(entry, at=last, until=last, count=None)

    def _row_at(self, at: datetime) -> Action | None:
        row = self._row
        if row is None or ids.nominal_at(row.id) != at:
            return None
        self._row = next(self._rows, None)
        return row

    def _strays(self, before: datetime) -> Iterator[Keyed]:
        """Return rows of times that the cadences no longer have, as after a change of a zone's rules."""
        while (row := self._row) is not None and ids.nominal_at(row.id) < before:
            self._row = next(self._rows, None)
            if row.skip_reason is not SkipReason.RETIRED:
                yield _run(row, self._version, self._cadence_set)


def _joined(*words: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, words)))
