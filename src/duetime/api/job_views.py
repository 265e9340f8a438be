"""The JSON views of jobs. Instants are as in `views`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import Any, Self

from duetime.api.api_model import ApiModel
from duetime.api.job_option_views import JobOptionsView, option_fields
from duetime.api.job_prices import JobPrice, price_of
from duetime.api.time_views import LastRunView, NextRunView, RecentRunView
from duetime.api.views import Instant, View
from duetime.jobs.upcoming import upcoming
from duetime.model.action import Action
from duetime.model.cadence_set import DueTime
from duetime.model.deadline import deadline_of
from duetime.model.job import WHOLE_JOB, Job, Origin
from duetime.model.redaction import Redacted

SHOWN_RUNS = 3
"""The number of next runs in a job's view."""


class PausePartView(View):
    """One of several pauses of a job or a cadence."""

    since: Instant
    """When it began."""
    by: str
    """Who paused it."""
    reason: str
    """Why; may be empty."""
    until: Instant | None
    """When it ends by itself."""


class PauseView(PausePartView):
    """A pause that lasts: of several, from the first begin to the last end."""

    parts: list[PausePartView]
    """If several were begun, each of them; otherwise none."""


class CadenceView(ApiModel):
    """One cadence of a job."""

    name: str
    """Its name within the job."""
    text: str
    """As it is declared: ``daily 02:30 tz=Europe/Paris``."""
    words: str
    """The same as a sentence."""
    paused: PauseView | None
    """Of this cadence alone; the job has the pause of all its cadences."""


class TuningView(ApiModel):
    """What operators set on top of the retry policy; null leaves the policy's."""

    cadence: str | None
    """The one cadence that it is for; null for the whole job."""
    attempts: int | None
    """Runs in all."""
    backoff: list[float] | None
    """Seconds before each further run; the last one repeats."""
    jitter: float | None
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""


class RunStatsView(View):
    """The counts in the job's row."""

    executed: int
    """Runs that succeeded."""
    failed: int
    """Runs that ended as failed, redriven ones included."""
    consecutive_failures: int
    """Since the last success."""
    last_error: str | None
    """In at most 500 characters; it stays until the next failure."""
    triggered_by: str | None
    """Who triggered a run last."""


class JobSummary(ApiModel):
    """A job in a list."""

    name: str
    """Two or more kebab-case segments."""
    type: str
    """The payload type, whose handler runs it."""
    title: str
    """Its name for people; may be empty."""
    category: str
    """What lists may group it by; may be empty."""
    tenant_id: str
    """The tenant that owns it; ``system`` for code's."""
    origin: Origin
    """Who declared it."""
    version: int
    """Counts changes of its schedule; each occurrence is of one."""
    cadences: list[CadenceView]
    """When it runs."""
    after: str | None
    """The job whose run of the same nominal day must have succeeded before a run begins; null without one."""
    enabled: bool
    """Whether it is declared; what code or its registration takes back is kept, and runs no more."""
    paused: PauseView | None
    """The whole job's pause; null while it is not paused."""
    running: str | None
    """The action that holds the job's lock."""
    next_due_at: Instant | None
    """The next nominal time; null if there is none."""
    last_run: LastRunView | None
    """The run that was counted last; null before the first. Of event-triggered runs, failures alone are
    counted."""
    consecutive_failures: int
    """Since the last success."""
    recent_runs: list[RecentRunView] | None
    """The last of its runs, newest first, without those to come; null without the parameter `runs`."""
    runs_per_day: float | None
    """On average over a year, pauses aside; null if only events or callers start it, if it is removed or
    duetime's own, and in a list without `prices`."""
    dollars_per_month: float | None
    """What its runs cost, by a dated list of AWS' prices, without free tiers; null as above."""

    @classmethod
    def from_job(
        cls,
        job: Job,
        now: datetime,
        recent: Iterable[Action] | None = None,
        price: JobPrice | None = None,
    ) -> Self:
        """Return the view of the job in a list."""
        runs = None if recent is None else [RecentRunView.from_action(job) for job in recent]
        summary = _summary(job, next(upcoming(job, now), None), price)
        return cls(**summary | {"recent_runs": runs})


def _summary(job: Job, following: DueTime | None, price: JobPrice | None) -> dict[str, Any]:
    definition, tally = job.definition, job.tally
    return {
        "name": job.name,
        "type": definition.type,
        "title": definition.title,
        "category": definition.category,
        "tenant_id": job.ref.tenant_id,
        "origin": job.origin,
        "version": job.version,
        "cadences": [
            {
                "name": cadence.name,
                "text": cadence.text,
                "words": cadence.describe(),
                "paused": job.pauses.get(cadence.name),
            }
            for cadence in job.cadence_set.cadences
        ],
        "after": definition.after,
        "enabled": job.removed_at is None,
        "paused": job.pauses.get(WHOLE_JOB),
        "running": job.running.id if job.running else None,
        "next_due_at": following.at if following else None,
        "last_run": None
        if tally.last_started_at is None
        else {"id": tally.last_id, "status": tally.last_status, "started_at": tally.last_started_at},
        "consecutive_failures": tally.consecutive_failures,
        "recent_runs": None,
        "runs_per_day": price.runs_per_day if price else None,
        "dollars_per_month": price.dollars_per_month if price else None,
    }


class JobView(JobOptionsView, JobSummary):
    """A job in full."""

    after_timeout: int | None
    """Seconds for which a run waits for it, and is then skipped; null without `after`."""
    worker: str
    """The worker whose manifest declares it."""
    since: Instant
    """When this version came into force."""
    disabled_at: Instant | None
    """When code or its registration took it back."""
    registered_by: str
    """Who declared it."""
    waiting: str | None
    """The action that waits for the running one's end."""
    tally: RunStatsView
    """What became of its runs."""
    tuning: list[TuningView]
    """What operators set: for the whole job, and for its cadences."""
    next_runs: list[NextRunView]
    """The next three at most; none while it is paused for good."""

    @classmethod
    def in_full(
        cls, job: Job, now: datetime, skipped: Sequence[datetime], redacted_payload: Redacted
    ) -> Self:
        """The job as a client sees it.

        Args:
            job: the job.
            now: the present.
            skipped: upcoming times that were skipped on request.
            redacted_payload: its payload as the caller may see it.
        """
        return cls(**option_fields(job.definition, redacted_payload) | _fields(job, now, skipped))


def _fields(job: Job, now: datetime, skipped: Sequence[datetime]) -> dict[str, Any]:
    definition = job.definition
    following = list(islice((due for due in upcoming(job, now) if due.at not in skipped), SHOWN_RUNS))
    return {
        **_summary(job, following[0] if following else None, price_of(job, now)),
        "after_timeout": None if definition.after is None else definition.waits_at_most,
        "worker": definition.worker,
        "since": job.since,
        "disabled_at": job.removed_at,
        "registered_by": job.registered_by,
        "waiting": job.waiting.id if job.waiting else None,
        "tally": job.tally,
        "tuning": [
            {"cadence": None if name == WHOLE_JOB else name, **asdict(tuning)}
            for name, tuning in sorted(job.tuning.items())
        ],
        "next_runs": [
            {"at": due.at, "cadences": due.cadences, "deadline_at": deadline_of(job, due)}
            for due in following
        ],
    }


class RegisteredView(JobView):
    """A job as it was registered."""

    run_id: str | None = None
    """The run that was triggered with it, if one was requested."""


class JobPageView(ApiModel):
    """A page of jobs; `next_cursor` is null on the last one."""

    items: list[JobSummary]
    """At most `limit`, by name."""
    next_cursor: str | None
    """The cursor of the next page; null on the last one."""
    compared: int | None = None
    """How many jobs were compared with `q` and `state`, one by one; null without these."""
