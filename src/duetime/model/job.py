"""The job: a factory of actions. Facts only; how its occurrences are planned is told in `plan`, who may run in `admit`.

A job has one **definition** at a time, which code or a runtime registration says, and a **version** that counts the changes of
what is planned. Its **cursor** is the instant up to which every nominal time is accounted for: as a row, or by a span.
Its **lock** is the run that keeps other occurrences waiting or skipped. What operators set survives every deploy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, Self

from duetime import ids
from duetime.ids import DEFAULT_WORKER, JobName, TenantId
from duetime.model.action import ActionRef
from duetime.model.cadence_set import CadenceSet
from duetime.model.run_stats import RunStats
from duetime.model.wake_state import WakeState
from duetime.retry import RetryPolicy, Tuning

Precision = Literal["second", "minute"]

WHOLE_JOB = ""
"""Stands for all cadences of a job where one of them could be named."""


class Overlap(StrEnum):
    """What becomes of an occurrence that is due while another run of its job has not ended."""

    SKIP = "skip"
    """It is recorded as skipped."""
    QUEUE_ONE = "queue_one"
    """One waits, any further are skipped."""
    ALLOW = "allow"
    """They run side by side; the job has no lock."""
    CANCEL_RUNNING = "cancel_running"
    """The running one is asked to stop; of those that wait for it the latest runs."""


class Origin(StrEnum):
    """Who declared a job."""

    CODE = "code"
    RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class JobRef:
    """What leads to a job."""

    tenant_id: TenantId
    name: JobName


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a job is, as code or a registration says it."""

    name: JobName
    type: str
    """The registered name of the handler that runs it."""
    cadences: tuple[str, ...]
    """Their texts, as `duetime.cadence.parse` reads them; ``manual`` where there is no other."""
    payload: str | None = None
    """What each run is given, as JSON; at most 2 KB, since each occurrence's row carries it."""
    payload_version: int = 1
    retry: str | None = None
    """A policy's text form; without it the handler's own applies."""
    overlap: Overlap = Overlap.SKIP
    catch_up: int = 0
    """How many of the latest missed occurrences are made up for."""
    precision: Precision = "second"
    failure_threshold: int = 3
    """Failures in a row after which somebody should be told."""
    title: str = ""
    category: str = ""
    description: str = ""
    worker: str = DEFAULT_WORKER
    """Whose manifest declares it."""
    self_scheduled: bool = False
    """It has a wake of its own, as the sweep has: nothing is planned, each run records itself."""

    def plans_like(self, other: Definition) -> bool:
        """Whether occurrences planned for the one are right for the other."""
        return self._planned == other._planned

    @property
    def _planned(self) -> tuple[object, ...]:
        return (self.type, self.cadences, self.payload, self.payload_version, self.self_scheduled)

    def to_json(self) -> str:
        """A text form; what has its default is left out."""
        said = {name: value for name, value in asdict(self).items() if value != _DEFAULTS.get(name)}
        return json.dumps(said, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read what `to_json` wrote; a field that a later version wrote is passed by."""
        said = {name: value for name, value in json.loads(written).items() if name in cls.__slots__}
        return cls(
            **said
            | {"cadences": tuple(said["cadences"]), "overlap": Overlap(said.get("overlap", Overlap.SKIP))}
        )


_DEFAULTS: Mapping[str, object] = {
    name: each.default for name, each in Definition.__dataclass_fields__.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Somebody has paused a job, or one of its cadences."""

    since: datetime
    by: str
    reason: str = ""
    until: datetime | None = None
    """When it ends by itself."""

    def is_over(self, now: datetime) -> bool:
        """Whether it has ended by itself."""
        return self.until is not None and self.until <= now


class SpanKind(StrEnum):
    """Why nothing was planned for a while."""

    PAUSED = "paused"
    DISABLED = "disabled"
    MISSED = "missed"
    """Nobody planned: an outage, or the global switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpan:
    """A part of a job's time, (start, end], for which no rows were made: it explains thousands of nominal times in one item."""

    kind: SpanKind
    start: datetime
    end: datetime
    cadence: str = WHOLE_JOB
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a job, and when it was in force: (since, until]."""

    number: int
    definition: Definition
    since: datetime
    until: datetime | None = None
    """None while it is in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as its rows tell it."""

    ref: JobRef
    definition: Definition
    origin: Origin
    version: int = 1
    since: datetime
    """When this version came into force."""
    anchor: datetime
    """When the job was first added: intervals count from here."""
    cursor: datetime
    """Every nominal time up to here is a row, or lies in a span, a pause or a time before this version."""
    revision: int = 1
    """Counts what reconcile and operators change; whoever changes from an older one changes nothing."""
    maintain_at: datetime
    """When somebody must look after it at the latest; see `duetime.jobs.maintain`."""
    ends: Mapping[int, datetime] = field(default_factory=lambda: MappingProxyType({}))
    """When recent versions ended: what is planned for them and later is retired."""
    pauses: Mapping[str, Pause] = field(default_factory=lambda: MappingProxyType({}))
    """By cadence, or under `WHOLE_JOB`."""
    removed_at: datetime | None = None
    """Since when code, or the registration, is gone."""
    tuning: Mapping[str, Tuning] = field(default_factory=lambda: MappingProxyType({}))
    """By cadence, or under `WHOLE_JOB`."""
    running: ActionRef | None = None
    """Who holds the lock."""
    waiting: ActionRef | None = None
    """Who waits for it, where the policy lets one wait."""
    tally: RunStats = field(default_factory=RunStats)
    wakes: WakeState = field(default_factory=WakeState)
    """What `duetime.jobs.maintain` last set on EventBridge for it."""
    registered_by: str = ""
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
    def stacked(self) -> CadenceSet:
        """Its cadences, read as one."""
        return CadenceSet.of(self.definition.cadences, self.anchor)

    @property
    def is_paused(self) -> bool:
        """Whether all of it is paused."""
        return WHOLE_JOB in self.pauses

    @property
    def is_live(self) -> bool:
        """Whether its occurrences are planned and run."""
        return not self.is_paused and self.removed_at is None

    def holds_key(self, key: str | None, now: datetime) -> bool:
        """Whether `key` is that of its last registration, and its time has not passed."""
        until = self.idempotency_until
        return key is not None and key == self.idempotency_key and until is not None and now < until

    def pause_of(self, cadence: str | None) -> Pause | None:
        """The pause that holds a cadence, its own or the whole job's."""
        return self.pauses.get(WHOLE_JOB) or (self.pauses.get(cadence) if cadence else None)

    def policy_for(self, cadence: str | None, handlers: RetryPolicy) -> RetryPolicy:
        """The retry policy of a run: its cadence's tuning over the job's, over the definition's or the handler's."""
        said = self.definition.retry
        policy = handlers if said is None else RetryPolicy.parse(said)
        for name in (WHOLE_JOB, cadence or WHOLE_JOB):
            if name in self.tuning:
                policy = self.tuning[name].applied(policy)
        return policy

    def end_of(self, version: int) -> datetime | None:
        """When a version ended; None for the one in force. One so old that it is not kept ended before this one began."""
        return None if version == self.version else self.ends.get(version, self.since)


def attend_shard_of(ref: JobRef) -> str:
    """Which partition of the index of jobs to attend to it is in."""
    return ids.SHARDS[sum(ref.name.encode()) % ATTEND_SHARDS]


ATTEND_SHARDS = 4
"""Partitions of that index: a constant of the format."""
