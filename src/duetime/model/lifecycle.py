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
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from duetime import instant
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry
from duetime.model.undelivered import Undelivered, UndeliveredKind

VERSION = 1
"""Of the events' schema: it grows by fields; a number more means that a field is gone, or means something else."""

Events = Literal["off", "standard", "all"]


class EventName(StrEnum):
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
    word: EventName
    number: str
    """Which transition of its subject: with tenant, subject and word it is the event's id."""
    at: datetime
    tenant_id: TenantId
    name: str
    """The id of an action, of what is undelivered or of an entry of the trail; the name of a job."""
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
            | {"word": EventName(said["word"]), "at": instant.parse(said["at"]), "about": said["about"]}
        )


_TEXTS = ("subject", "word", "number", "tenant_id", "name", "by")


_ALWAYS = frozenset(
    {
        EventName.FAILED,
        EventName.CANCELLED,
        EventName.CANCEL_REQUESTED,
        EventName.RESCHEDULED,
        EventName.REDRIVEN,
        EventName.RECOVERED,
    }
)
"""Of one-shots, what is told unless nothing is: all of it is rare."""


def is_told(event: LifecycleEvent, events: Events, *, is_pass: bool) -> bool:
    """Whether a deployment tells of it; `is_pass` says that its subject is a run of one of the system's own passes."""
    if events == "off":
        return False
    if is_pass:
        return event.word is EventName.FAILED
    return events == "all" or event.subject != "action" or event.word in _ALWAYS


def of_undelivered(thing: Undelivered) -> Iterator[LifecycleEvent]:
    """Something was given up, and kept. Of one of these events, or a notification, none is published: it would be next."""
    if thing.kind not in {UndeliveredKind.LIFECYCLE, UndeliveredKind.NOTIFICATION} and not _is_of_our_own(
        thing
    ):
        yield LifecycleEvent(
            subject="undelivered",
            word=EventName.KEPT,
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
        told = json.loads(thing.body) if thing.kind is UndeliveredKind.EVENT else {}
        return bool(told.get("event", {}).get("source") == EVENT_SOURCE)
    except (ValueError, AttributeError):
        return False


def of_audit(entry: AuditEntry) -> Iterator[LifecycleEvent]:
    """An entry of the audit trail: once when it was begun, and once when it has ended."""
    yield LifecycleEvent(
        subject="audit",
        word=EventName.RECORDED,
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
