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

from duetime.ids import ActionId, TenantId, created_at


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
    """The payload as JSON; None while a large one has not been fetched (see `payload_apart`)."""
    payload_version: int = 1
    payload_apart: bool = False
    """The payload is an item of its own, so that claim and settle do not pay for it."""
    correlation_id: str | None = None
    status: Status = Status.PENDING
    gen: int = 1
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
        """When it was scheduled, to the millisecond: its id carries it."""
        return created_at(self.id)

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
