"""What a job wants of EventBridge: its schedules and rules, what they are called, and how its row keeps them in short. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT
from duetime.jobs.plan import STALE
from duetime.model.job import Job, JobRef
from duetime.ports.jobs import JobWake
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence.triggers import OnEvent

_NAME_LIMIT = 64
_ROOM = 4
"""Characters of a name that are kept for the number of a job's further wakes."""


def wakes_of(job: Job, now: datetime, settings: Settings) -> Iterator[JobWake]:
    """What EventBridge should have for a job: a schedule for each of its wakes, a rule for each of its triggers.

    A paused job's schedules are disabled; its rules are not: an event is no wake, and is recorded as skipped.
    """
    if job.removed_at is not None or job.definition.self_scheduled:
        return
    told = job.definition.title or job.name
    coming = [wake for wake in job.stacked.wakes if wake.next_after(now) is not None]
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
    kinds = [wake.kind for wake in wakes]
    said = [
        [wake.kind, wake.name, wake.is_enabled, wake.expression, wake.tz, wake.pattern, wake.description]
        for wake in wakes
    ]
    digest = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]
    return f"{kinds.count('schedule')} {kinds.count('rule')} {digest}" if wakes else ""


def former_wakes(job: Job, settings: Settings) -> Iterator[tuple[str, str]]:
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
