"""Job events: what a change of a job's state, and a part of its time without rows, tell. Facts only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.model.job import Job, JobRef, JobSpan, SpanKind
from duetime.model.lifecycle import EventName, LifecycleEvent


@dataclass(frozen=True, slots=True)
class JobChange:
    """What happened to a job's state: None stands for no job."""

    old: Job | None
    new: Job
    is_redefined: bool = False
    """Its definition was written anew: retries, titles and the like make no new version."""

    @property
    def may_tell(self) -> bool:
        """Whether its definition is worth reading: most writes of a state only move a cursor or a lock."""
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
    """A part of a job's time was recorded as one for which nothing was planned."""

    ref: JobRef
    span: JobSpan


def of_job(change: JobChange, at: datetime) -> Iterator[LifecycleEvent]:
    """What a change of a job's state tells. Both sides need the definition that is in force.

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
            told = {"cadence": cadence or None, "reason": pause.reason or None}
            until = instant.text(pause.until) if pause.until else None
            yield _of_job(new, EventName.PAUSED, _with(number, cadence), at, by=pause.by, **told, until=until)
    for cadence in old.pauses.keys() - new.pauses.keys():
        yield _of_job(new, EventName.RESUMED, _with(number, cadence), at, cadence=cadence or None)


def _streak(old: Job, new: Job, at: datetime) -> Iterator[LifecycleEvent]:
    """Once when its failures in a row reach the threshold, and once when a run succeeds after that."""
    threshold = new.definition.failure_threshold
    number = f"{new.tally.last_id or ''}.{new.tally.failed}"  # a run that is redriven may end two streaks
    before, after = old.tally.consecutive_failures, new.tally.consecutive_failures
    if before < threshold <= after:
        yield _of_job(new, EventName.FAILING, number, at)
    elif after == 0 and before >= threshold:
        yield _of_job(new, EventName.SUCCEEDING, number, at)


def of_span(kept: SpanKept) -> Iterator[LifecycleEvent]:
    """A part of a job's time that nobody planned; a pause is told of when it begins and ends."""
    span = kept.span
    if span.kind is SpanKind.MISSED:
        start, end = instant.text(span.start), instant.text(span.end)
        yield LifecycleEvent(
            subject="job",
            word=EventName.MISSED,
            number=f"{start}_{end}",
            at=span.end,
            tenant_id=kept.ref.tenant_id,
            name=kept.ref.name,
            by=span.by or None,
            about={
                "name": kept.ref.name,
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
