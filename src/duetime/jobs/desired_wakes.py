"""The schedules and rules that a job needs on EventBridge, and their names. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any

from duetime.cadence.triggers import OnEvent
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT
from duetime.jobs.event_owners import owned_pattern
from duetime.model.job import Job, JobRef
from duetime.model.wake_state import WakeState
from duetime.ports.jobs import JobWake
from duetime.settings import Settings

_NAME_LIMIT = 64
# Characters at the end of a name for the number of a job's further wakes.
_ROOM = 4


def wakes_of(job: Job, now: datetime, settings: Settings) -> Iterator[JobWake]:
    """Return the wakes of a job: a schedule for each wake expression, a rule for each trigger.

    A paused job's schedules are disabled. Its rules are not, since an event during a pause is recorded as
    skipped.
    """
    if job.removed_at is not None or job.definition.self_scheduled:
        return
    title = job.definition.title or job.name
    upcoming = [wake for wake in job.cadence_set.wakes if wake.next_after(now) is not None]
    for index, wake in enumerate(upcoming):
        yield JobWake(
            kind="schedule",
            name=name_of(job.ref, index, settings),
            ref=job.ref,
            description=f"duetime: wakes {title}, {' and '.join(job.definition.cadences)}"[:500],
            is_enabled=not job.is_paused,
            expression=wake.expression,
            tz=wake.tz,
        )
    patterns = [(trigger, _pattern_of(trigger, job.ref, settings)) for trigger in job.cadence_set.triggers]
    for index, (trigger, pattern) in enumerate(one for one in patterns if one[1] is not None):
        yield JobWake(
            kind="rule",
            name=name_of(job.ref, index, settings),
            ref=job.ref,
            description=f"duetime: starts {title} {trigger.describe()}"[:500],
            is_enabled=True,
            cadence=trigger.name,
            pattern=pattern,
        )


def _pattern_of(trigger: OnEvent, ref: JobRef, settings: Settings) -> dict[str, Any] | None:
    """Return the pattern of a trigger's rule; None if a tenant's job may get no events of this source.

    Of duetime's own events, it matches this deployment's: several may share a bus.
    """
    is_codes = ref.tenant_id == SYSTEM_TENANT
    pattern = trigger.pattern() if is_codes else owned_pattern(trigger, ref.tenant_id, settings)
    if trigger.source != EVENT_SOURCE or pattern is None:
        return pattern
    return pattern | {"detail": {**pattern.get("detail", {}), "deployment": [settings.prefix]}}


def state_of(wakes: tuple[JobWake, ...]) -> WakeState:
    """Return what a job's row stores of its wakes: the counts and a hash of their content."""
    kinds = [wake.kind for wake in wakes]
    content = [
        [wake.kind, wake.name, wake.is_enabled, wake.expression, wake.tz, wake.pattern, wake.description]
        for wake in wakes
    ]
    digest = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
    return WakeState(kinds.count("schedule"), kinds.count("rule"), digest) if wakes else WakeState()


def previous_wakes(job: Job, settings: Settings) -> Iterator[tuple[str, str]]:
    """Return kind and name of each wake that was last set for the job."""
    for kind, count in (("schedule", job.wakes.schedules), ("rule", job.wakes.rules)):
        for index in range(count):
            yield kind, name_of(job.ref, index, settings)


def name_of(ref: JobRef, index: int, settings: Settings) -> str:
    """Return the name of a job's wake.

    The job's name, as shown in the AWS console; the second ends with ``.2``.
    """
    base = base_of(ref, settings)
    return base if not index else f"{base}.{index + 1}"


def base_of(ref: JobRef, settings: Settings) -> str:
    """Return the name of a job's first wake.

    A tenant's own job has the tenant's name in front. A name too long for EventBridge ends with a hash.
    """
    plain = ref.name if ref.tenant_id == SYSTEM_TENANT else f"{ref.tenant_id}.{ref.name}"
    limit = _NAME_LIMIT - _ROOM - len(settings.prefix)
    if len(plain) <= limit and re.fullmatch(r"[A-Za-z0-9._-]+", plain):
        return plain
    digest = sha256(f"{ref.tenant_id}#{ref.name}".encode()).hexdigest()[:10]
    return f"{ref.name[: limit - len(digest) - 1]}_{digest}"
