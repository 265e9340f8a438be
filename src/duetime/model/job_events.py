"""Lifecycle events of jobs: of a change of a job or a backfill, and of missed times. Facts only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.model.backfill import Backfill, BackfillState
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import Job, JobRef, JobSpan, SpanKind
from duetime.model.lifecycle import EventName, LifecycleEvent


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job before and after a write; None stands for no job."""

    old: Job | None
    new: Job
    is_redefined: bool = False
    """Its definition has changed; a change of retries or titles makes no new version."""

    @property
    def may_have_event(self) -> bool:
        """Whether it may have an event; most writes change only a cursor or a lock."""
        old, new = self.old, self.new
        return (
            old is None
            or self.is_redefined
            or any(
                getattr(old, name) != getattr(new, name)
                for name in ("version", "pauses", "tuning", "removed_at")
            )
            or old.tally.consecutive_failures != new.tally.consecutive_failures
        )


@dataclass(frozen=True, slots=True)
class SpanKept:
    """A recorded span of a job's time without rows."""

    ref: JobRef
    span: JobSpan


@dataclass(frozen=True, slots=True)
class ReportKept:
    """A recorded report of a deadline, a silence or a recount."""

    ref: JobRef
    report: DeadlineReport


@dataclass(frozen=True, slots=True)
class BackfillChange:
    """A backfill before and after a write; None stands for no backfill."""

    old: Backfill | None
    new: Backfill


_OF_REPORTS = {
    ReportKind.MISSED: EventName.DEADLINE_MISSED,
    ReportKind.AT_RISK: EventName.DEADLINE_AT_RISK,
    ReportKind.SILENT: EventName.SILENT,
    ReportKind.UNACCOUNTED: EventName.UNACCOUNTED,
}


def of_report(recorded: ReportKept) -> Iterator[LifecycleEvent]:
    """Yield the event of a report: one for each nominal time, or silence, and kind."""
    report = recorded.report
    begin = instant.text(report.nominal_at)
    deadlines = {
        "deadline_at": instant.text(report.deadline_at),
        "expected_at": instant.text(report.expected_at) if report.expected_at else None,
    }
    fields: dict[str, Any] = {"nominal_at": begin, "run_id": report.run_id}
    match report.kind:
        case ReportKind.SILENT:
            fields = {"silent_since": begin, **deadlines}
        case ReportKind.UNACCOUNTED:
            fields |= {"problem": report.status}
        case _:
            fields |= {"status": report.status, **deadlines}
    yield LifecycleEvent(
        subject="job",
        word=_OF_REPORTS[report.kind],
        number=begin,
        at=report.at,
        tenant_id=recorded.ref.tenant_id,
        name=recorded.ref.name,
        about={"name": recorded.ref.name, **fields, "reason": report.reason or None},
    )


_OF_STATES = {
    BackfillState.PAUSED: EventName.BACKFILL_PAUSED,
    BackfillState.RUNNING: EventName.BACKFILL_RESUMED,
    BackfillState.CANCELLED: EventName.BACKFILL_CANCELLED,
}
_COUNTS = ("total", "executed", "failed", "skipped", "cancelled", "left_out")


def of_backfill(change: BackfillChange) -> Iterator[LifecycleEvent]:
    """Yield the events of a backfill: its start, each change by an operator, and its end once."""
    old, new = change.old, change.new
    if old is None:
        yield _of_backfill(new, EventName.BACKFILL_STARTED, new.begun_at, by=new.begun_by)
    elif old.state is not new.state and new.state in _OF_STATES and new.changed_at is not None:
        yield _of_backfill(new, _OF_STATES[new.state], new.changed_at, by=new.changed_by)
    if new.ended_at is not None and (old is None or old.ended_at is None):
        yield _of_backfill(new, EventName.BACKFILL_ENDED, new.ended_at)


def _of_backfill(
    backfill: Backfill, word: EventName, at: datetime, *, by: str | None = None
) -> LifecycleEvent:
    return LifecycleEvent(
        subject="job",
        word=word,
        number=f"{backfill.id}.r{backfill.revision}",
        at=at,
        tenant_id=backfill.ref.tenant_id,
        name=backfill.ref.job.name,
        by=by,
        about={
            "name": backfill.ref.job.name,
            "backfill_id": backfill.id,
            "state": backfill.state.value,
            "from": instant.text(backfill.start),
            "until": instant.text(backfill.until),
            **{name: getattr(backfill, name) for name in _COUNTS},
        },
    )


def of_job(change: JobChange, at: datetime) -> Iterator[LifecycleEvent]:
    """Return the events of a change. Both sides need the definition in force.

    Args:
        change: the job before and after.
        at: when it was written.
    """
    old, new = change.old, change.new
    number = f"r{new.revision}"
    if old is None or (old.removed_at and not new.removed_at):
        yield _of_job(new, EventName.REGISTERED, number, at, by=new.registered_by or None)
    elif new.removed_at and not old.removed_at:
        yield _of_job(new, EventName.DROPPED, number, new.removed_at)
    elif new.version != old.version or change.is_redefined:
        yield _of_job(new, EventName.CHANGED, number, at, by=new.registered_by or None)
    if old is not None:
        yield from _pauses(old, new, number, at)
        if old.tuning != new.tuning:
            yield _of_job(new, EventName.TUNED, number, at)
        yield from _streak(old, new, at)


def _pauses(old: Job, new: Job, number: str, at: datetime) -> Iterator[LifecycleEvent]:
    for cadence, pause in new.pauses.items():
        if old.pauses.get(cadence) != pause:
            begun = pause.parts[-1] if pause.parts else pause
            fields = {"cadence": cadence or None, "reason": begun.reason or None}
            until = instant.text(begun.until) if begun.until else None
            yield _of_job(
                new, EventName.PAUSED, _with(number, cadence), at, by=begun.by, **fields, until=until
            )
    for cadence in old.pauses.keys() - new.pauses.keys():
        yield _of_job(new, EventName.RESUMED, _with(number, cadence), at, cadence=cadence or None)


def _streak(old: Job, new: Job, at: datetime) -> Iterator[LifecycleEvent]:
    """Return an event when failures in a row reach the threshold, and when a run then succeeds."""
    threshold = new.definition.failure_threshold
    number = f"{new.tally.last_id or ''}.{new.tally.failed}"  # a run that is redriven may end two streaks
    before, after = old.tally.consecutive_failures, new.tally.consecutive_failures
    if before < threshold <= after:
        yield _of_job(new, EventName.FAILING, number, at)
    elif after == 0 and before >= threshold:
        yield _of_job(new, EventName.SUCCEEDING, number, at)


def of_span(recorded: SpanKept) -> Iterator[LifecycleEvent]:
    """Return the event of a missed span; a pause has events at its begin and end."""
    span = recorded.span
    if span.kind is SpanKind.MISSED:
        start, end = instant.text(span.start), instant.text(span.end)
        yield LifecycleEvent(
            subject="job",
            word=EventName.MISSED,
            number=f"{start}_{end}",
            at=span.end,
            tenant_id=recorded.ref.tenant_id,
            name=recorded.ref.name,
            by=span.by or None,
            about={
                "name": recorded.ref.name,
                "from": start,
                "until": end,
                "cadence": span.cadence or None,
                "reason": span.reason or None,
            },
        )


def _of_job(
    job: Job, word: EventName, number: str, at: datetime, *, by: str | None = None, **more: Any
) -> LifecycleEvent:
    about = {
        "name": job.name,
        "title": job.definition.title or None,
        "category": job.definition.category or None,
        "cadences": list(job.definition.cadences),
        "origin": job.origin.value,
        "version": job.version,
        "is_paused": job.is_paused,
        "failure_threshold": job.definition.failure_threshold,
        "consecutive_failures": job.tally.consecutive_failures,
        "failed": job.tally.failed,
        "last_id": job.tally.last_id,
        "last_error": job.tally.last_error,
        **more,
    }
    return LifecycleEvent(
        subject="job",
        word=word,
        number=number,
        at=at,
        tenant_id=job.ref.tenant_id,
        name=job.name,
        by=by,
        about=about,
    )


def _with(number: str, cadence: str) -> str:
    return f"{number}.{cadence}" if cadence else number
