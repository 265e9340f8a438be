"""The timeline of a job.

Its nominal times in order with their status, and those that calendars and gaps removed. Pure.

A version has times while it was in force. A cadence of every second, paused for a month, has millions with
one status. After `counted` of them in a row the walk jumps to the last one before a change: the next turn of
the history, the next row, or the next time of another source.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush, merge
from typing import Protocol

from duetime import ids
from duetime.declare.timed_cadences import has_times
from duetime.jobs.job_times import (
    CalendarExcluded,
    DstGap,
    NominalTimes,
    TimeSource,
    last_before,
    local_of,
    sources_of,
)
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
