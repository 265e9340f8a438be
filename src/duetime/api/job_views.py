"""What a client gets of jobs: their JSON, made here and nowhere else. Instants are as in `views`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import Any, Self

from pydantic import BaseModel

from duetime.account import Account, Accounted
from duetime.api.coming import coming
from duetime.api.views import Instant
from duetime.cadence import Cadence, Explained
from duetime.job import WHOLE_JOB, Job, Origin, Overlap, Pause, Precision
from duetime.retry import RetryPolicy, Tuning
from duetime.stacked import Due
from duetime.tally import Tally

SHOWN_RUNS = 3
"""How many of the next runs a job tells."""


class PauseView(BaseModel):
    """A pause that lasts."""

    since: Instant
    by: str
    reason: str
    until: Instant | None
    """When it ends by itself."""

    @classmethod
    def of(cls, pause: Pause | None) -> Self | None:
        """The pause as a client sees it."""
        return None if pause is None else cls(**asdict(pause))


class CadenceView(BaseModel):
    """One cadence of a job."""

    name: str
    text: str
    words: str
    paused: PauseView | None
    """Of this cadence alone; the whole job's pause is told on the job."""

    @classmethod
    def of(cls, cadence: Cadence, job: Job) -> Self:
        """The cadence as a client sees it."""
        pause = PauseView.of(job.pauses.get(cadence.name))
        return cls(name=cadence.name, text=cadence.text, words=cadence.describe(), paused=pause)


class NextRunView(BaseModel):
    """A nominal time to come, and which cadences have it."""

    at: Instant
    cadences: list[str]


class LastRunView(BaseModel):
    """The run that ended last."""

    id: str | None
    status: str | None
    started_at: Instant

    @classmethod
    def of(cls, tally: Tally) -> Self | None:
        """The last run, if there was one."""
        if tally.last_started_at is None:
            return None
        return cls(id=tally.last_id, status=tally.last_status, started_at=tally.last_started_at)


class RetryView(BaseModel):
    """A retry policy; spans are in seconds."""

    attempts: int
    backoff: list[float]
    jitter: float
    give_up_after: float | None

    @classmethod
    def of(cls, policy: RetryPolicy) -> Self:
        """The policy as a client sees it."""
        return cls(
            attempts=policy.attempts,
            backoff=[each.total_seconds() for each in policy.backoff],
            jitter=policy.jitter,
            give_up_after=None if policy.give_up_after is None else policy.give_up_after.total_seconds(),
        )


class TuningView(BaseModel):
    """What operators set on top of the retry policy; null leaves the policy's."""

    cadence: str | None
    """The one cadence that it is for; null for the whole job."""
    attempts: int | None
    backoff: list[float] | None
    jitter: float | None

    @classmethod
    def of(cls, cadence: str, tuning: Tuning) -> Self:
        """The settings as a client sees them."""
        return cls(cadence=None if cadence == WHOLE_JOB else cadence, **asdict(tuning))


class TallyView(BaseModel):
    """What the job's row tells of its runs."""

    executed: int
    failed: int
    consecutive_failures: int
    last_error: str | None
    triggered_by: str | None

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """The tally as a client sees it."""
        return cls(**{name: getattr(tally, name) for name in cls.model_fields})


class JobSummary(BaseModel):
    """A job in a list."""

    name: str
    type: str
    title: str
    category: str
    tenant_id: str
    origin: Origin
    version: int
    cadences: list[CadenceView]
    enabled: bool
    """Whether it is declared; what code or its registration takes back is kept, and runs no more."""
    paused: PauseView | None
    running: str | None
    """The action that holds the job's lock."""
    next_due_at: Instant | None
    last_run: LastRunView | None
    consecutive_failures: int

    @classmethod
    def of(cls, job: Job, now: datetime) -> Self:
        """The job as a client sees it in a list."""
        return cls(**_summary(job, next(coming(job, now), None)))


def _summary(job: Job, following: Due | None) -> dict[str, Any]:
    definition = job.definition
    return {
        "name": job.name,
        "type": definition.type,
        "title": definition.title,
        "category": definition.category,
        "tenant_id": job.ref.tenant_id,
        "origin": job.origin,
        "version": job.version,
        "cadences": [CadenceView.of(each, job) for each in job.stacked.cadences],
        "enabled": job.dropped_at is None,
        "paused": PauseView.of(job.pauses.get(WHOLE_JOB)),
        "running": job.running.id if job.running else None,
        "next_due_at": following.at if following else None,
        "last_run": LastRunView.of(job.tally),
        "consecutive_failures": job.tally.consecutive_failures,
    }


class JobView(JobSummary):
    """A job in full."""

    description: str
    payload: Any
    """What each run is given; null if that is nothing."""
    retry: RetryView | None
    """Null where the handler's own policy applies."""
    overlap: Overlap
    catch_up: int
    precision: Precision
    failure_threshold: int
    worker: str
    since: Instant
    """When this version came into force."""
    disabled_at: Instant | None
    registered_by: str
    waiting: str | None
    """The action that waits for the running one's end."""
    tally: TallyView
    tuning: list[TuningView]
    next_runs: list[NextRunView]

    @classmethod
    def of(cls, job: Job, now: datetime, skipped: Sequence[datetime] = ()) -> Self:
        """The job as a client sees it; `skipped` are times to come that somebody had skipped."""
        return cls(**_whole(job, now, skipped))


def _whole(job: Job, now: datetime, skipped: Sequence[datetime]) -> dict[str, Any]:
    definition = job.definition
    following = list(islice((due for due in coming(job, now) if due.at not in skipped), SHOWN_RUNS))
    return {
        **_summary(job, following[0] if following else None),
        "description": definition.description,
        "payload": None if definition.payload is None else json.loads(definition.payload),
        "retry": None if definition.retry is None else RetryView.of(RetryPolicy.parse(definition.retry)),
        "overlap": definition.overlap,
        "catch_up": definition.catch_up,
        "precision": definition.precision,
        "failure_threshold": definition.failure_threshold,
        "worker": definition.worker,
        "since": job.since,
        "disabled_at": job.dropped_at,
        "registered_by": job.registered_by,
        "waiting": job.waiting.id if job.waiting else None,
        "tally": TallyView.of(job.tally),
        "tuning": [TuningView.of(name, each) for name, each in sorted(job.tuning.items())],
        "next_runs": [NextRunView(at=each.at, cadences=list(each.cadences)) for each in following],
    }


class RegisteredView(JobView):
    """A job as it was registered."""

    run_id: str | None = None
    """The run that was triggered with it, if one was asked for."""


class JobPage(BaseModel):
    """A page of jobs; `next_cursor` is null on the last one."""

    items: list[JobSummary]
    next_cursor: str | None


class OccurrenceView(BaseModel):
    """One nominal time and what became of it; or several in a row, without runs, that share it."""

    at: Instant
    until: Instant | None
    """Of several: the last of them."""
    count: int | None
    """How many they are; null for more than were counted."""
    local: str
    """What the wall clock of the cadence's zone shows then."""
    tz: str
    cadences: list[str]
    version: int
    account: Account
    reason: str
    note: str
    action_id: str | None

    @classmethod
    def of(cls, each: Accounted) -> Self:
        """The account as a client sees it."""
        return cls(**asdict(each) | {"cadences": list(each.cadences), "local": each.local.isoformat()})


class OccurrencePage(BaseModel):
    """The accounts of a window, in order; `next_from` is null at its end, else where to go on."""

    items: list[OccurrenceView]
    next_from: Instant | None


class PreviewedView(BaseModel):
    """One occurrence of a cadence, or a gap of the clocks that swallowed some."""

    at: Instant | None
    local: str
    mark: str | None
    """What a change of the clocks did: ``moved``, ``skipped``, ``doubled`` or ``once``."""
    note: str

    @classmethod
    def of(cls, each: Explained) -> Self:
        """The occurrence as a client sees it."""
        return cls(at=each.at, local=each.local.isoformat(), mark=each.mark, note=each.words)


class PreviewView(BaseModel):
    """When a cadence is due."""

    cadence: str
    name: str
    words: str
    tz: str
    occurrences: list[PreviewedView]
    is_cut: bool
    """Whether there are more in what was asked for."""
