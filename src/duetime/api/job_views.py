"""The JSON views of jobs and of their runs, with the price of a job. Instants are as in `views`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, Self

from duetime.api.views import Instant, View, payload_fields, shows
from duetime.declare.timed_cadences import has_times
from duetime.instant import floor
from duetime.jobs.upcoming import upcoming
from duetime.model.action import Action
from duetime.model.built_in import RESERVED
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.deadline import deadline_of
from duetime.model.job import WHOLE_JOB, Definition, Job, Pause
from duetime.model.redaction import Redacted
from duetime.model.run_stats import RunStats
from duetime.retry import RetryPolicy, Tuning

_YEAR, _DAY = timedelta(days=365), timedelta(days=1)
_MOST = 1_000
"""The most runs from which the runs a day are computed."""

_KNOWN = 5_000
"""How many cadences' frequencies a process of the API remembers."""


@dataclass(frozen=True, slots=True)
class JobPrice:
    """How often a job runs, and what that costs; None if only events or callers start it.

    Attributes:
        runs_per_day: on average over a year, pauses aside; None if only events or callers start it, if it is
            removed or duetime's own, and in a list without `prices`.
        dollars_per_month: what its runs cost, by a dated list of AWS' prices, without free tiers; None as
            above.
    """

    runs_per_day: float | None
    dollars_per_month: float | None


NO_PRICE = JobPrice(None, None)


def price_of(job: Job, now: datetime) -> JobPrice:
    """Return the price of a job, as if it were not paused; none of a removed one, or of duetime's own."""
    is_priced = job.removed_at is None and not job.name.startswith(RESERVED)
    runs = None if not is_priced else _runs_per_day(job.cadence_set, floor(now, _DAY))
    if runs is None:
        return NO_PRICE
    return JobPrice(runs, _dollars(runs, len((job.definition.payload or "").encode())))


@lru_cache(_KNOWN)
def _runs_per_day(cadences: CadenceSet, day: datetime) -> float | None:
    """Return the average over a year, or over the first runs if it has many; None without times."""
    if not has_times(cadences.cadences):
        return None
    times = [due.at for due in islice(cadences.between(day, day + _YEAR), _MOST)]
    if len(times) < _MOST:
        return len(times) / (_YEAR / _DAY)
    return (_MOST - 1) / ((times[-1] - times[0]) / _DAY)


@lru_cache(_KNOWN)
def _dollars(runs_per_day: float, payload_bytes: int) -> float:
    from duetime.cost.estimate import dollars_of_job  # noqa: PLC0415 - most routes need no prices

    return dollars_of_job(runs_per_day, payload_bytes)


SHOWN_RUNS = 3
"""The number of next runs in a job's view."""


@shows(Pause, "since by reason until")
class PausePartView(View):
    """One of several pauses of a job or a cadence."""


class PauseView(PausePartView):
    """A pause that lasts: of several, from the first begin to the last end."""

    parts: list[PausePartView]
    """If several were begun, each of them; otherwise none."""


class CadenceView(View):
    """One cadence of a job."""

    name: str
    """Its name within the job."""
    text: str
    """As it is declared: ``daily 02:30 tz=Europe/Paris``."""
    words: str
    """The same as a sentence."""
    paused: PauseView | None
    """Of this cadence alone; the job has the pause of all its cadences."""


@shows(Tuning, "attempts backoff jitter")
class TuningView(View):
    """What operators set on top of the retry policy; null leaves the policy's."""

    cadence: str | None
    """The one cadence that it is for; null for the whole job."""


@shows(RunStats, "executed failed consecutive_failures last_error triggered_by")
class RunStatsView(View):
    """The counts in the job's row."""


class NextRunView(View):
    """A nominal time to come, and which cadences have it."""

    at: Instant
    """The nominal time."""
    cadences: list[str]
    """Their names."""
    deadline_at: Instant | None = None
    """By when it must have succeeded; null without a deadline."""


class LastRunView(View):
    """The run that ended last."""

    id: str | None
    """The action."""
    status: str | None
    """How it ended."""
    started_at: Instant
    """When it began."""


@shows(Action, "id status trigger nominal_at is_retrying")
class RecentRunView(View):
    """One of a job's last runs, in few words."""

    started_at: Instant | None
    """When its last attempt began; null before the first."""
    finished_at: Instant | None
    """When that ended; null while it runs."""
    attempts: int
    """How many it has had."""


class RetryView(View):
    """A retry policy; spans are in seconds."""

    attempts: int
    """Runs in all."""
    backoff: list[float]
    """Before each further run; the last one repeats."""
    jitter: float
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""
    give_up_after: float | None
    """After this long since it was first due no further run is started; null: never."""


@shows(
    Definition,
    "overlap catch_up precision failure_threshold deadline within every_success_within after description",
)
class JobOptionsView(View):
    """The options of a job."""

    payload: Any
    """The payload of each run, or null. Sensitive values are `[redacted]` without `payloads:read`."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""
    retry: RetryView | None
    """Null where the handler's own policy applies."""


@shows(JobPrice, "runs_per_day dollars_per_month")
@shows(Job, "name origin version")
@shows(Definition, "type title category after")
class JobSummary(View):
    """A job in a list."""

    tenant_id: str
    """The tenant that owns it; ``system`` for code's."""
    cadences: list[CadenceView]
    """When it runs."""
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

    @classmethod
    def in_list(
        cls, job: Job, now: datetime, recent: Iterable[Action] | None = None, price: JobPrice = NO_PRICE
    ) -> Self:
        """Return the view of the job in a list."""
        runs = None if recent is None else [_recent_view(run) for run in recent]
        following = next(upcoming(job, now), None)
        return cls.of(*_parts(job, price), **_summary(job, following), recent_runs=runs)


def _recent_view(run: Action) -> RecentRunView:
    last = run.attempts[-1] if run.attempts else None
    started_at, finished_at = (last.started_at, last.finished_at) if last else (None, None)
    return RecentRunView.of(run, started_at=started_at, finished_at=finished_at, attempts=run.attempt)


def _parts(job: Job, price: JobPrice) -> tuple[object, ...]:
    """Return the things whose attributes the views of a job show."""
    return job, job.definition, job.ref, job.tally, price


def _summary(job: Job, following: DueTime | None) -> dict[str, Any]:
    tally = job.tally
    return {
        "cadences": [
            CadenceView.of(cadence, words=cadence.describe(), paused=job.pauses.get(cadence.name))
            for cadence in job.cadence_set.cadences
        ],
        "enabled": job.removed_at is None,
        "paused": job.pauses.get(WHOLE_JOB),
        "running": job.running.id if job.running else None,
        "next_due_at": following.at if following else None,
        "last_run": None
        if tally.last_started_at is None
        else LastRunView(id=tally.last_id, status=tally.last_status, started_at=tally.last_started_at),
    }


@shows(Job, "since registered_by")
@shows(Definition, "worker")
class JobView(JobOptionsView, JobSummary):
    """A job in full."""

    after_timeout: int | None
    """Seconds for which a run waits for it, and is then skipped; null without `after`."""
    disabled_at: Instant | None
    """When code or its registration took it back."""
    waiting: str | None
    """The action that waits for the running one's end."""
    tally: RunStatsView
    """What became of its runs."""
    tuning: list[TuningView]
    """What operators set: for the whole job, and for its cadences."""
    next_runs: list[NextRunView]
    """The next three at most; none while it is paused for good."""

    @classmethod
    def in_full(cls, job: Job, now: datetime, skipped: Sequence[datetime], payload: Redacted) -> Self:
        """Return the full view of a job.

        Args:
            job: the job.
            now: the present.
            skipped: upcoming times that were skipped on request.
            payload: its payload as the caller may see it.
        """
        definition = job.definition
        following = list(islice((due for due in upcoming(job, now) if due.at not in skipped), SHOWN_RUNS))
        return cls.of(
            *_parts(job, price_of(job, now)),
            **_summary(job, following[0] if following else None),
            **option_fields(definition, payload),
            recent_runs=None,
            after_timeout=None if definition.after is None else definition.waits_at_most,
            disabled_at=job.removed_at,
            waiting=job.waiting.id if job.waiting else None,
            tuning=[
                TuningView.of(tuning, cadence=None if name == WHOLE_JOB else name)
                for name, tuning in sorted(job.tuning.items())
            ],
            next_runs=[NextRunView.of(due, deadline_at=deadline_of(job, due)) for due in following],
        )


def option_fields(definition: Definition, payload: Redacted) -> dict[str, Any]:
    """Return the computed fields of `JobOptionsView`: the payload as the caller may see it."""
    retry = definition.retry
    return {
        **payload_fields(payload),
        "retry": None if retry is None else _retry_view(RetryPolicy.parse(retry)),
    }


def _retry_view(policy: RetryPolicy) -> RetryView:
    longest = policy.give_up_after
    return RetryView.of(
        policy,
        backoff=[delay.total_seconds() for delay in policy.backoff],
        give_up_after=None if longest is None else longest.total_seconds(),
    )
