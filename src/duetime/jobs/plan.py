"""*Plan*: write a job's next occurrences as rows, and advance its cursor.

Any caller may plan at any time, also several at once: a wake, a claim, a resume, a reconcile, the sweep, the
catch-up. An occurrence's id consists of job, version and nominal time, so a second planner finds the same
row. The cursor advances by compare-and-set, so a second planner stops::

    ────────────┬──────────────────┬─────────┬───────────────┬──────────> nominal times
              cursor         now - grace    now          the horizon
                 └── missed ───────┴──── put as rows ────────┘

Rows are written before the cursor: after a crash in between, the next planner finds them. The horizon is the
second wake from now, so that one wake may be lost; the next occurrence is planned however far off it is. The
cadence alone determines an occurrence, never the time at which a run took place.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from duetime import ids, instant
from duetime.ids import PLANNER
from duetime.jobs.trusted_reading import KnownPauses, KnownRegion
from duetime.model.action import Action
from duetime.model.cadence_set import DueTime
from duetime.model.job import Job, JobRef, JobSpan, SpanKind
from duetime.model.metric import Metric
from duetime.model.row_parts import RunPlan
from duetime.ports.backends import JobTables
from duetime.ports.meter import UNMETERED, Meter, Subject

log = logging.getLogger(__name__)

WAKES_AHEAD = 2
"""A wake plans for itself and for the one after it."""

CATCH_UP_SPREAD = timedelta(seconds=5)
"""The time between the runs of two missed occurrences of one job."""

LEAD = timedelta(minutes=1)
"""A job whose next unplanned occurrence is nearer than this has lost two wakes."""

_CHUNK = 100
_MOST_CHUNKS = 100
_SECOND = timedelta(seconds=1)
_UNWATCHED = timedelta(minutes=2)
"""An operator's call plans without checks; the next sweep puts them, of recent deadlines too."""

_LONGEST_WALL = timedelta(hours=50)
"""Longer than the time to the next day's wall time, whatever the clocks do."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The result of one call.

    Attributes:
        made: rows written, including those that another planner has written before.
        missed: whether missed nominal times were recorded.
    """

    made: int = 0
    missed: bool = False

    def plus(self, other: Planned) -> Planned:
        """Return the sum of both."""
        return Planned(self.made + other.made, self.missed or other.missed)


class Plan:
    """Plans one job at a time."""

    def __init__(
        self,
        backends: JobTables,
        *,
        meter: Meter = UNMETERED,
        pauses: KnownPauses | None = None,
        region: KnownRegion | None = None,
        watches: bool = True,
    ) -> None:
        """Make it; without `watches`, it leaves the checks of deadlines to the job's next maintenance."""
        self._actions, self._jobs, self._pauses, self._region = backends.store, backends.jobs, pauses, region
        self._clock, self._settings = backends.clock, backends.settings
        self._meter, self._watches = meter, watches

    def __call__(self, ref: JobRef) -> Planned:
        """Plan all occurrences up to the second next wake, and at least the next one.

        A paused, removed or unknown job is ignored; so is every job of a paused tenant, and every job while
        the global switch is off, and in a region that is not active.

        Raises:
            BackendUnavailable: some occurrences are not planned; call again.
        """
        done = Planned()
        job = self._jobs.get(ref) if self._may_plan(ref) else None
        for _ in range(_MOST_CHUNKS):
            if job is None or not job.is_live or job.definition.self_scheduled:
                break
            now = self._clock.now()
            step = self._missed(job, now) or self._next(job, now)
            if step is None or not self._write(job, step):
                break
            done = done.plus(Planned(len(step.rows), bool(step.missed)))
            job = replace(job, cursor=step.cursor, maintain_at=step.maintain_at)
        if job is not None and job.wakes.is_stale:
            self._watch(job)
        return done

    def _watch(self, job: Job) -> None:
        """Put the checks of a job that has changed: its planned times may have other deadlines now."""
        definition, now = job.definition, self._clock.now()
        if not self._watches or not job.is_live or definition.self_scheduled:
            return
        if definition.has_deadline:
            longest = _LONGEST_WALL if definition.within is None else timedelta(seconds=definition.within)
            planned = job.cadence_set.between(max(job.since, now - longest - _UNWATCHED), job.cursor)
            for check in self._checks(job, planned, after=now - _UNWATCHED):
                self._actions.put(check)
        if definition.every_success_within is not None:
            from duetime.model.deadline import check_row  # noqa: PLC0415 - few jobs need it

            due_at = now.replace(microsecond=0)
            self._actions.put(check_row(job, due_at, len(self._actions.due_shards), nominal_at=None))

    def _checks(
        self, job: Job, dues: Iterable[DueTime], *, after: datetime = instant.EARLIEST
    ) -> list[Action]:
        """Return the checks of the deadlines after an instant."""
        if not self._watches or not job.definition.has_deadline:
            return []
        from duetime.model.deadline import check_row, deadline_of, first_look  # noqa: PLC0415 - as above

        cadences, shards = job.cadence_set, len(self._actions.due_shards)
        return [
            check_row(job, first_look(due.at, deadline), shards, nominal_at=due.at, deadline=deadline)
            for due in dues
            if _cadence_of(job, due)
            and (deadline := deadline_of(job, due, cadences)) is not None
            and deadline > after
        ]

    def _may_plan(self, ref: JobRef) -> bool:
        is_paused = self._pauses is not None and self._pauses.of_tenant(ref.tenant_id) is not None
        is_active = self._region is None or self._region.is_active()
        return self._settings.enabled and is_active and not is_paused

    def ahead(self, job: Job, due: DueTime) -> Action:
        """Write the row of one nominal time beyond the cursor, and leave the cursor.

        A later planner finds the row.
        """
        now = self._clock.now()
        row = replace(self._row(job, due, now), planned=RunPlan(now, due.cadences[0]))
        self._actions.put(row)
        return row

    def _write(self, job: Job, step: _Step) -> bool:
        for row in (*step.rows, *step.checks):
            self._actions.put(row)
        is_advanced = self._jobs.move_cursor(job, step.cursor, step.maintain_at, missed=step.missed)
        for span in step.missed if is_advanced else ():
            self._meter.add(Metric.MISSED, of=Subject(job.definition.type, job.ref.tenant_id))
            log.warning(
                Metric.MISSED.value,
                extra={
                    "tenant": job.ref.tenant_id,
                    "type": job.definition.type,
                    "job": job.name,
                    "since": instant.text(span.start),
                    "until": instant.text(span.end),
                    "made_up": len(step.rows),
                },
            )
        return is_advanced

    def _missed(self, job: Job, now: datetime) -> _Step | None:
        """Return the span of missed nominal times, and the rows of those that the job catches up."""
        until = (now - self._settings.job_grace).replace(microsecond=0)
        first = job.cadence_set.next_after(job.cursor)
        if first is None or first > until:
            return None
        most = job.definition.catch_up
        span = JobSpan(kind=SpanKind.MISSED, start=job.cursor, end=until, by=PLANNER, catch_up=most)
        rows = tuple(
            self._row(job, due, now, catches_up=True, due_at=now + CATCH_UP_SPREAD * index)
            for index, due in enumerate(_latest(job, until))
        )
        missed = job.cadence_set.between(job.cursor, until) if job.definition.has_deadline else ()
        checks = self._checks(job, deque(missed, _CHUNK))
        return _Step(rows, until, maintain_at_of(job, until), (span,), checks)

    def _next(self, job: Job, now: datetime) -> _Step | None:
        """Return the next rows, at most 100; None when enough is planned."""
        following = job.cadence_set.next_after(now)
        horizon = job.cadence_set.planned_until(now, WAKES_AHEAD)
        if horizon is None:
            until = following or job.cadence_set.next_after(job.cursor) or job.cursor
        else:
            until = max(horizon, following or horizon)
        dues = tuple(islice(job.cadence_set.between(job.cursor, until), _CHUNK))
        if not dues:
            return None
        rows = tuple(self._row(job, due, now) for due in dues if _cadence_of(job, due))
        return _Step(rows, dues[-1].at, maintain_at_of(job, dues[-1].at), checks=self._checks(job, dues))

    def _row(
        self,
        job: Job,
        due: DueTime,
        now: datetime,
        *,
        catches_up: bool = False,
        due_at: datetime | None = None,
    ) -> Action:
        action_id = ids.occurrence_id(job.name, job.version, due.at)
        return Action(
            tenant_id=job.ref.tenant_id,
            id=action_id,
            type=job.definition.type,
            due_at=due_at or due.at,
            first_due_at=due.at if due_at else None,
            due_shard=ids.due_shard_of(action_id, len(self._actions.due_shards)),
            created_by=PLANNER,
            payload=job.definition.payload,
            payload_version=job.definition.payload_version,
            planned=RunPlan(now, _cadence_of(job, due), catches_up),
        )


@dataclass(frozen=True, slots=True)
class _Step:
    rows: tuple[Action, ...]
    cursor: datetime
    maintain_at: datetime
    missed: tuple[JobSpan, ...] = ()
    checks: Sequence[Action] = ()


def is_behind(job: Job, now: datetime) -> bool:
    """Return whether the job needs maintenance: it has changed, lost two wakes, or was not maintained."""
    return job.maintain_at <= now + LEAD or job.maintain_failures > 0


def maintain_at_of(job: Job, cursor: datetime) -> datetime:
    """Return when the job needs maintenance: at the end of a pause, or at its next unplanned occurrence.

    While its wakes are stale, that time is its present `maintain_at`.
    """
    if job.wakes.is_stale:
        return job.maintain_at
    ends = [pause.until for pause in job.pauses.values() if pause.until is not None]
    is_planned = job.is_live and not job.definition.self_scheduled
    following = job.cadence_set.next_after(cursor) if is_planned else None
    return min([*ends, following or instant.LATEST])


def _cadence_of(job: Job, due: DueTime) -> str | None:
    """Return the cadence of a nominal time's run: the first one that was not paused before it."""
    paused = {name for name, pause in job.pauses.items() if due.at > pause.since}
    return next((cadence for cadence in due.cadences if cadence not in paused), None)


def _latest(job: Job, until: datetime) -> tuple[DueTime, ...]:
    most, span = job.definition.catch_up, _SECOND
    while True:
        start = max(job.cursor, until - span)
        found = deque((due for due in job.cadence_set.between(start, until) if _cadence_of(job, due)), most)
        if len(found) == most or start == job.cursor:
            return tuple(found)
        span *= 4
