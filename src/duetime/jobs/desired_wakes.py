"""The schedules and rules that a job needs on EventBridge, and their names. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime.cadence.triggers import OnEvent
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, TenantId
from duetime.model.job import Job, JobRef
from duetime.model.wake_state import WakeState
from duetime.ports.jobs import JobWake
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence.triggers import OnEvent

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


_OWN = "detail.tenant_id"
"""The path of the tenant in duetime's own events."""


def tenant_path(source: str, tenant_id: TenantId, settings: Settings) -> str | None:
    """Return where the events of a source name their tenant.

    It is empty if all events are this tenant's, and None if the deployment does not declare the source.
    """
    if source == EVENT_SOURCE:
        return _OWN
    return settings.event_sources.get(source, "" if tenant_id == settings.sole_tenant else None)


def is_owner(tenant_id: TenantId, trigger: OnEvent, event: Mapping[str, Any], settings: Settings) -> bool:
    """Return whether an event is of the tenant who registered a job."""
    path = tenant_path(str(event.get("source")), tenant_id, settings)
    found: Any = event
    for key in path.split(".") if path else ():
        found = found.get(key) if isinstance(found, Mapping) else None
    return event.get("source") == trigger.source and (path == "" or (path is not None and found == tenant_id))


def owned_pattern(trigger: OnEvent, tenant_id: TenantId, settings: Settings) -> dict[str, Any] | None:
    """Return the event pattern of a registered job's rule, with its tenant; None if it may get no events."""
    path, pattern = tenant_path(trigger.source, tenant_id, settings), trigger.pattern()
    if path is None:
        return None
    if not path:
        return pattern
    inner, *outer = reversed(path.split("."))
    node = pattern
    for key in reversed(outer):
        node = node.setdefault(key, {})
        if not isinstance(node, dict):
            return None
    return pattern if node.setdefault(inner, [tenant_id]) == [tenant_id] else None


def problems_of(trigger: OnEvent, tenant_id: TenantId, settings: Settings) -> Iterator[str]:
    """Yield the reasons why a tenant may not register a job for a trigger."""
    from duetime.model.event_pattern_rules import problems_of as pattern_problems  # noqa: PLC0415 - few jobs need it

    path = tenant_path(trigger.source, tenant_id, settings)
    if trigger.tenant:
        yield "tenant is given; remove it: the deployment's setting event_sources names the tenant's field"
    elif path is None:
        yield (
            f"the source {trigger.source!r} is not in the setting event_sources, so its events may be another"
            f" tenant's; have the operator add {{{trigger.source!r}: 'detail.tenant_id'}}, or set tenants to"
            f" {tenant_id!r} if there is no other tenant"
        )
    elif owned_pattern(trigger, tenant_id, settings) is None:
        yield f"match has {path}, which names the event's tenant; leave it out: yours is matched anyway"
    elif not pattern_problems(trigger.pattern()):
        yield from pattern_problems(owned_pattern(trigger, tenant_id, settings) or {})
