"""Who owns the events of a source: the deployment decides it, not the tenant who registers a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from duetime.ids import EVENT_SOURCE, TenantId
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence.triggers import OnEvent

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
