"""The account of one nominal time of a job: what became of it, or why nothing did. Pure; `timeline` finds the times.

==================================  =======================================================================
a nominal time                      is
==================================  =======================================================================
with a row                          what the row says, whatever anything else says; unless it was retired,
                                    as rows are after a drop, and something else explains it
with a row that never ran           skipped: paused, disabled, where that is what its claim would come to now
past, under a span                  skipped or missed, as the span says
under a pause, or after the drop    skipped: paused, disabled
to come                             upcoming
up to the cursor, without a row     forgotten: it had a row, which is removed by now
beyond the cursor                   pending within the job's grace, then missed: nobody has planned it
==================================  =======================================================================

Of a time that several cadences have each is excused for itself; the time is, if all of them are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from duetime.ids import ActionId
from duetime.model.action import Action, SkipReason, Status
from duetime.model.job import WHOLE_JOB, Job, JobSpan, SpanKind, Version


class OccurrenceStatus(StrEnum):
    """What became of a nominal time; where a row has it, its status in the same word."""

    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    MISSED = "missed"
    """Nobody planned it, or nobody could claim it, within its job's grace; and it is not made up for."""
    PROCESSING = "processing"
    PENDING = "pending"
    UPCOMING = "upcoming"
    """It lies ahead, and has no row yet."""
    CALENDAR = "calendar"
    """No nominal time: a calendar silences it."""
    GAP = "gap"
    """No nominal time: the clocks jumped over it, and its cadence's rule is to skip what they jump over."""
    FORGOTTEN = "forgotten"
    """It had a row, which is no longer kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One nominal time and its account; or a fold of several without rows, one after the other, that share it."""

    at: datetime
    """The nominal time in UTC, of a fold its first; of what a gap swallowed the instant at which the clocks jumped."""
    local: datetime
    """What the wall clock of the first cadence's zone shows then, naive; in a gap, what it would have shown."""
    tz: str
    cadences: tuple[str, ...]
    version: int
    account: OccurrenceStatus
    reason: str = ""
    """Why it was skipped or missed, as `SkipReason` says it; or which calendar silences it."""
    note: str = ""
    """More on that: who paused it and why, what a change of the clocks did; of a fold, as of its first."""
    action_id: ActionId | None = None
    """Its row's."""
    until: datetime | None = None
    """Of a fold: its last nominal time."""
    count: int | None = 1
    """How many nominal times it stands for; None for more than were counted."""

    @property
    def ends_at(self) -> datetime:
        """Its last, or only, nominal time."""
        return self.until or self.at


class ExplainedStatus(NamedTuple):
    """An account, and the words on it."""

    account: OccurrenceStatus
    reason: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHistory:
    """What is known of a job beside its rows."""

    job: Job
    versions: Sequence[Version]
    spans: Sequence[JobSpan]
    now: datetime
    job_grace: timedelta
    retention: timedelta

    def of(self, row: Action | None, at: datetime, cadences: Sequence[str]) -> ExplainedStatus:
        """The account of a nominal time of these cadences, whose row is `row`, if it has one."""
        if row is None:
            return self._excuse(at, cadences) or self._without_row(at)
        if row.skip_reason is SkipReason.RETIRED and (excuse := self._excuse(at, cadences)):
            return excuse
        if row.status is Status.PENDING and row.attempt == 0 and (refusal := self._refusal(at, cadences)):
            return refusal
        return verdict_of(row)

    def turns(self) -> Sequence[datetime]:
        """The instants between which times without a row have one account."""
        job, found = self.job, [self.now, self.now - self.job_grace, self.now - self.retention]
        found += [job.cursor, *(end for span in self.spans for end in (span.start, span.end))]
        found += [each for pause in job.pauses.values() for each in (pause.since, pause.until) if each]
        return sorted([*found, job.removed_at] if job.removed_at else found)

    @property
    def _planned_until(self) -> datetime:
        """The cursor; it goes back to the end of a pause once somebody ends that."""
        ends = [pause.until for pause in self.job.pauses.values() if pause.until]
        return min([self.job.cursor, *ends])

    def _without_row(self, at: datetime) -> ExplainedStatus:
        if at > self.now:
            return ExplainedStatus(OccurrenceStatus.UPCOMING)
        if at > self._planned_until:
            if at < self.now - self.job_grace:
                return ExplainedStatus(OccurrenceStatus.MISSED, SkipReason.MISSED, "nobody has planned it")
            return ExplainedStatus(OccurrenceStatus.PENDING, "", "it is not planned yet")
        if at > self.now - self.retention:
            return ExplainedStatus(
                OccurrenceStatus.FORGOTTEN, "", "it has no row, though it is younger than the retention"
            )
        return ExplainedStatus(OccurrenceStatus.FORGOTTEN, "", "its row was removed after the retention")

    def _excuse(self, at: datetime, cadences: Sequence[str]) -> ExplainedStatus | None:
        """Why none of these cadences made a row; None if one of them should have. That one was missed counts most."""
        found = [self._excuse_of(at, cadence) for cadence in cadences]
        excuses = [each for each in found if each is not None]
        if not found or len(excuses) < len(found):
            return None
        return max(excuses, key=lambda excuse: excuse.account is OccurrenceStatus.MISSED)

    def _refusal(self, at: datetime, cadences: Sequence[str]) -> ExplainedStatus | None:
        """Why what is planned for these cadences will not run, as things stand; None if one of them has it run."""
        found = [self._standing(at, cadence, is_planned=True) for cadence in cadences]
        return found[0] if found and all(found) else None

    def _excuse_of(self, at: datetime, cadence: str) -> ExplainedStatus | None:
        """Why one cadence made no row; that somebody wanted it so counts more than that nobody planned."""
        is_past = at <= self.now
        covering = [span for span in self.spans if is_past and _covers(span, at, cadence)]
        span = min(covering, key=lambda each: each.kind is SpanKind.MISSED, default=None)
        if span is not None and span.kind is not SpanKind.MISSED:
            return _skipped(SkipReason(span.kind), span.by, span.reason)
        if standing := self._standing(at, cadence):
            return standing
        if span is not None:
            return ExplainedStatus(
                OccurrenceStatus.MISSED, SkipReason.MISSED, span.reason or "nobody planned it in time"
            )
        return None

    def _standing(self, at: datetime, cadence: str, *, is_planned: bool = False) -> ExplainedStatus | None:
        """The pause or the drop that one cadence's time falls under; what is planned may run once a pause is over."""
        job = self.job
        for pause in (job.pauses[name] for name in (WHOLE_JOB, cadence) if name in job.pauses):
            is_under = pause.since < at and (pause.until is None or at <= pause.until)
            if is_under and not (is_planned and pause.is_over(self.now)):
                return _skipped(SkipReason.PAUSED, pause.by, pause.reason)
        if job.removed_at is not None and job.removed_at < at:
            return ExplainedStatus(
                OccurrenceStatus.SKIPPED, SkipReason.DISABLED, f"{job.name} is no longer declared"
            )
        return None


def verdict_of(row: Action) -> ExplainedStatus:
    """What a row says for itself."""
    is_missed = row.skip_reason is SkipReason.MISSED
    account = OccurrenceStatus.MISSED if is_missed else OccurrenceStatus(row.status.value)
    notes = [row.note, row.failure_reason, _made_up(row)]
    if row.cancelled_by:
        notes.append(f"cancelled by {row.cancelled_by}")
    return ExplainedStatus(account, row.skip_reason or "", "; ".join(filter(None, notes)))


def _made_up(row: Action) -> str:
    if not row.catches_up:
        return ""
    if row.attempts:
        return f"missed at first, and made up for: it ran at {_second(row.attempts[0].started_at)}"
    return "missed at first; it is made up for" if not row.status.is_final else "missed at first"


def _covers(span: JobSpan, at: datetime, cadence: str) -> bool:
    return span.start < at <= span.end and span.cadence in {WHOLE_JOB, cadence}


def _skipped(reason: SkipReason, by: str, why: str) -> ExplainedStatus:
    note = f"{reason} by {by}" if by else str(reason)
    return ExplainedStatus(OccurrenceStatus.SKIPPED, reason, f"{note}: {why}" if why else note)


def _second(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
