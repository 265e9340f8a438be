"""The action: one piece of work at one instant. Facts only; `duetime.ports.actions` defines its changes.

::

    schedule ──> pending ──claim──> processing ──settle──> executed
                 ^  │ │             │   │  └─────────────> failed ──redrive──> pending
                 │  │ └─> skipped   │   └────────────────> cancelled (the handler stopped on request)
                 │  └───> cancelled │
                 └──────retry───────┘

A dead letter is a failed action that no caller has dismissed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from duetime import ids, instant
from duetime.ids import ActionId, JobName, TenantId
from duetime.model.checkpoint import Checkpoint
from duetime.model.quick_fields import quick_fields


class Status(StrEnum):
    """The state of an action; rows, JSON, the command line and metrics use the same words."""

    PENDING = "pending"
    PROCESSING = "processing"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"

    @property
    def is_final(self) -> bool:
        """Whether the action stays in this status unless a caller changes it."""
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
"""The legal changes of status. A rescheduled action stays pending; a taken-over action stays processing."""


class Ending(StrEnum):
    """The result of one attempt."""

    EXECUTED = "executed"
    FAILED = "failed"
    RETRY = "retry"
    CANCELLED = "cancelled"


class SkipReason(StrEnum):
    """The reason why an action was not run."""

    OVERLAP = "overlap"
    """Another run of its job held the lock."""
    PAUSED = "paused"
    DISABLED = "disabled"
    """Its job is no longer declared, or was unregistered."""
    MISSED = "missed"
    """It was claimed only after its job's grace."""
    RETIRED = "retired"
    """Its job's schedule changed before it was due; the new version has its own occurrences."""
    COVERED = "covered"
    """The previous version ran this nominal time just before it ended."""
    REQUESTED = "requested"
    """An operator skipped it."""
    REFUSED = "refused"
    """Its event names no tenant, and its trigger requires one; or too many events led to it."""
    EXPIRED = "expired"
    """Of a one-shot: no run of it began before its expiry."""
    PREDECESSOR = "predecessor"
    """Of a one-shot: an action or batch that it waited for was not executed."""


class Trigger(StrEnum):
    """The cause that made an action due."""

    SCHEDULED = "scheduled"
    """A caller scheduled it for an instant."""
    CADENCE = "cadence"
    CATCH_UP = "catch-up"
    """A missed occurrence that runs later, by its job's `catch_up`."""
    EVENT = "event"
    MANUAL = "manual"
    BACKFILL = "backfill"
    """An operator had past nominal times of its job run."""


KEPT_ATTEMPTS = 20
"""The number of latest attempts that a row stores; their numbers still grow."""


CONTINUES = "continues from its checkpoint"
"""The message of a run that continued, with the ending `RETRY`; it used up no attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run. Without `finished_at` it is running; if another attempt follows, its worker died ("lost")."""

    queued_at: datetime
    """When its queue message could first be received."""
    started_at: datetime
    """When its worker claimed the action."""
    instance: str
    """The worker process that ran it."""
    finished_at: datetime | None = None
    """When it ended; None while it runs, and of a lost one."""
    ending: Ending | None = None
    message: str | None = None
    """The reason of a failure, or an overrun, in at most 500 characters."""

    @property
    def is_continued(self) -> bool:
        """Whether the next run went on from its checkpoint."""
        return self.ending is Ending.RETRY and self.message == CONTINUES


class ActionRef(NamedTuple):
    """The key of an action's row. A tuple's hash takes a tenth of a dataclass's."""

    tenant_id: TenantId
    id: ActionId


@quick_fields
@dataclass(frozen=True, kw_only=True)
class Action:
    """The contents of an action's row. All instants are in UTC."""

    tenant_id: TenantId
    """The tenant that owns it."""
    id: ActionId
    """A UUIDv7; of a job's run the job's name, its version and the nominal time."""
    type: str
    """The payload type, whose handler runs it."""
    due_at: datetime
    """When it is due by now: retries and redrives move it."""
    due_shard: str
    created_by: str
    """Who scheduled it."""
    payload: str | None
    """The payload as JSON; None while a large one has not been fetched (see `payload_offloaded`)."""
    payload_version: int = 1
    payload_offloaded: bool = False
    """The payload is an item of its own, so that claim and settle do not pay for it."""
    payload_size: int = 0
    """The bytes of a one-shot's offloaded payload."""
    correlation_id: str | None = None
    """What it was scheduled with, to be found by."""
    idempotency_key: str | None = None
    """What it was scheduled under: while the key holds, a repeat returns this action."""
    concurrency_key: str | None = None
    """Of the actions that share it only so many run at once."""
    concurrency_limit: int = 1
    """That number: the action begins while fewer hold a slot of its concurrency key."""
    is_high: bool = False
    """Whether it was scheduled with a high priority; its type may have one too."""
    debounce_key: str | None = None
    """Until its first run begins, further calls with the key change it, and schedule no other."""
    debounce_until: datetime | None = None
    """The latest due time that they can give it; None without a bound."""
    coalesced: int = 0
    """How many have changed it."""
    recent_calls: str | None = None
    """Names of the latest of these calls, to recognise one whose response was lost."""
    rate_key: str | None = None
    """The key of its type's rate limit, if its caller's process knew it; the worker computes it otherwise."""
    rate_slot: datetime | None = None
    """The instant that it has under that limit; it holds while it is the due time."""
    depth: int = 0
    """How many events in a row led to it; see `duetime.model.event_chain`."""
    trace: str | None = None
    """The caller's trace context, as a W3C ``traceparent``; its runs continue that trace."""
    status: Status = Status.PENDING
    """Where it stands; executed, failed, cancelled and skipped are final."""
    generation: int = 1
    """Counts the due times with which the action was pending: each has its own wake."""
    fence: int = 0
    """Counts claims; a write under an older fence is rejected."""
    attempt: int = 0
    """Runs that count towards the retry policy; a run whose worker died is repeated under the same number."""
    redriven_after: int = 0
    """Runs before the last redrive, which the retry policy does not count."""
    continued: int = 0
    """Runs since the last redrive that continued, which the retry policy does not count."""
    checkpoint: Checkpoint | None = None
    """What its latest run stored for the next one."""
    recoveries: int = 0
    """The number of runs taken over from a dead worker, or after a missed heartbeat; not after a time-out."""
    first_due_at: datetime | None = None
    """The due time before retries changed it; None if they have not."""
    expires_at: datetime | None = None
    """From when on no run of it begins; None if it was given none. See `duetime.model.expiry`."""
    attempts: tuple[Attempt, ...] = ()
    lease_until: datetime | None = None
    nonce: str | None = None
    retry: str | None = None
    """The text form of the retry policy at the first claim."""
    cancel_requested_at: datetime | None = None
    """When a stop of its run was first requested."""
    cancel_requested_by: str | None = None
    changed_at: datetime | None = None
    """When a person or a program last rescheduled, cancelled, redrove or dismissed it."""
    changed_by: str | None = None
    kept_until: datetime | None = None
    """When the settled row is removed."""
    cadence: str | None = None
    """Of an occurrence: the name of the cadence that made it due; of an event run, of its trigger."""
    job_tenant: TenantId | None = None
    """The job's tenant, if an event started a run of it for another tenant."""
    planned_at: datetime | None = None
    """Of a job's run: when its row was written."""
    catches_up: bool = False
    """An occurrence that was missed; it waits for its job's lock instead of being skipped."""
    skip_reason: SkipReason | None = None
    """Why it was not run; None unless it is skipped."""
    note: str | None = None
    """More on that, in at most 500 characters."""
    held_by: str | None = None
    """The pause that held it before its latest claim, as one clause; None: none did."""
    dismissed_reason: str | None = None
    """Why it was removed from the dead letters; None unless it was. A redrive removes it."""
    batch: str | None = None
    """The batch whose member it is."""
    after: str | None = None
    """The ids, and ``batch:name``, that it waits or waited for, with spaces between them."""
    after_rule: str | None = None
    """What it does if one of them is not executed: ``any`` runs, ``skip`` skips; by default it fails."""
    waits_for: str | None = None
    """Of a job's run: the run of another job that it waits or waited for; its job, if that was missing."""
    unmet: str | None = None
    """The predecessor that was not executed; if the action fails for it, its first redrive runs it."""
    is_awaited: bool = False
    """Whether its end matters to a batch or to followers, or ends a hand-over: arm receives that write."""
    followers: tuple[ActionId, ...] = ()
    """The actions that wait for its end."""
    handed_over: int = 0
    """The fence of the run that last handed it over; 0 if none did. See `duetime.model.hand_over`."""
    handed_over_at: datetime | None = None
    """When it was last handed over."""
    times_out_at: datetime | None = None
    """When that hand-over ends without a completion."""
    beat_seconds: int = 0
    """The longest time between two heartbeats of it; 0: none is needed."""
    hand_over_key: str | None = None
    """The key of its token."""
    completion: str | None = None
    """Names the call that ended it, to recognise one whose response was lost."""
    question: str | None = None
    """What a person decides, or decided last; None if it needed no approval."""
    decision_terms: str | None = None
    """``execute``: a rejection executes it, and does not fail it. ``another``: another person than the one
    who scheduled it must approve. ``execute another``: both."""
    progress: str | None = None
    """The share that a run reported last, from 0 to 1."""
    progress_note: str | None = None
    """What was reported with it."""
    result: str | None = None
    """What a completion stored, as JSON of at most 2 KB."""

    @property
    def ref(self) -> ActionRef:
        """The key of this row."""
        return ActionRef(self.tenant_id, self.id)

    @property
    def is_handed_over(self) -> bool:
        """Whether it is processing without a worker: an external party completes it."""
        return self.status is Status.PROCESSING and self.handed_over == self.fence

    @property
    def awaits_approval(self) -> bool:
        """Whether it waits for a person's decision."""
        return self.is_handed_over and self.question is not None

    @property
    def needs_another_approver(self) -> bool:
        """Whether another person than the one who scheduled it must approve."""
        return "another" in (self.decision_terms or "").split()

    def has_timed_out_at(self, now: datetime) -> bool:
        """Return whether it was handed over until the time-out: no worker has died."""
        return self.is_handed_over and self.times_out_at is not None and self.times_out_at <= now

    @property
    def heartbeat_at(self) -> datetime | None:
        """When a heartbeat of its hand-over last came; None before the first, and without heartbeats.

        A heartbeat moves the lease by `beat_seconds`, at most to the time-out: the lease shows when it came.
        """
        if not self.is_handed_over or not self.beat_seconds or self.lease_until is None:
            return None
        came_at = self.lease_until - timedelta(seconds=self.beat_seconds)
        is_later = self.handed_over_at is not None and came_at > self.handed_over_at
        return came_at if is_later else None

    @property
    def nominal_at(self) -> datetime:
        """When it was scheduled for; retries and redrives do not move it."""
        return self.first_due_at or self.due_at

    @property
    def is_held(self) -> bool:
        """Whether it waits for its predecessors; its due time is then in 2199, beyond every scan."""
        return self.status is Status.PENDING and self.after is not None and self.due_at >= instant.LATEST

    @property
    def waits_for_run(self) -> bool:
        """Whether it waits for the run of another job."""
        return self.waits_for is not None and self.status is Status.PENDING and self.attempt == 0

    @property
    def has_failed_predecessor(self) -> bool:
        """Whether it must fail because of a predecessor, instead of running."""
        return self.unmet is not None and not self.redriven_after

    @property
    def has_rate_slot(self) -> bool:
        """Whether it waits, or waited, for an instant of its own under a rate limit."""
        return self.rate_slot == self.due_at

    @property
    def tried_since(self) -> datetime:
        """The start of the present tries: the first due time, or the last redrive.

        Of a backfill's run, which is planned long after its nominal time: when it was planned.
        """
        if self.redriven_after and self.changed_at:
            return self.changed_at
        is_backfill = self.trigger is Trigger.BACKFILL
        return self.planned_at if is_backfill and self.planned_at else self.nominal_at

    @property
    def created_at(self) -> datetime:
        """When it was scheduled, or its job's run was planned, to the millisecond."""
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
        if ids.backfill_of(self.id) is not None:
            return Trigger.BACKFILL
        return Trigger.CATCH_UP if self.catches_up else Trigger.CADENCE

    @property
    def modified_at(self) -> datetime:
        """When a caller last changed it, or a run of it last began or ended."""
        return max(instant for instant in (self.created_at, self.changed_at, self._last_ran_at) if instant)

    def next_change_at(self, at: datetime) -> datetime:
        """Return when a change of this row as read is made: not before the last one.

        A process may pause between its clock and this read.
        """
        return at if self.changed_at is None else max(at, self.changed_at)

    @property
    def modified_by(self) -> str:
        """Who did that: the worker's instance, if it was a run."""
        if self._last_ran_at and self._last_ran_at >= (self.changed_at or self.created_at):
            return self.attempts[-1].instance
        return self.changed_by or self.created_by

    @property
    def is_retrying(self) -> bool:
        """Whether it is pending after a failed attempt; a redrive counts them from zero."""
        if self.status is not Status.PENDING or self.attempt <= self.redriven_after or not self.attempts:
            return False
        last = self.attempts[-1]
        return last.ending in {Ending.FAILED, Ending.RETRY} and not last.is_continued

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
    def is_dead_letter(self) -> bool:
        """Whether it has failed and was not dismissed."""
        return self.status is Status.FAILED and self.dismissed_reason is None

    @property
    def pending_since(self) -> datetime:
        """When it last became pending."""
        return self.modified_at

    @property
    def _last_ran_at(self) -> datetime | None:
        return (self.attempts[-1].finished_at or self.attempts[-1].started_at) if self.attempts else None

    def numbered_attempts(self) -> tuple[tuple[int, Attempt], ...]:
        """Return the stored attempts with their numbers; a lost run and its take-over share one number."""
        number, numbered = self.attempt, []
        for index in range(len(self.attempts) - 1, -1, -1):
            numbered.append((number, self.attempts[index]))
            if index and self.attempts[index - 1].finished_at is not None:
                number -= 1
        return tuple(reversed(numbered))

    def without_payload(self) -> Action:
        """Return the row without its payload, as in a list."""
        return replace(self, payload=None)

    def as_listed(self) -> Action:
        """Return the row as in the list of its job's runs: a triggered run keeps the payload in its row."""
        has_own = self.trigger is Trigger.MANUAL and not self.payload_offloaded
        return self if has_own else self.without_payload()
