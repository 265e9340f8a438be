"""*Attend* to a job: end a pause that is over, plan, and have EventBridge wake it as its row says.

The sweep does it for each job whose `attend_at` has come: because something was changed, because a pause ends, or because two wakes in a
row were lost. So what callers change needs the tables alone; EventBridge follows within a minute, and what it
wakes meanwhile is judged by the row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime.clock import Clock
from duetime.errors import BackendUnavailable
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT
from duetime.job import WHOLE_JOB, Job, JobRef, Pause, Span, SpanKind
from duetime.job_ports import JobStore, JobWake, JobWakes
from duetime.plan import STALE, Plan, Planned, attend_at_of
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence.triggers import OnEvent

_RACES = 5
_NAME_LIMIT = 64
_ROOM = 4
"""Characters of a name that are kept for the number of a job's further wakes."""


class Attend:
    """Looks after one job at a time."""

    def __init__(
        self, plan: Plan, jobs: JobStore, wakes: JobWakes, *, clock: Clock, settings: Settings
    ) -> None:
        self._plan, self._jobs, self._wakes = plan, jobs, wakes
        self._clock, self._settings = clock, settings

    def __call__(self, ref: JobRef) -> Planned:
        """Do what there is to do; nothing for a job that nobody knows.

        Raises:
            BackendUnavailable: something is left to do; the next pass does it.
        """
        self._end_pauses(ref)
        planned = self._plan(ref)
        self._set_wakes(ref)
        return planned

    def _end_pauses(self, ref: JobRef) -> None:
        for _ in range(_RACES):
            job, now = self._jobs.get(ref), self._clock.now()
            over = [] if job is None else [name for name, each in job.pauses.items() if each.is_over(now)]
            if job is None or not over:
                return
            if self._plan(ref).made:
                continue  # what was due before the pause is planned first
            after, spans = resumed(job, over, now)
            if self._jobs.change(job, after, spans=spans):
                return
        raise BackendUnavailable("the jobs table", f"job {ref.name} kept changing")

    def _set_wakes(self, ref: JobRef) -> None:
        for _ in range(_RACES):
            job = self._jobs.get(ref)
            if job is None or not job.wakes.startswith(STALE):
                return
            wanted = tuple(wakes_of(job, self._clock.now(), self._settings))
            for wake in wanted:
                self._wakes.put(wake)
            for kind, name in _former(job, self._settings):
                if (kind, name) not in {(each.kind, each.name) for each in wanted}:
                    self._wakes.remove(kind, name)
            settled = replace(job, wakes=short_of(wanted))
            if self._jobs.change(job, replace(settled, attend_at=attend_at_of(settled, settled.cursor))):
                return
        raise BackendUnavailable("the jobs table", f"job {ref.name} kept changing")


def changed(job: Job, now: datetime) -> Job:
    """The job with its wakes to be set again: the next sweep attends to it."""
    return replace(job, wakes=STALE + job.wakes.removeprefix(STALE), attend_at=now)


def resumed(job: Job, pauses: Sequence[str], now: datetime) -> tuple[Job, tuple[Span, ...]]:
    """The job without these pauses, its cursor back at their end, and the spans that explain what was not planned."""
    ended = {name: min(now, job.pauses[name].until or now) for name in pauses}
    spans = [_span_of(name, job.pauses[name], end) for name, end in ended.items()]
    cursor = min([job.cursor, *ended.values()])
    if (whole := job.pauses.get(WHOLE_JOB)) and WHOLE_JOB in ended:
        cursor = ended[WHOLE_JOB]
        if job.cursor < whole.since:
            spans.append(Span(kind=SpanKind.MISSED, start=job.cursor, end=whole.since, by=whole.by))
    left = {name: each for name, each in job.pauses.items() if name not in ended}
    return changed(replace(job, pauses=left, cursor=max(cursor, job.since)), now), tuple(spans)


def _span_of(cadence: str, pause: Pause, end: datetime) -> Span:
    return Span(
        kind=SpanKind.PAUSED,
        start=pause.since,
        end=end,
        cadence=cadence,
        by=pause.by,
        reason=pause.reason,
    )


def wakes_of(job: Job, now: datetime, settings: Settings) -> Iterator[JobWake]:
    """What EventBridge should have for a job: a schedule for each of its wakes, a rule for each of its triggers.

    A paused job's schedules are disabled; its rules are not: an event is no wake, and is recorded as skipped.
    """
    if job.dropped_at is not None or job.definition.runs_itself:
        return
    told = job.definition.title or job.name
    coming = [each for each in job.stacked.wakes if each.parsed().next_after(now) is not None]
    for place, each in enumerate(coming):
        yield JobWake(
            kind="schedule",
            name=name_of(job.ref, place, settings),
            ref=job.ref,
            description=f"duetime: wakes {told}, {' and '.join(job.definition.cadences)}"[:500],
            is_enabled=not job.is_paused,
            expression=each.expression,
            tz=each.tz,
        )
    for place, trigger in enumerate(job.stacked.triggers):
        yield JobWake(
            kind="rule",
            name=name_of(job.ref, place, settings),
            ref=job.ref,
            description=f"duetime: starts {told} {trigger.describe()}"[:500],
            is_enabled=True,
            cadence=trigger.name,
            pattern=_pattern_of(trigger, settings),
        )


def _pattern_of(trigger: OnEvent, settings: Settings) -> dict[str, Any]:
    """Of duetime's own events those of this deployment: several may share a bus."""
    pattern = trigger.pattern()
    if trigger.source != EVENT_SOURCE:
        return pattern
    return pattern | {"detail": {**pattern.get("detail", {}), "deployment": [settings.prefix]}}


def short_of(wakes: tuple[JobWake, ...]) -> str:
    """What a job's row keeps of them: how many schedules, how many rules, and a hash of all they say."""
    kinds = [each.kind for each in wakes]
    said = [
        [each.kind, each.name, each.is_enabled, each.expression, each.tz, each.pattern, each.description]
        for each in wakes
    ]
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]
    return f"{kinds.count('schedule')} {kinds.count('rule')} {digest}" if wakes else ""


def _former(job: Job, settings: Settings) -> Iterator[tuple[str, str]]:
    """Kind and name of what was last set for the job."""
    counts = job.wakes.removeprefix(STALE).split()[:2]
    for kind, count in zip(("schedule", "rule"), counts, strict=False):
        for place in range(int(count)):
            yield kind, name_of(job.ref, place, settings)


def name_of(ref: JobRef, place: int, settings: Settings) -> str:
    """What a job's wake is called: as the job, so that it is found in the console; the second ends with ``.2``."""
    base = base_of(ref, settings)
    return base if not place else f"{base}.{place + 1}"


def base_of(ref: JobRef, settings: Settings) -> str:
    """The job's name, after its tenant's where it is not code's; its end is a hash where EventBridge allows no more."""
    plain = ref.name if ref.tenant_id == SYSTEM_TENANT else f"{ref.tenant_id}.{ref.name}"
    limit = _NAME_LIMIT - _ROOM - len(settings.prefix)
    if len(plain) <= limit and _is_sayable(plain):
        return plain
    digest = sha256(f"{ref.tenant_id}#{ref.name}".encode()).hexdigest()[:10]
    return f"{ref.name[: limit - len(digest) - 1]}_{digest}"


def _is_sayable(name: str) -> bool:
    return name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
