"""The action: one piece of work at one instant. Facts only; who may change them is told in `ports`.

::

    schedule ──> pending ──claim──> processing ──settle──> executed
                 ^  │ │             │   │  └─────────────> failed ──redrive──> pending
                 │  │ └─> skipped   │   └────────────────> cancelled (the handler stopped when asked)
                 │  └───> cancelled │
                 └──────retry───────┘
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from duetime import ids
from duetime.ids import ActionId, JobName, TenantId


class Status(StrEnum):
    """Where an action stands; the same words in rows, JSON, the command line and metrics."""

    PENDING = "pending"
    PROCESSING = "processing"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens by itself."""
        return self not in {Status.PENDING, Status.PROCESSING}


TRANSITIONS: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.PENDING: frozenset({Status.PROCESSING, Status.CANCELLED, Status.SKIPPED}),
        Status.PROCESSING: frozenset({Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING}),
        Status.FAILED: frozenset({Status.PENDING}),
        Status.EXECUTED: frozenset(),
        Status.CANCELLED: frozenset(),
        Status.SKIPPED: frozenset(),
    }
)
"""The legal changes of status. A reschedule leaves an action pending, a take-over leaves it processing."""


class Ending(StrEnum):
    """How one attempt ended."""

    EXECUTED = "executed"
    FAILED = "failed"
    RETRY = "retry"
    CANCELLED = "cancelled"


class SkipReason(StrEnum):
    """Why an occurrence was not run."""

    OVERLAP = "overlap"
    """Another run of its job held the lock."""
    PAUSED = "paused"
    DISABLED = "disabled"
    """Its job is no longer declared, or was unregistered."""
    MISSED = "missed"
    """It could be claimed only when its job's grace was over."""
    RETIRED = "retired"
    """Its job's schedule changed before it was due; the new version has occurrences of its own."""
    COVERED = "covered"
    """The version before had run this very time, in the moment in which it ended."""
    ASKED = "asked"
    """Somebody had it skipped."""
    REFUSED = "refused"
    """The event that would have started it names no tenant, and its trigger asks for one."""


class Trigger(StrEnum):
    """What made an action due."""

    SCHEDULED = "scheduled"
    """Somebody scheduled it for an instant."""
    CADENCE = "cadence"
    CATCH_UP = "catch-up"
    """An occurrence that its job missed, and makes up for."""
    EVENT = "event"
    MANUAL = "manual"


KEPT_ATTEMPTS = 20
"""A row keeps this many attempts, the latest; their numbers go on counting."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run. Without `finished_at` it is running, or, when another follows, its worker died ("lost")."""

    queued_at: datetime
    """When the message that led to it could first be received."""
    started_at: datetime
    instance: str
    """Which worker process ran it."""
    finished_at: datetime | None = None
    ending: Ending | None = None
    message: str | None = None
    """Why it did not succeed, in at most 500 characters."""


@dataclass(frozen=True, slots=True)
class ActionRef:
    """What leads to an action's row."""

    tenant_id: TenantId
    id: ActionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action as its row tells it. All instants are in UTC."""

    tenant_id: TenantId
    id: ActionId
    type: str
    due_at: datetime
    due_shard: str
    created_by: str
    payload: str | None
    """The payload as JSON; None while a large one has not been fetched (see `payload_offloaded`)."""
    payload_version: int = 1
    payload_offloaded: bool = False
    """The payload is an item of its own, so that claim and settle do not pay for it."""
    correlation_id: str | None = None
    idempotency_key: str | None = None
    """What it was scheduled under: while the key holds, a repeat of it gets this action."""
    concurrency_key: str | None = None
    """Of the actions of a tenant that share it, only so many run at once."""
    concurrency_limit: int = 1
    """How many: it begins while fewer hold a slot of its concurrency key."""
    trace: str | None = None
    """The trace context of who scheduled it, as a W3C ``traceparent``; its runs continue that trace."""
    status: Status = Status.PENDING
    generation: int = 1
    """Counts how often the action became pending with a due time: each has its own wake."""
    fence: int = 0
    """Counts claims; who holds an older one holds nothing."""
    attempt: int = 0
    """Runs that counted towards the retry policy; a run lost with its worker is repeated under the same number."""
    redriven_after: int = 0
    """Runs that lay before the last redrive: the retry policy counts from there."""
    recoveries: int = 0
    """How often a run was taken over from a dead worker."""
    first_due_at: datetime | None = None
    """The due time before retries moved it; None while they have not."""
    attempts: tuple[Attempt, ...] = ()
    lease_until: datetime | None = None
    claim_nonce: str | None = None
    retry: str | None = None
    """The retry policy's text form, as it was at the first claim."""
    cancel_requested_at: datetime | None = None
    cancel_requested_by: str | None = None
    changed_at: datetime | None = None
    """When a person or a program last rescheduled, cancelled or redrove it."""
    changed_by: str | None = None
    expires_at: datetime | None = None
    """When the settled row is removed."""
    cadence: str | None = None
    """Of an occurrence: the name of the cadence that made it due; of an event run, of its trigger."""
    job_tenant: TenantId | None = None
    """Whose the job is, where an event started a run of it for another tenant."""
    planned_at: datetime | None = None
    """Of a job's run: when its row was made."""
    catches_up: bool = False
    """An occurrence that was missed; it waits for its job's lock instead of being skipped."""
    skip_reason: SkipReason | None = None
    """Why a skipped row was not run."""
    note: str | None = None
    """More on that, in at most 500 characters."""

    @property
    def ref(self) -> ActionRef:
        """What leads to this row."""
        return ActionRef(self.tenant_id, self.id)

    @property
    def nominal_at(self) -> datetime:
        """The instant it was scheduled for; retries and redrives do not move it."""
        return self.first_due_at or self.due_at

    @property
    def created_at(self) -> datetime:
        """When it was scheduled, to the millisecond: its id carries it; or when its job's run was planned."""
        return self.planned_at or ids.created_at(self.id)

    @property
    def job(self) -> JobName | None:
        """The job whose run it is; None for a one-shot."""
        return ids.job_of(self.id)

    @property
    def trigger(self) -> Trigger:
        """What made it due."""
        if ids.is_one_shot(self.id):
            return Trigger.SCHEDULED
        if ids.is_event_run(self.id):
            return Trigger.EVENT
        if ids.is_manual_run(self.id):
            return Trigger.MANUAL
        return Trigger.CATCH_UP if self.catches_up else Trigger.CADENCE

    @property
    def modified_at(self) -> datetime:
        """When the row last changed in a way worth telling: a change by somebody, a start or an end of a run."""
        return max(instant for instant in (self.created_at, self.changed_at, self._last_ran_at) if instant)

    @property
    def modified_by(self) -> str:
        """Who made that change: the worker's instance where it was a run."""
        if self._last_ran_at and self._last_ran_at >= (self.changed_at or self.created_at):
            return self.attempts[-1].instance
        return self.changed_by or self.created_by

    @property
    def executed_at(self) -> datetime | None:
        """When the run that succeeded ended."""
        return self.attempts[-1].finished_at if self.status is Status.EXECUTED and self.attempts else None

    @property
    def failure_reason(self) -> str | None:
        """Why it failed, in at most 500 characters; None unless it has failed."""
        return self.attempts[-1].message if self.status is Status.FAILED and self.attempts else None

    @property
    def failed_at(self) -> datetime:
        """When it failed, if it has."""
        last = self.attempts[-1].finished_at if self.attempts else None
        return last or self.due_at

    @property
    def cancelled_by(self) -> str | None:
        """Who cancelled it; None unless it is cancelled."""
        if self.status is not Status.CANCELLED:
            return None
        return self.cancel_requested_by or self.changed_by

    @property
    def pending_since(self) -> datetime:
        """When it last became pending: where it was armed from."""
        return self.modified_at

    @property
    def _last_ran_at(self) -> datetime | None:
        return (self.attempts[-1].finished_at or self.attempts[-1].started_at) if self.attempts else None

    def numbered_attempts(self) -> tuple[tuple[int, Attempt], ...]:
        """The attempts kept, each with its number: a lost run and the one that took it over share theirs."""
        number, numbered = self.attempt, []
        for place in range(len(self.attempts) - 1, -1, -1):
            numbered.append((number, self.attempts[place]))
            if place and self.attempts[place - 1].finished_at is not None:
                number -= 1
        return tuple(reversed(numbered))

    def without_payload(self) -> Action:
        """The same row without its payload: what a list shows."""
        return replace(self, payload=None)
