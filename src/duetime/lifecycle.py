"""Lifecycle: what others are told of an action, a job, or of what is undelivered. Facts only.

An event speaks of one transition of one row, and its id is made of that row's counters: whoever publishes it twice
publishes the same event. A job's run is told of as ``run.…``, a one-shot as ``action.…``; that is all the difference.

What is told is a choice of the deployment:

==========  ==============================================================================================
``events``  tells
==========  ==============================================================================================
standard    all of jobs and their runs; of one-shots: failures, cancels, and what somebody or a crash changed
all         also that each one-shot was scheduled, started, and executed or will run again
off         nothing
==========  ==============================================================================================

Of the system's own passes, which run each minute, only failures are told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from duetime import instant
from duetime.action import Action, Ending, SkipReason, Status, Trigger
from duetime.audit import AuditEntry
from duetime.change import Change
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, TenantId
from duetime.job import Job, JobRef, Span, SpanKind
from duetime.undelivered import Kind, Undelivered

VERSION = 1
"""Of the events' schema: it grows by fields; a number more means that a field is gone, or means something else."""

Events = Literal["off", "standard", "all"]


class Word(StrEnum):
    """What happened: the second half of an event's type."""

    SCHEDULED = "scheduled"
    PLANNED = "planned"
    """A job's cadence, or its catch-up, made a row."""
    TRIGGERED = "triggered"
    """Somebody, or an event, started a run of a job."""
    RESCHEDULED = "rescheduled"
    STARTED = "started"
    RECOVERED = "recovered"
    """A run was taken over from a dead worker."""
    RETRYING = "retrying"
    """An attempt did not succeed, and another follows."""
    CANCEL_REQUESTED = "cancel_requested"
    EXECUTED = "executed"
    FAILED = "failed"
    """For good: it is in the dead letters."""
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    MISSED = "missed"
    REDRIVEN = "redriven"

    REGISTERED = "registered"
    CHANGED = "changed"
    """A job's definition is another."""
    DROPPED = "dropped"
    """Neither code nor a registration declares the job any more."""
    PAUSED = "paused"
    RESUMED = "resumed"
    TUNED = "tuned"
    """An operator's settings of a job changed."""
    FAILING = "failing"
    """A streak of failures reached the job's threshold."""
    SUCCEEDING = "succeeding"
    """A run succeeded, and such a streak has ended."""

    KEPT = "kept"
    """Something is undelivered, and waits for a redrive."""

    RECORDED = "recorded"
    """Somebody asked for a change over the API, or it is known what came of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleEvent:
    """One transition, as others are told of it."""

    subject: Literal["action", "run", "job", "undelivered", "audit"]
    word: Word
    number: str
    """Which transition of its subject: with tenant, subject and word it is the event's id."""
    at: datetime
    tenant_id: TenantId
    name: str
    """The id of an action or of what is undelivered, the name of a job."""
    by: str | None = None
    """Who did it, where somebody did."""
    about: Mapping[str, Any]
    """What is told of the subject, as JSON has it."""

    @property
    def type(self) -> str:
        """The event's detail-type on the bus: ``action.failed``."""
        return f"{self.subject}.{self.word}"

    @property
    def id(self) -> str:
        """The same for each publication of this transition, and for no other."""
        return f"{self.tenant_id}/{self.name}/{self.word}/{self.number}"

    def detail(self, deployment: str) -> dict[str, Any]:
        """The event's detail on the bus; `deployment` is its prefix, since several may share a bus."""
        what = "action" if self.subject == "run" else self.subject
        return {
            "version": VERSION,
            "id": self.id,
            "type": self.type,
            "at": instant.text(self.at),
            "deployment": deployment,
            "tenant_id": self.tenant_id,
            "by": self.by,
            what: dict(self.about),
        }

    def to_json(self) -> str:
        """A text form, for an event that waits."""
        said = {name: getattr(self, name) for name in _TEXTS}
        return json.dumps({**said, "at": instant.text(self.at), "about": dict(self.about)})

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read what `to_json` wrote."""
        said = json.loads(written)
        return cls(
            **{name: said[name] for name in _TEXTS}
            | {"word": Word(said["word"]), "at": instant.parse(said["at"]), "about": said["about"]}
        )


_TEXTS = ("subject", "word", "number", "tenant_id", "name", "by")


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
                for name in ("version", "pauses", "tuning", "dropped_at")
            )
            or old.tally.consecutive_failures != new.tally.consecutive_failures
        )


@dataclass(frozen=True, slots=True)
class SpanKept:
    """A part of a job's time was recorded as one for which nothing was planned."""

    ref: JobRef
    span: Span


Told = Change | JobChange | SpanKept | Undelivered | AuditEntry
"""Whatever a record of one of the two tables' streams speaks of."""

_ALWAYS = frozenset(
    {
        Word.FAILED,
        Word.CANCELLED,
        Word.CANCEL_REQUESTED,
        Word.RESCHEDULED,
        Word.REDRIVEN,
        Word.RECOVERED,
    }
)
"""Of one-shots, what is told unless nothing is: all of it is rare."""


def is_told(event: LifecycleEvent, events: Events, *, is_pass: bool) -> bool:
    """Whether a deployment tells of it; `is_pass` says that its subject is a run of one of the system's own passes."""
    if events == "off":
        return False
    if is_pass:
        return event.word is Word.FAILED
    return events == "all" or event.subject != "action" or event.word in _ALWAYS


def of_action(change: Change, at: datetime) -> Iterator[LifecycleEvent]:
    """What a change of a row tells; of a removal, nothing.

    Args:
        change: the row before and after.
        at: when it was written, for what the row itself has no instant of.
    """
    if change.new is None:
        return
    told = _began(change.new) if change.old is None else _went_on(change.old, change.new)
    for word, by, when in told:
        yield _of_row(change.new, word, by, when or at)


_Transition = tuple[Word, str | None, datetime | None]


def _began(new: Action) -> Iterator[_Transition]:
    if new.job is None:
        yield Word.SCHEDULED, new.created_by, new.created_at
    elif new.trigger in {Trigger.MANUAL, Trigger.EVENT} and new.status is not Status.SKIPPED:
        yield Word.TRIGGERED, new.created_by, new.created_at
    elif new.status is Status.PENDING:
        yield Word.PLANNED, None, new.created_at
    if new.status is not Status.PENDING:
        yield from _ended(new)


def _went_on(old: Action, new: Action) -> Iterator[_Transition]:
    if new.cancel_requested_at is not None and old.cancel_requested_at is None:
        yield Word.CANCEL_REQUESTED, new.cancel_requested_by, new.cancel_requested_at
    match old.status, new.status:
        case Status.PENDING, Status.PENDING if new.gen > old.gen:
            yield Word.RESCHEDULED, new.changed_by, new.changed_at
        case Status.FAILED, Status.PENDING:
            yield Word.REDRIVEN, new.changed_by, new.changed_at
        case Status.PROCESSING, Status.PENDING:
            yield Word.RETRYING, None, new.attempts[-1].finished_at if new.attempts else None
        case Status.PENDING, Status.PROCESSING:
            yield Word.STARTED, None, new.attempts[-1].started_at if new.attempts else None
        case Status.PROCESSING, Status.PROCESSING if new.recoveries > old.recoveries:
            yield Word.RECOVERED, None, new.attempts[-1].started_at if new.attempts else None
        case before, after if before is not after:
            yield from _ended(new)


def _ended(new: Action) -> Iterator[_Transition]:
    """What its last status says, where that is final."""
    ran_until = new.attempts[-1].finished_at if new.attempts else None
    match new.status:
        case Status.EXECUTED:
            yield Word.EXECUTED, None, ran_until
        case Status.FAILED:
            yield Word.FAILED, None, ran_until
        case Status.CANCELLED:
            ended = max((each for each in (ran_until, new.changed_at) if each), default=None)
            yield Word.CANCELLED, new.cancelled_by, ended
        case Status.SKIPPED if new.skip_reason is SkipReason.MISSED:
            yield Word.MISSED, None, new.changed_at
        case Status.SKIPPED:
            yield Word.SKIPPED, new.changed_by, new.changed_at


def _of_row(row: Action, word: Word, by: str | None, at: datetime) -> LifecycleEvent:
    return LifecycleEvent(
        subject="action" if row.job is None else "run",
        word=word,
        number=f"{row.gen}.{row.fence}",
        at=at,
        tenant_id=row.tenant_id,
        name=row.id,
        by=by,
        about=told_of_row(row),
    )


def told_of_row(row: Action) -> dict[str, Any]:
    """What outsiders are told of an action: never its payload (see `with_payload`)."""
    last = row.attempts[-1] if row.attempts else None
    is_its_end = last is not None and (row.status is not Status.CANCELLED or last.ending is Ending.CANCELLED)
    message = last.message if last and is_its_end else None
    return {
        "id": row.id,
        "type": row.type,
        "status": row.status.value,
        "due_at": instant.text(row.due_at),
        "nominal_at": instant.text(row.nominal_at),
        "correlation_id": row.correlation_id,
        "created_by": row.created_by,
        "trigger": row.trigger.value,
        "job": row.job,
        "cadence": row.cadence,
        "attempt": row.attempt,
        "recoveries": row.recoveries,
        "started_at": instant.text(last.started_at) if last else None,
        "finished_at": instant.text(last.finished_at) if last and last.finished_at else None,
        "reason": row.note or (row.skip_reason.value if row.skip_reason else message),
    }


def with_payload(event: LifecycleEvent, row: Action) -> LifecycleEvent:
    """The event with the payload of its action, where the row carries it: one set apart stays apart."""
    if row.payload is None or row.payload_apart:
        return event
    return replace(event, about={**event.about, "payload": json.loads(row.payload)})


def of_job(change: JobChange, at: datetime) -> Iterator[LifecycleEvent]:
    """What a change of a job's state tells. Both sides need the definition that is in force.

    Args:
        change: the job before and after.
        at: when it was written.
    """
    old, new = change.old, change.new
    number = f"r{new.revision}"
    if old is None or (old.dropped_at and not new.dropped_at):
        yield _of_job(new, Word.REGISTERED, number, at, by=new.registered_by or None)
    elif new.dropped_at and not old.dropped_at:
        yield _of_job(new, Word.DROPPED, number, new.dropped_at)
    elif new.version != old.version or change.is_redefined:
        yield _of_job(new, Word.CHANGED, number, at, by=new.registered_by or None)
    if old is not None:
        yield from _pauses(old, new, number, at)
        if old.tuning != new.tuning:
            yield _of_job(new, Word.TUNED, number, at)
        yield from _streak(old, new, at)


def _pauses(old: Job, new: Job, number: str, at: datetime) -> Iterator[LifecycleEvent]:
    for cadence, pause in new.pauses.items():
        if old.pauses.get(cadence) != pause:
            told = {"cadence": cadence or None, "reason": pause.reason or None}
            until = instant.text(pause.until) if pause.until else None
            yield _of_job(new, Word.PAUSED, _with(number, cadence), at, by=pause.by, **told, until=until)
    for cadence in old.pauses.keys() - new.pauses.keys():
        yield _of_job(new, Word.RESUMED, _with(number, cadence), at, cadence=cadence or None)


def _streak(old: Job, new: Job, at: datetime) -> Iterator[LifecycleEvent]:
    """Once when its failures in a row reach the threshold, and once when a run succeeds after that."""
    threshold = new.definition.failure_threshold
    number = f"{new.tally.last_id or ''}.{new.tally.failed}"  # a run that is redriven may end two streaks
    before, after = old.tally.consecutive_failures, new.tally.consecutive_failures
    if before < threshold <= after:
        yield _of_job(new, Word.FAILING, number, at)
    elif after == 0 and before >= threshold:
        yield _of_job(new, Word.SUCCEEDING, number, at)


def of_span(kept: SpanKept) -> Iterator[LifecycleEvent]:
    """A part of a job's time that nobody planned; a pause is told of when it begins and ends."""
    span = kept.span
    if span.kind is SpanKind.MISSED:
        start, end = instant.text(span.start), instant.text(span.end)
        yield LifecycleEvent(
            subject="job",
            word=Word.MISSED,
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


def of_undelivered(thing: Undelivered) -> Iterator[LifecycleEvent]:
    """Something was given up, and kept. Of one of these events, or a notification, none is published: it would be next."""
    if thing.kind not in {Kind.LIFECYCLE, Kind.NOTIFICATION} and not _is_of_our_own(thing):
        yield LifecycleEvent(
            subject="undelivered",
            word=Word.KEPT,
            number=f"{thing.count}.{instant.text(thing.last_at)}",  # forgotten and kept anew, it counts from 1
            at=thing.last_at,
            tenant_id=SYSTEM_TENANT,
            name=thing.id,
            about={
                "id": thing.id,
                "kind": thing.kind.value,
                "source": thing.source,
                "reason": thing.reason,
                "count": thing.count,
                "action": thing.action.id if thing.action else None,
                "action_tenant_id": thing.action.tenant_id if thing.action else None,
            },
        )


def _is_of_our_own(thing: Undelivered) -> bool:
    """Whether it is an event of duetime's that could not start a job."""
    try:
        told = json.loads(thing.body) if thing.kind is Kind.EVENT else {}
        return bool(told.get("event", {}).get("source") == EVENT_SOURCE)
    except (ValueError, AttributeError):
        return False


def of_audit(entry: AuditEntry) -> Iterator[LifecycleEvent]:
    """An entry of the audit trail: once when it was begun, and once when it has ended."""
    yield LifecycleEvent(
        subject="audit",
        word=Word.RECORDED,
        number="begun" if entry.status is None else "ended",
        at=entry.asked_at,
        tenant_id=entry.tenant_id,
        name=entry.id,
        by=entry.by,
        about={
            "id": entry.id,
            "target_kind": entry.target.kind.value,
            "target": entry.target.name or None,
            "operation": entry.operation,
            "roles": list(entry.roles),
            "address": entry.address,
            "asked": dict(entry.asked),
            "status": entry.status,
            "result": None if entry.result is None else dict(entry.result),
        },
    )


def _of_job(
    job: Job, word: Word, number: str, at: datetime, *, by: str | None = None, **more: Any
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
