"""*Explain*: return the status of each nominal time of a job in a window, for all times within the retention.

It reads the job, its versions and its spans, and rows in pages. `timeline` finds the times,
`occurrence_status` classifies them. Neighbours without rows that share a status are folded into one entry. A
month's pause of a job of every second is thus one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from duetime import ids
from duetime.errors import NotFound
from duetime.jobs.occurrence_status import JobHistory, Occurrence, OccurrenceStatus
from duetime.jobs.timeline import Keyed, timeline
from duetime.model.action import Action, SkipReason
from duetime.model.deadline import DeadlineState, deadline_at, state_at
from duetime.model.deadline_report import ReportKind
from duetime.model.job import Definition, Job, JobRef
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import Page
from duetime.ports.backends import JobTables

EXCUSES = frozenset({SkipReason.PAUSED, SkipReason.DISABLED, SkipReason.RETIRED, SkipReason.REQUESTED})
"""The reasons for which a skipped time is not reported: a person decided it."""

_NO_TIME = frozenset({OccurrenceStatus.CALENDAR, OccurrenceStatus.GAP, OccurrenceStatus.FORGOTTEN})


def with_deadline(
    entry: Occurrence, definition: Definition, now: datetime, at_risk: Collection[datetime] = ()
) -> Occurrence:
    """Return an occurrence with its deadline and the deadline's state.

    Args:
        entry: the occurrence; a fold of several stays as it is.
        definition: the job's present one, which decides.
        now: the present time.
        at_risk: the nominal times that were reported before their deadline.
    """
    is_beside = entry.action_id is not None and ids.is_beside_plan(entry.action_id)
    is_excused = (
        is_beside
        or entry.account in _NO_TIME
        or (entry.account is OccurrenceStatus.SKIPPED and entry.reason in EXCUSES)
    )
    if entry.until is not None or is_excused:
        return entry
    deadline = deadline_at(definition, entry.at, entry.tz)
    if deadline is None:
        return entry
    state = state_at(deadline, entry.executed_at, now)
    if state is DeadlineState.OPEN and entry.at in at_risk:
        state = DeadlineState.AT_RISK
    return replace(entry, deadline_at=deadline, deadline=state.value)


MOST_LOOKS = 50_000
"""The most times examined in one call, however few entries they are folded into."""

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Explanation:
    """Entries in order, and the start of the next call; `next_start` is None at the window's end."""

    entries: tuple[Occurrence, ...]
    next_start: datetime | None = None

    def __iter__(self) -> Iterator[Occurrence]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Explain:
    """Explains the times of one job."""

    def __init__(self, backends: JobTables) -> None:
        self._actions, self._jobs = backends.store, backends.jobs
        self._clock, self._settings = backends.clock, backends.settings

    def __call__(self, ref: JobRef, start: datetime, end: datetime, *, limit: int = 500) -> Explanation:
        """Return the status of each nominal time in (start, end]; for a job without times, of each run.

        Args:
            ref: the job.
            start: an aware instant, excluded.
            end: the last instant, included.
            limit: the most entries; those of one instant stay together.

        Raises:
            NotFound: there is no such job.
        """
        job = self._jobs.get(ref)
        if job is None:
            raise NotFound("job", ref.name)
        known = JobHistory(
            job=job,
            versions=self._jobs.versions(ref),
            spans=self._jobs.spans(ref, start, end),
            backfills=self._jobs.backfills(ref),
            now=self._clock.now(),
            job_grace=self._settings.job_grace,
            retention=self._settings.retention,
        )
        found = explanation(timeline(known, _Stored(self._actions, ref), start, end), limit)
        return self._with_deadlines(job, found, start, end) if job.definition.has_deadline else found

    def _with_deadlines(self, job: Job, found: Explanation, start: datetime, end: datetime) -> Explanation:
        reports = self._jobs.reports(job.ref, ReportKind.AT_RISK, start, end)
        definition, now, at_risk = (
            job.definition,
            self._clock.now(),
            {report.nominal_at for report in reports},
        )
        return replace(
            found, entries=tuple(with_deadline(entry, definition, now, at_risk) for entry in found.entries)
        )


def explanation(found: Iterable[Keyed], limit: int, *, most_looks: int = MOST_LOOKS) -> Explanation:
    """Return the folded occurrences, up to `limit` entries or `most_looks` times."""
    entries: list[Occurrence] = []
    last_key = None
    for looks, (key, occurrence) in enumerate(found):
        is_alike = bool(entries) and key == last_key
        is_full = looks >= most_looks or (len(entries) >= limit and not is_alike)
        if is_full and entries and occurrence.at > entries[-1].ends_at:
            return Explanation(tuple(entries), entries[-1].ends_at)
        if is_alike:
            entries[-1] = _folded(entries[-1], occurrence)
        else:
            entries.append(occurrence)
        last_key = key
    return Explanation(tuple(entries))


def _folded(first: Occurrence, then: Occurrence) -> Occurrence:
    is_counted = first.count is not None and then.count is not None
    count = (first.count or 0) + (then.count or 0) if is_counted else None
    return replace(first, until=then.ends_at, count=count)


class _Stored:
    def __init__(self, actions: ActionStore, ref: JobRef) -> None:
        self._actions, self._ref = actions, ref

    def of_version(self, number: int, after: datetime, until: datetime) -> Iterator[Action]:
        return _paged(
            lambda cursor: self._actions.occurrences(
                self._ref.tenant_id,
                self._ref.name,
                number,
                after=after,
                until=until,
                limit=_PAGE,
                cursor=cursor,
            )
        )

    def of_events(self, after: datetime, until: datetime) -> Iterator[Action]:
        """See `duetime.jobs.timeline.OccurrenceRows`.

        The list is newest first, so it is read back to `after`.
        """
        rows = _paged(
            lambda cursor: self._actions.of_job(
                self._ref.tenant_id, self._ref.name, limit=_PAGE, cursor=cursor, has_events=True
            )
        )
        found = []
        for row in rows:
            at = ids.nominal_at(row.id)
            if at <= after:
                break
            if at <= until and ids.is_event_run(row.id):
                found.append(row)
        return reversed(found)


def _paged(page: Callable[[str | None], Page]) -> Iterator[Action]:
    cursor = None
    while True:
        found = page(cursor)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return
