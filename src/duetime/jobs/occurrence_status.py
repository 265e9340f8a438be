"""The status of one nominal time of a job, and its reason. Pure; `timeline` finds the times.

==================================  =======================================================================
a nominal time                      is
==================================  =======================================================================
with a row                          the row's status; unless the row was retired, as after a removal,
                                    and a line below applies
with a row that never ran           skipped: paused, disabled, if its claim would be refused so now
past, under a span                  skipped or missed, from the span
under a pause, or after the removal skipped: paused, disabled
to come                             upcoming
up to the cursor, without a row     forgotten: its row was removed
beyond the cursor                   pending within the job's grace, then missed: it was not planned
==================================  =======================================================================

Each cadence's occurrence is classified on its own. A time of several cadences is skipped only if all of them
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from duetime.ids import ActionId
from duetime.model.action import Action, SkipReason, Status
from duetime.model.backfill import Backfill
from duetime.model.job import WHOLE_JOB, Job, JobSpan, SpanKind, Version


class OccurrenceStatus(StrEnum):
    """The status of a nominal time; a row's status has the same word."""

    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    MISSED = "missed"
    """It was not planned or not claimed within its job's grace, and does not run later."""
    PROCESSING = "processing"
    PENDING = "pending"
    UPCOMING = "upcoming"
    """It is in the future, and has no row yet."""
    CALENDAR = "calendar"
    """No nominal time: a calendar excludes it."""
    GAP = "gap"
    """No nominal time: it lies in a gap of the clocks, and its cadence skips those."""
    FORGOTTEN = "forgotten"
    """Its row was removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One nominal time and its status; or a fold of successive ones without rows that share a status.

    Attributes:
        at: the nominal time in UTC; of several the first; in a gap the instant at which the clocks jumped.
        local: the naive local time in the first cadence's zone; in a gap, the skipped local time.
        tz: the zone of the first cadence.
        cadences: which of the job's cadences have it, by name.
        version: of the job's schedule.
        account: what became of it.
        reason: why it was skipped or missed, or which calendar excludes it; else empty.
        note: the author and reason of a pause, or the effect of a clock change; of several, of the first.
        action_id: its run; None where it has no row.
        executed_at: when its run succeeded.
        deadline_at: by when it must have succeeded; None without a deadline, or if it is excused.
        deadline: a `DeadlineState`.
        until: of several: the last of them.
        count: how many they are; None for more than were counted.
    """

    at: datetime
    local: datetime
    tz: str
    cadences: tuple[str, ...]
    version: int
    account: OccurrenceStatus
    reason: str = ""
    note: str = ""
    action_id: ActionId | None = None
    executed_at: datetime | None = None
    deadline_at: datetime | None = None
    deadline: str | None = None
    until: datetime | None = None
    count: int | None = 1

    @property
    def ends_at(self) -> datetime:
        """The last, or only, nominal time."""
        return self.until or self.at


class StatusReason(NamedTuple):
    """A status with its reason and note."""

    account: OccurrenceStatus
    reason: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHistory:
    """A job with its versions, spans and backfills, without its rows."""

    job: Job
    versions: Sequence[Version]
    spans: Sequence[JobSpan]
    now: datetime
    job_grace: timedelta
    retention: timedelta
    backfills: Sequence[Backfill] = ()

    def status_at(self, row: Action | None, at: datetime, cadences: Sequence[str]) -> StatusReason:
        """Return the status of a nominal time of these cadences; `row` is its row, if it has one."""
        if row is None:
            return self._excuse(at, cadences) or self._without_row(at)
        if row.skip_reason is SkipReason.RETIRED and (excuse := self._excuse(at, cadences)):
            return excuse
        if row.status is Status.PENDING and row.attempt == 0 and (refusal := self._refusal(at, cadences)):
            return refusal
        return status_of(row)

    def turns(self) -> Sequence[datetime]:
        """Return the instants between which times without a row have one status."""
        job, found = self.job, [self.now, self.now - self.job_grace, self.now - self.retention]
        found += [job.cursor, *(end for span in self.spans for end in (span.start, span.end))]
        pauses = [part for pause in job.pauses.values() for part in (pause, *pause.parts)]
        found += [edge for pause in pauses for edge in (pause.since, pause.until) if edge]
        return sorted([*found, job.removed_at] if job.removed_at else found)

    @property
    def _planned_until(self) -> datetime:
        """The cursor, or the earliest end of a pause, to which the cursor will return."""
        ends = [pause.until for pause in self.job.pauses.values() if pause.until]
        return min([self.job.cursor, *ends])

    def _without_row(self, at: datetime) -> StatusReason:
        if at > self.now:
            return StatusReason(OccurrenceStatus.UPCOMING)
        if at > self._planned_until:
            if at < self.now - self.job_grace:
                return StatusReason(OccurrenceStatus.MISSED, SkipReason.MISSED, "it was not planned")
            return StatusReason(OccurrenceStatus.PENDING, "", "it is not planned yet")
        if at > self.now - self.retention:
            return StatusReason(
                OccurrenceStatus.FORGOTTEN, "", "it has no row, though it is younger than the retention"
            )
        return StatusReason(OccurrenceStatus.FORGOTTEN, "", "its row was removed after the retention")

    def _excuse(self, at: datetime, cadences: Sequence[str]) -> StatusReason | None:
        """Return why none of these cadences has a row; None if one of them should have.

        A missed one has precedence.
        """
        found = [self._excuse_of(at, cadence) for cadence in cadences]
        excuses = [excuse for excuse in found if excuse is not None]
        if len(excuses) < len(found):
            return None
        return max(excuses, key=lambda excuse: excuse.account is OccurrenceStatus.MISSED, default=None)

    def _refusal(self, at: datetime, cadences: Sequence[str]) -> StatusReason | None:
        """Return why a planned row of these cadences will not run now; None if one cadence lets it run."""
        found = [self._current(at, cadence, is_planned=True) for cadence in cadences]
        return found[0] if found and all(found) else None

    def _excuse_of(self, at: datetime, cadence: str) -> StatusReason | None:
        """Return why one cadence has no row; an operator's decision has precedence over a miss."""
        is_past = at <= self.now
        covering = [span for span in self.spans if is_past and _covers(span, at, cadence)]
        span = min(covering, key=lambda span: span.kind is SpanKind.MISSED, default=None)
        if span is not None and span.kind is not SpanKind.MISSED:
            return _skipped(SkipReason(span.kind), span.by, span.reason)
        if current := self._current(at, cadence):
            return current
        if span is not None:
            return StatusReason(
                OccurrenceStatus.MISSED, SkipReason.MISSED, span.reason or "it was not planned in time"
            )
        return None

    def _current(self, at: datetime, cadence: str, *, is_planned: bool = False) -> StatusReason | None:
        """Return the pause or removal that applies to a cadence's time.

        A planned row may run after a pause.
        """
        job = self.job
        for pause in (job.pauses[name] for name in (WHOLE_JOB, cadence) if name in job.pauses):
            is_under = pause.since < at and (pause.until is None or at <= pause.until)
            if is_under and not (is_planned and pause.is_over(self.now)):
                return _skipped(SkipReason.PAUSED, pause.at(at).by, pause.at(at).reason)
        if job.removed_at is not None and job.removed_at < at:
            return StatusReason(
                OccurrenceStatus.SKIPPED, SkipReason.DISABLED, f"{job.name} is no longer declared"
            )
        return None


def status_of(row: Action) -> StatusReason:
    """Return the status of a row."""
    is_missed = row.skip_reason is SkipReason.MISSED
    account = OccurrenceStatus.MISSED if is_missed else OccurrenceStatus(row.status.value)
    waits = f"it waits for {row.waits_for}" if row.waits_for_run else ""
    notes = [row.note, row.failure_reason, _made_up(row), waits]
    if row.cancelled_by:
        notes.append(f"cancelled by {row.cancelled_by}")
    return StatusReason(account, row.skip_reason or "", "; ".join(filter(None, notes)))


def _made_up(row: Action) -> str:
    if row.planned is None or not row.planned.catches_up:
        return ""
    if row.attempts:
        return f"missed at first; it ran later, at {row.attempts[0].started_at:%Y-%m-%dT%H:%M:%SZ}"
    return "missed at first; it runs later" if not row.status.is_final else "missed at first"


def _covers(span: JobSpan, at: datetime, cadence: str) -> bool:
    return span.start < at <= span.end and span.cadence in {WHOLE_JOB, cadence}


def _skipped(reason: SkipReason, by: str, why: str) -> StatusReason:
    note = f"{reason} by {by}" if by else str(reason)
    return StatusReason(OccurrenceStatus.SKIPPED, reason, f"{note}: {why}" if why else note)
