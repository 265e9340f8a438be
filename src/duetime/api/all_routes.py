"""All routes of the admin API, by the first segment of their paths.

A group's module is imported when a request first needs it: a cold start imports the routes of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module

from duetime.api.context import ApiContext
from duetime.api.route_ports import Access, Health
from duetime.api.routes import Route, RouteGroup

Load = Callable[[], Sequence[RouteGroup]]
"""Imports and returns the groups of some routes."""

_OF_CONTEXT: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("jobs",): (
        "background_jobs:BackgroundJobs",
        "coming_runs:ComingRuns",
        "job_search:JobCounts",
        "load_forecast:LoadForecastRoutes",
        "job_operations:JobOperationRoutes",
        "job_definitions:JobDefinitionRoutes",
        "job_drafts:JobDraftRoutes",
        "backfills:BackfillRoutes",
    ),
    ("summary",): ("summary:Summary",),
    ("pauses",): ("pauses:Pauses",),
    ("tenants", "quotas"): ("tenants:Tenants", "quotas:QuotaRoutes"),
    ("limits",): ("limits:Limits",),
    ("check-ins",): ("check_in:CheckInRoutes",),
    ("undelivered",): ("undelivered:UndeliveredRoutes",),
    ("notifications",): ("notifications:NotificationRoutes", "preferences:NotificationPreferences"),
    ("batches",): ("batches:BatchRoutes",),
    ("handovers",): ("hand_overs:HandOverRoutes",),
    ("search",): ("search:SearchRoutes",),
    ("reads",): ("reads:ReadRoutes",),
    ("openapi.json",): ("document_route:DocumentRoute",),
}
"""The groups that need no more than the context."""

_OF_ACTIONS = ("scheduling:Scheduling", "bulk_actions:BulkActionRoutes", "attempts:AttemptRoutes")


def groups_of(api: ApiContext, health: Health, access: Access) -> Mapping[tuple[str, ...], Load]:
    """Return what loads the groups of the routes, by the first segments of their paths under the prefix."""
    of_context = {segments: partial(_load, api, groups) for segments, groups in _OF_CONTEXT.items()}
    return {
        **of_context,
        ("actions", "dead-letters"): partial(_action_routes, api, access),
        ("me", "grants", "audit"): partial(_access_routes, access),
        ("health", "recount"): partial(_health_routes, health),
    }


def routes_of(api: ApiContext, health: Health, access: Access) -> Sequence[Route]:
    """Return all routes, under the prefix."""
    groups = [group for load in groups_of(api, health, access).values() for group in load()]
    return [route for group in groups for route in group.routes()]


def _load(api: ApiContext, names: Sequence[str]) -> Sequence[RouteGroup]:
    groups = []
    for module, _, group in (name.partition(":") for name in names):
        groups.append(getattr(import_module(f"duetime.api.{module}"), group)(api))
    return groups


def _action_routes(api: ApiContext, access: Access) -> Sequence[RouteGroup]:
    from duetime.api.approvals import ApprovalRoutes  # noqa: PLC0415 - at the first request for it

    return [*_load(api, _OF_ACTIONS), ApprovalRoutes(api, access)]


def _access_routes(access: Access) -> Sequence[RouteGroup]:
    from duetime.api.access import AccessRoutes  # noqa: PLC0415 - as above

    return [AccessRoutes(access.grants, access.trail, access.clock)]


def _health_routes(health: Health) -> Sequence[RouteGroup]:
    from duetime.api.health import HealthRoutes  # noqa: PLC0415 - as above
    from duetime.api.health_details import HealthDetailsRoutes  # noqa: PLC0415 - as above
    from duetime.api.recount import RecountRoutes  # noqa: PLC0415 - as above

    details = health.details
    probes = HealthRoutes(health.probes)
    if details is None:
        return [probes]
    return [
        probes,
        HealthDetailsRoutes(details.api, details.bookmarks, details.waiting, details.runbook),
        RecountRoutes(details.bookmarks),
    ]
