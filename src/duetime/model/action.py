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

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from duetime import ids, instant
from duetime.ids import ActionId, JobName, TenantId
from duetime.model.checkpoint import Checkpoint
from duetime.model.quick_fields import quick_fields
from duetime.model.row_parts import (
    PARTS,
    Act,
    After,
    BatchName,
    Concurrency,
    CorrelationId,
    Count,
    Debounced,
    DueShard,
    Epoch,
    HandOver,
    Json,
    Key,
    PayloadText,
    Policy,
    Progress,
    RunPlan,
    Text,
    TypeName,
    named,
)


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
    type: TypeName
    """The payload type, whose handler runs it."""
    due_at: datetime
    """When it is due by now: retries and redrives move it."""
    due_shard: DueShard
    created_by: Text
    """Who scheduled it."""
    payload: PayloadText | None
    """The payload as JSON; None while a large one has not been fetched (see `payload_size`)."""
    payload_version: Count = 1
    payload_size: Count = 0
    """The bytes of a large payload, which is an item of its own; 0: the payload is in the row."""
    correlation_id: CorrelationId | None = None
    """What it was scheduled with, to be found by."""
    idempotency_key: Key | None = None
    """What it was scheduled under: while the key holds, a repeat returns this action."""
    concurrency: Concurrency | None = named("concurrency_key concurrency_limit", None)
    is_high: bool = False
    """Whether it was scheduled with a high priority; its type may have one too."""
    debounced: Debounced | None = named("debounce_key debounce_until coalesced recent_calls", None)
    rate_key: Key | None = None
    """The key of its type's rate limit, if its caller's process knew it; the worker computes it otherwise."""
    rate_slot: datetime | None = None
    """The instant that it has under that limit; it holds while it is the due time."""
    depth: Count = 0
    """How many events in a row led to it; see `duetime.model.event_chain`."""
    trace: Text | None = None
    """The caller's trace context, as a W3C ``traceparent``; its runs continue that trace."""
    status: Status = Status.PENDING
    """Where it stands; executed, failed, cancelled and skipped are final."""
    generation: Count = 1
    """Counts the due times with which the action was pending: each has its own wake."""
    fence: Count = 0
    """Counts claims; a write under an older fence is rejected."""
    attempt: Count = 0
    """Runs that count towards the retry policy; a run whose worker died is repeated under the same number."""
    redriven_after: Count = 0
    """Runs before the last redrive, which the retry policy does not count."""
    continued: Count = 0
    """Runs since the last redrive that continued, which the retry policy does not count."""
    checkpoint: Checkpoint | None = None
    """What its latest run stored for the next one."""
    recoveries: Count = 0
    """The number of runs taken over from a dead worker, or after a missed heartbeat; not after a time-out."""
    first_due_at: datetime | None = None
    """The due time before retries changed it; None if they have not."""
    expires_at: datetime | None = None
    """From when on no run of it begins; None if it was given none. See `duetime.model.expiry`."""
    attempts: tuple[Attempt, ...] = ()
    lease_until: datetime | None = None
    nonce: Text | None = None
    retry: Policy | None = None
    """The text form of the retry policy at the first claim."""
    cancel_request: Act | None = named("cancel_requested_at cancel_requested_by", None)
    """When a stop of its run was first requested, and by whom."""
    changed: Act | None = named("changed_at changed_by", None)
    """When a person or a program last rescheduled, cancelled, redrove or dismissed it."""
    kept_until: Epoch | None = named("ttl", None)
    """When the settled row is removed."""
    planned: RunPlan | None = named("planned_at cadence catches_up job_tenant", None)
    skip_reason: SkipReason | None = None
    """Why it was not run; None unless it is skipped."""
    note: Text | None = None
    """More on that, in at most 500 characters."""
    held_by: Text | None = None
    """The pause that held it before its latest claim, as one clause; None: none did."""
    dismissed_reason: Text | None = None
    """Why it was removed from the dead letters; None unless it was. A redrive removes it."""
    batch: BatchName | None = None
    """The batch whose member it is."""
    after: After | None = named("after after_rule", None)
    waits_for: Text | None = None
    """Of a job's run: the run of another job that it waits or waited for; its job, if that was missing."""
    unmet: Text | None = None
    """The predecessor that was not executed; if the action fails for it, its first redrive runs it."""
    is_awaited: bool = False
    """Whether its end matters to a batch or to followers, or ends a hand-over: arm receives that write."""
    followers: tuple[ActionId, ...] = ()
    """The actions that wait for its end."""
    hand_over: HandOver | None = named(
        "handed_over handed_over_at times_out_at hand_over_key beat_seconds question decision_terms", None
    )
    completion: Text | None = None
    """Names the call that ended it, to recognise one whose response was lost."""
    progress: Progress | None = named("progress progress_note", None)
    result: Json | None = named("run_result", None)
    """What a completion stored, as JSON of at most 2 KB."""

    @property
    def ref(self) -> ActionRef:
        """The key of this row."""
        return ActionRef(self.tenant_id, self.id)

    @property
    def is_handed_over(self) -> bool:
        """Whether it is processing without a worker: an external party completes it."""
        return self.handed_over is not None

    @property
    def handed_over(self) -> HandOver | None:
        """The hand-over that it waits for; None unless it is handed over."""
        is_its_runs = self.hand_over is not None and self.hand_over.fence == self.fence
        return self.hand_over if is_its_runs and self.status is Status.PROCESSING else None

    @property
    def awaits_approval(self) -> bool:
        """Whether it waits for a person's decision."""
        return self.handed_over is not None and self.handed_over.question is not None

    def has_timed_out_at(self, now: datetime) -> bool:
        """Return whether it was handed over until the time-out: no worker has died."""
        return self.handed_over is not None and self.handed_over.times_out_at <= now

    @property
    def heartbeat_at(self) -> datetime | None:
        """When a heartbeat of its hand-over last came; None before the first, and without heartbeats.

        A heartbeat moves the lease by `beat_seconds`, at most to the time-out: the lease shows when it came.
        """
        waiting = self.handed_over
        if waiting is None or not waiting.beat_seconds or self.lease_until is None:
            return None
        came_at = self.lease_until - timedelta(seconds=waiting.beat_seconds)
        return came_at if came_at > waiting.at else None

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
        if self.redriven_after and self.changed:
            return self.changed.at
        is_backfill = self.trigger is Trigger.BACKFILL
        return self.planned.at if is_backfill and self.planned else self.nominal_at

    @property
    def created_at(self) -> datetime:
        """When it was scheduled, or its job's run was planned, to the millisecond."""
        return self.planned.at if self.planned else ids.created_at(self.id)

    @property
    def slot_key(self) -> str:
        """Its concurrency key; empty without one."""
        return self.concurrency.key if self.concurrency else ""

    @property
    def slot_limit(self) -> int:
        """The number of slots up to which it takes one."""
        return self.concurrency.limit if self.concurrency else 1

    @property
    def cadence(self) -> str | None:
        """Of an occurrence: the name of the cadence that made it due; of an event run, of its trigger."""
        return self.planned.cadence if self.planned else None

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
        return Trigger.CATCH_UP if self.planned and self.planned.catches_up else Trigger.CADENCE

    @property
    def modified_at(self) -> datetime:
        """When a caller last changed it, or a run of it last began or ended."""
        changed_at = self.changed and self.changed.at
        return max(instant for instant in (self.created_at, changed_at, self._last_ran_at) if instant)

    def next_change_at(self, at: datetime) -> datetime:
        """Return when a change of this row as read is made: not before the last one.

        A process may pause between its clock and this read.
        """
        return at if self.changed is None else max(at, self.changed.at)

    @property
    def modified_by(self) -> str:
        """Who did that: the worker's instance, if it was a run."""
        if self._last_ran_at and self._last_ran_at >= (self.changed.at if self.changed else self.created_at):
            return self.attempts[-1].instance
        return self.changed.by if self.changed else self.created_by

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
        act = self.cancel_request or self.changed
        return act.by if act else None

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
            if self.attempts[index - 1].finished_at is not None:
                number -= 1
        return tuple(reversed(numbered))

    def without_payload(self) -> Action:
        """Return the row without its payload, as in a list."""
        return replace(self, payload=None)

    def as_listed(self) -> Action:
        """Return the row as in the list of its job's runs: a triggered run keeps the payload in its row."""
        has_own = self.trigger is Trigger.MANUAL and not self.payload_size
        return self if has_own else self.without_payload()


class StoredField(NamedTuple):
    """A fact of an action, as rows, the API and the command line name it.

    Attributes:
        name: its name there.
        field: the field of `Action` that has it, or the part that does.
        of_part: the field of that part; None: it is in no part.
        source: the class that declares and describes it.
        kind: the name of its type in `duetime.model.row_parts`, without None.
        default: the value without which it is not stored.
        absent: the value of an action without its part: the default, or None without one.
    """

    name: str
    field: str
    of_part: str | None
    source: type[Any]
    kind: str
    default: object
    absent: object

    def of(self, action: Action) -> Any:
        """Return the value of an action."""
        value = getattr(action, self.field)
        return value if self.of_part is None else getattr(value, self.of_part, self.absent)


def _kind(field: Field[Any]) -> str:
    return str(field.type).removesuffix(" | None")


def _stored_fields() -> Iterator[StoredField]:
    for field in fields(Action):
        part = PARTS.get(_kind(field))
        facts = [field] if part is None else fields(part)
        for name, fact in zip(field.metadata.get("names", (field.name,)), facts, strict=True):
            of_part = None if part is None else fact.name
            absent = None if fact.default is MISSING else fact.default
            yield StoredField(name, field.name, of_part, part or Action, _kind(fact), fact.default, absent)


FIELDS: Mapping[str, StoredField] = {stored.name: stored for stored in _stored_fields()}
"""All facts of an action, by their names in rows."""
SHOWN = (
    "id type status is_retrying due_at nominal_at expires_at tenant_id correlation_id idempotency_key"
    " concurrency_key concurrency_limit is_high batch after waits_for is_held debounce_key debounce_until"
    " coalesced rate_key"
    " created_at created_by modified_at modified_by executed_at cancel_requested_at cancelled_by"
    " failure_reason dismissed_reason recoveries job cadence trigger skip_reason note held_by is_handed_over"
    " handed_over_at times_out_at heartbeat_at awaits_approval question progress progress_note"
)
"""The facts of an action that the API shows in lists, in this order."""
