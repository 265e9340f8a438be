"""Lifecycle events: of actions, of jobs, and of undelivered inputs. Facts only.

An event describes one transition of one row. Its id consists of that row's counters, so a second publication
has the same id. A job's run has types such as ``run.failed``, a one-shot such as ``action.failed``.

The deployment's settings choose the published events:

==========  ==============================================================================================
``events``  published
==========  ==============================================================================================
standard    all of jobs and their runs; of one-shots: failures, cancels, changes by callers and by crashes
all         also that each one-shot was scheduled, started, and executed or will run again
off         none
==========  ==============================================================================================

Of the system's own passes, which run each minute, only failures are published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Self

from duetime import instant
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind
from duetime.model.undelivered import Undelivered, UndeliveredKind
from duetime.model.work_pause import PauseScope, WorkPauseChange

VERSION = 1
"""The version of the events' schema. New fields do not change it; removed or changed fields do."""

Events = Literal["off", "standard", "all"]


class EventName(StrEnum):
    """The transition: the second half of an event's type."""

    SCHEDULED = "scheduled"
    PLANNED = "planned"
    """A job's cadence, or its catch-up, planned a row."""
    TRIGGERED = "triggered"
    """A caller, or an event, started a run of a job."""
    RESCHEDULED = "rescheduled"
    COALESCED = "coalesced"
    """A further call with its debounce key changed a pending action."""
    DEFERRED = "deferred"
    """It waits for its instant under a rate limit."""
    RELEASED = "released"
    """What it was scheduled after has ended."""
    STARTED = "started"
    RECOVERED = "recovered"
    """A run was taken over from a dead worker."""
    HANDED_OVER = "handed_over"
    """A run ended, and an external party completes its action."""
    APPROVAL_REQUESTED = "approval_requested"
    """A run ended, and a person decides about its action."""
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
    DEADLINE_MISSED = "deadline_missed"
    """A nominal time has not succeeded by its job's deadline."""
    DEADLINE_AT_RISK = "deadline_at_risk"
    """The usual run time predicts that it will not."""
    SILENT = "silent"
    """No run of the job succeeded for too long."""
    UNACCOUNTED = "unaccounted"
    """A recount found nominal times of the job without a proper result."""
    BACKFILL_STARTED = "backfill_started"
    BACKFILL_PAUSED = "backfill_paused"
    BACKFILL_RESUMED = "backfill_resumed"
    BACKFILL_CANCELLED = "backfill_cancelled"
    """An operator cancelled it; runs of it may still end."""
    BACKFILL_ENDED = "backfill_ended"
    """No run of the backfill is left."""

    KEPT = "kept"
    """An undelivered input was stored, and waits for a redrive."""

    OPENED = "opened"
    """A type failed too often, so its circuit breaker pauses it."""
    CLOSED = "closed"
    """A run succeeded, or a caller ended the pause: the type goes on."""

    RECORDED = "recorded"
    """A caller requested a change over the API, or its result was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleEvent:
    """One transition, as published."""

    subject: Literal["action", "run", "job", "undelivered", "audit", "tenant", "work", "breaker"]
    word: EventName
    number: str
    """The transition's number: with tenant, subject and word it is the event's id."""
    at: datetime
    tenant_id: TenantId
    name: str
    """The id of an action, an undelivered input or an audit entry; the name of a job or of what is paused."""
    by: str | None = None
    """The actor, if there is one."""
    about: Mapping[str, Any]
    """The fields of the subject, as JSON."""

    @property
    def type(self) -> str:
        """The event's detail-type on the bus: ``action.failed``."""
        return f"{self.subject}.{self.word}"

    @property
    def id(self) -> str:
        """The same for each publication of this transition, and different from all others."""
        return f"{self.tenant_id}/{self.name}/{self.word}/{self.number}"

    def detail(self, deployment: str) -> dict[str, Any]:
        """Return the event's detail on the bus; `deployment` is the prefix, since several may share a bus."""
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
        """Return a JSON form, for an event in a queue."""
        fields = {name: getattr(self, name) for name in _TEXTS}
        return json.dumps({**fields, "at": instant.text(self.at), "about": dict(self.about)})

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the result of `to_json`."""
        fields = json.loads(written)
        return cls(
            **{name: fields[name] for name in _TEXTS}
            | {"word": EventName(fields["word"]), "at": instant.parse(fields["at"]), "about": fields["about"]}
        )


_TEXTS = ("subject", "word", "number", "tenant_id", "name", "by")


RARE = frozenset(
    {
        EventName.FAILED,
        EventName.CANCELLED,
        EventName.CANCEL_REQUESTED,
        EventName.SKIPPED,
        EventName.RESCHEDULED,
        EventName.DEFERRED,
        EventName.REDRIVEN,
        EventName.RECOVERED,
        EventName.APPROVAL_REQUESTED,
    }
)
"""The rare events of one-shots, published unless ``events`` is off."""


def is_in_events(event: LifecycleEvent, events: Events, *, is_pass: bool) -> bool:
    """Return whether a deployment publishes an event.

    Args:
        event: the event.
        events: the deployment's choice.
        is_pass: whether its subject is a run of one of the system's own passes.
    """
    if events == "off":
        return False
    if is_pass:
        return event.word is EventName.FAILED
    return events == "all" or event.subject != "action" or event.word in RARE


def of_undelivered(thing: Undelivered) -> Iterator[LifecycleEvent]:
    """Return the event of an undelivered input.

    An undelivered lifecycle event or notification has none, since that event would fail next.
    """
    if thing.kind not in {UndeliveredKind.LIFECYCLE, UndeliveredKind.NOTIFICATION} and not _is_of_our_own(
        thing
    ):
        yield LifecycleEvent(
            subject="undelivered",
            word=EventName.KEPT,
            number=f"{thing.count}.{instant.text(thing.last_at)}",  # after a removal, it counts from 1
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
    """Return whether it is an event of duetime's own that could not start a job."""
    try:
        body = json.loads(thing.body) if thing.kind is UndeliveredKind.EVENT else {}
        return bool(body.get("event", {}).get("source") == EVENT_SOURCE)
    except (ValueError, AttributeError):
        return False


def of_work_pause(change: WorkPauseChange) -> Iterator[LifecycleEvent]:
    """Return the event of a pause: one when it begins, one when a caller ends it."""
    pause = change.new
    ended_at = pause.ended_at
    if change.old is not None and (ended_at is None or change.old.ended_at is not None):
        return
    is_tenant, is_breaker = pause.scope is PauseScope.TENANT, pause.breaker is not None
    begun, ended = (
        (EventName.OPENED, EventName.CLOSED) if is_breaker else (EventName.PAUSED, EventName.RESUMED)
    )
    more = {} if is_tenant else {"scope": pause.scope.value, "of": pause.tenant_id, "skips": pause.skips}
    yield LifecycleEvent(
        subject="tenant" if is_tenant else "breaker" if is_breaker else "work",
        word=begun if ended_at is None else ended,
        number=pause.id,
        at=ended_at or pause.since,
        tenant_id=TenantId(pause.name) if is_tenant else pause.tenant_id or SYSTEM_TENANT,
        name=pause.name,
        by=pause.ended_by if ended_at else pause.by,
        about={
            "name": pause.name,
            "pause_id": pause.id,
            "reason": pause.reason,
            "since": instant.text(pause.since),
            "until": instant.text(pause.until) if pause.until else None,
            **more,
        },
    )


def of_audit(entry: AuditEntry) -> Iterator[LifecycleEvent]:
    """Return the event of an audit entry: one when it begins, one when it ends."""
    yield LifecycleEvent(
        subject="audit",
        word=EventName.RECORDED,
        number=_audit_number(entry),
        at=entry.requested_at,
        tenant_id=entry.tenant_id,
        name=entry.id,
        by=entry.by,
        about={
            "id": entry.id,
            "target_kind": entry.target.kind.value,
            "target": entry.target.name or None,
            "operation": entry.operation,
            "subject": entry.subject,
            "roles": list(entry.roles),
            "address": entry.address,
            "request_fields": dict(entry.request_fields),
            "status": entry.status,
            "result": None if entry.result is None else dict(entry.result),
            "expires_at": instant.text(entry.expires_at),
            "link": asdict(entry.links[-1]) if entry.links else None,
        },
    )


def _audit_number(entry: AuditEntry) -> str:
    if entry.target.kind is AuditKind.REJECTED:
        result = entry.result or {}
        return f"rejected.{result.get('count')}.{'.'.join(begun['id'] for begun in result.get('begun', ()))}"
    return "begun" if entry.status is None else "ended"
