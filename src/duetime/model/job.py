"""The job: a factory of actions.

Facts only; `duetime.jobs.plan` plans occurrences, `duetime.jobs.claim_policy` runs them.

A job has one **definition** at a time, from code or a runtime registration. Its **version** counts the
changes of its plan. Its **cursor** is the instant up to which every nominal time is recorded, in a row or a
span. Its **lock** is the run for which other occurrences wait or are skipped. Every deploy retains what
operators set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, Self

from duetime import ids
from duetime.ids import DEFAULT_WORKER, JobName, TenantId
from duetime.model.action import Action, ActionRef
from duetime.model.cadence_set import CadenceSet
from duetime.model.run_stats import RunStats
from duetime.model.wake_state import WakeState
from duetime.retry import RetryPolicy, Tuning

Precision = Literal["second", "minute"]

USUAL_WAIT = 12 * 3_600
"""Seconds for which a run waits for the run of another job, if its job does not limit that."""

WHOLE_JOB = ""
"""In place of a cadence's name: all cadences of a job."""


class Overlap(StrEnum):
    """The policy for an occurrence that is due while another run of its job has not ended."""

    SKIP = "skip"
    """It is recorded as skipped."""
    QUEUE_ONE = "queue_one"
    """One waits, any further are skipped."""
    ALLOW = "allow"
    """They run side by side; the job has no lock."""
    CANCEL_RUNNING = "cancel_running"
    """The running one is requested to stop; of the waiting ones, the latest runs."""


class Origin(StrEnum):
    """The place where a job is declared."""

    CODE = "code"
    RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class JobRef:
    """The key of a job."""

    tenant_id: TenantId
    name: JobName


def delay_key(ref: JobRef) -> str:
    """Return the key on which the delay of a job depends, if its cadence has a spread."""
    return f"{ref.tenant_id}/{ref.name}"


def job_ref_of(action: Action) -> JobRef | None:
    """Return the job of an action, None for a one-shot."""
    if action.job is None:
        return None
    owner = action.planned and action.planned.job_tenant
    return JobRef(owner or action.tenant_id, action.job)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The declaration of a job, by code or a registration."""

    name: JobName
    type: str
    """The registered name of the handler that runs it."""
    cadences: tuple[str, ...]
    """Their texts, as `duetime.cadence.parse` reads them; ``manual`` if there is no other."""
    payload: str | None = None
    """The payload of each run, as JSON; at most 2 KB, since each occurrence's row contains it."""
    payload_version: int = 1
    retry: str | None = None
    """A retry policy's text form; without it the handler's own applies."""
    overlap: Overlap = Overlap.SKIP
    """What becomes of an occurrence while another run has not ended."""
    catch_up: int = 0
    """The number of latest missed occurrences that run later."""
    precision: Precision = "second"
    """`second`, or `minute` if a run may be that late."""
    failure_threshold: int = 3
    """Failures in a row after which a notification is sent."""
    deadline: str | None = None
    """The wall time by which a nominal time must have succeeded, such as ``06:00``; None without one."""
    within: int | None = None
    """How long after it a nominal time must have succeeded, in seconds; None without one."""
    every_success_within: int | None = None
    """How long it may be without a success before that is reported, in seconds; None: for ever."""
    after: JobName | None = None
    """The job whose run of the same nominal day must have succeeded before a run begins; None without one."""
    after_timeout: int | None = None
    """How long a run waits for it, in seconds; None: 12 hours."""
    title: str = ""
    """Its name for people; may be empty."""
    category: str = ""
    """What lists may group it by; may be empty."""
    description: str = ""
    """What it is for; may be empty."""
    worker: str = DEFAULT_WORKER
    """The worker whose manifest declares it."""
    self_scheduled: bool = False
    """It has its own wake, as the sweep has: its runs are not planned, each records itself."""
    counted: str = field(default="", compare=False)
    """If a count goes on from earlier versions: the times that it has had, and since when it goes on, as in
    ``2@2027-01-05T09:30:00.000000Z``. Code does not declare it; a change of the plan sets it."""

    @property
    def has_deadline(self) -> bool:
        """Whether its nominal times have deadlines."""
        return self.deadline is not None or self.within is not None

    @property
    def waits_at_most(self) -> int:
        """The seconds for which a run waits for that of another job."""
        return USUAL_WAIT if self.after_timeout is None else self.after_timeout

    def plans_like(self, other: Definition) -> bool:
        """Return whether both definitions have the same plan."""
        return self._planned == other._planned

    @property
    def _planned(self) -> tuple[object, ...]:
        return (self.type, self.cadences, self.payload, self.payload_version, self.self_scheduled)

    def to_json(self) -> str:
        """Return a JSON form without the default values."""
        fields = {name: value for name, value in asdict(self).items() if value != _DEFAULTS.get(name)}
        return json.dumps(fields, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the result of `to_json`; unknown fields of a later version are ignored."""
        fields = {name: value for name, value in json.loads(written).items() if name in cls.__slots__}
        return cls(
            **fields
            | {"cadences": tuple(fields["cadences"]), "overlap": Overlap(fields.get("overlap", Overlap.SKIP))}
        )


def is_manual(definition: Definition) -> bool:
    """Return whether the job has no cadence: callers alone start it, and other jobs may have its handler."""
    return all(text.split(" ")[0] == _MANUAL for text in definition.cadences)


_MANUAL = "manual"
"""The first word of a cadence without times and events."""

_DEFAULTS: Mapping[str, object] = {
    name: field.default for name, field in Definition.__dataclass_fields__.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A pause of a job, or of one of its cadences."""

    since: datetime
    """When it began."""
    by: str
    """Who paused it."""
    reason: str = ""
    """Why; may be empty."""
    until: datetime | None = None
    """When it ends by itself."""
    parts: tuple[Pause, ...] = ()
    """If several were begun, each of them; the fields above then have the first begin, and the one that ends
    last."""

    def is_over(self, now: datetime) -> bool:
        """Return whether it has ended by itself."""
        return self.until is not None and self.until <= now

    def beside(self, new: Pause) -> Pause:
        """Return this pause with another one beside it: neither loses its reason or its end."""
        parts = (*(self.parts or (self,)), new)
        endless = next((part for part in parts if part.until is None), None)
        last = endless or max(parts, key=lambda part: part.until or part.since)
        return replace(last, since=self.since, parts=parts)

    def at(self, when: datetime) -> Pause:
        """Return the pause that a time lies in: the one that began first, if several cover it."""
        covering = (part for part in self.parts if part.since < when and not part.is_over_before(when))
        return next(covering, self)

    def is_over_before(self, when: datetime) -> bool:
        """Return whether it ends before a time."""
        return self.until is not None and self.until < when

    def stretches(self, end: datetime) -> Iterator[tuple[datetime, datetime, Pause]]:
        """Yield the stretches of time up to an end, each with its pause as `at` returns it."""
        start = self.since
        for part in self.parts or (self,):
            until = min(part.until or end, end)
            if until > start:
                yield start, until, part
                start = until


class SpanKind(StrEnum):
    """The reason why a job planned no rows for a time."""

    PAUSED = "paused"
    DISABLED = "disabled"
    MISSED = "missed"
    """Planning did not take place, because of an outage or the global switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpan:
    """A time, (start, end], in which a job has no rows: one item explains thousands of nominal times."""

    kind: SpanKind
    start: datetime
    end: datetime
    cadence: str = WHOLE_JOB
    by: str = ""
    reason: str = ""
    catch_up: int = 0
    """Of a missed one: how many of its latest times the job runs later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a job, and when it was in force: (since, until]."""

    number: int
    definition: Definition
    since: datetime
    until: datetime | None = None
    """None while it is in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDefinition:
    """A definition that a job has or had.

    A version has several, if changes of a registered job left its plan as it was.
    """

    id: str
    """Of the last one of a version, the version's number; of others, ``3.17``: the job's revision is last."""
    version: int
    """The job's version, which counts changes of its schedule."""
    definition: Definition
    since: datetime
    """When it came into force."""
    until: datetime | None = None
    """When it was replaced; None while it is in force."""
    by: str = ""
    """The user who registered it; empty if that was not recorded."""


def current_definition(job: Job) -> StoredDefinition:
    """Return the definition that is in force."""
    return StoredDefinition(
        id=str(job.version),
        version=job.version,
        definition=job.definition,
        since=job.registered_at or job.since,
        by=job.registered_by,
    )


def replaced_definition(old: Job, new: Job) -> StoredDefinition | None:
    """Return the definition that a change replaces; None if nothing must store it.

    The end of a version is always stored, and an edit within a version if the job was registered: code has
    its own history.
    """
    ended = current_definition(old)
    if new.version != old.version:
        return replace(ended, until=new.since)
    if new.definition == old.definition or old.origin is Origin.CODE:
        return None
    until = new.registered_at or new.since
    return replace(ended, id=f"{old.version}.{old.revision}", until=until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The contents of a job's rows."""

    ref: JobRef
    definition: Definition
    origin: Origin
    """Who declared it."""
    version: int = 1
    """Counts changes of its schedule; each occurrence is of one."""
    since: datetime
    """When this version came into force."""
    anchor: datetime
    """When the job was first added: intervals count from here."""
    cursor: datetime
    """Every nominal time up to here is a row, or lies in a span, a pause or a time before this version."""
    revision: int = 1
    """Counts the changes by reconcile and operators; a change from an older revision is rejected."""
    maintain_at: datetime
    """The latest time of its next maintenance; see `duetime.jobs.maintain`."""
    maintain_failures: int = 0
    """How often in a row its maintenance has failed; each failure delays the next attempt."""
    ends: Mapping[int, datetime] = field(default_factory=lambda: MappingProxyType({}))
    """When recent versions ended: their later rows are retired."""
    pauses: Mapping[str, Pause] = field(default_factory=lambda: MappingProxyType({}))
    """By cadence, or under `WHOLE_JOB`."""
    removed_at: datetime | None = None
    """When code, or the registration, stopped declaring it."""
    tuning: Mapping[str, Tuning] = field(default_factory=lambda: MappingProxyType({}))
    """By cadence, or under `WHOLE_JOB`."""
    running: ActionRef | None = None
    """The run that holds the lock."""
    waiting: ActionRef | None = None
    """The run that waits for the lock, if the policy allows that."""
    unlocked_since: datetime | None = None
    """When a change ended the policy `allow`, until a claim has found no older run in progress.

    A run that began before holds no lock.
    """
    tally: RunStats = field(default_factory=RunStats)
    wakes: WakeState = field(default_factory=WakeState)
    """What `duetime.jobs.maintain` last set on EventBridge for it."""
    registered_by: str = ""
    """Who declared it, by a registration."""
    registered_at: datetime | None = None
    """Of a runtime job: when its last registration was made."""
    idempotency_key: str | None = None
    """Of a runtime job: the key of its last registration."""
    idempotency_until: datetime | None = None
    """Up to when that key holds."""

    @property
    def name(self) -> JobName:
        """Its name, unique in its tenant."""
        return self.ref.name

    @property
    def cadence_set(self) -> CadenceSet:
        """Its cadences, parsed."""
        return self.cadences_of(self.definition)

    def cadences_of(self, definition: Definition) -> CadenceSet:
        """Return the cadences of one of its definitions, parsed, with the delays of this job."""
        texts = definition.cadences
        key = delay_key(self.ref) if any(" spread=" in text for text in texts) else ""
        return CadenceSet.parse(texts, self.anchor, key, definition.counted)

    @property
    def is_paused(self) -> bool:
        """Whether all of it is paused."""
        return WHOLE_JOB in self.pauses

    @property
    def is_live(self) -> bool:
        """Whether its occurrences are planned and run."""
        return not self.is_paused and self.removed_at is None

    def holds_key(self, key: str | None, now: datetime) -> bool:
        """Return whether `key` is that of its last registration, and still holds."""
        until = self.idempotency_until
        return key is not None and key == self.idempotency_key and until is not None and now < until

    def policy_for(self, cadence: str | None, handlers: RetryPolicy) -> RetryPolicy:
        """Return the retry policy of a run.

        The cadence's tuning, then the job's, the definition's, the handler's.
        """
        retry = self.definition.retry
        policy = handlers if retry is None else RetryPolicy.parse(retry)
        for name in (WHOLE_JOB, cadence or WHOLE_JOB):
            if name in self.tuning:
                policy = self.tuning[name].applied(policy)
        return policy

    def end_of(self, version: int) -> datetime | None:
        """Return when a version ended; None for the one in force.

        One too old to be stored ended before this one.
        """
        return None if version == self.version else self.ends.get(version, self.since)


def maintenance_shard_of(ref: JobRef) -> str:
    """Return the job's partition in the index by `maintain_at`."""
    return ids.SHARDS[sum(ref.name.encode()) % MAINTENANCE_SHARDS]


MAINTENANCE_SHARDS = 4
"""Partitions of that index: a constant of the format."""
