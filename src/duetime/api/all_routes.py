"""All routes of the admin API."""

from __future__ import annotations

from collections.abc import Sequence

from duetime.api.access import Access
from duetime.api.background_jobs import BackgroundJobs
from duetime.api.coming_runs import ComingRuns
from duetime.api.context import ApiContext
from duetime.api.document_route import DocumentRoute
from duetime.api.health import Health
from duetime.api.job_operations import JobOperationRoutes
from duetime.api.notifications import NotificationRoutes
from duetime.api.preferences import NotificationPreferences
from duetime.api.routes import Route
from duetime.api.scheduling import Scheduling
from duetime.api.summary import Summary
from duetime.api.tenants import Tenants
from duetime.api.undelivered import UndeliveredRoutes


def routes_of(api: ApiContext, health: Health, access: Access) -> Sequence[Route]:
    """Return all routes, under the prefix."""
    groups = (
        Scheduling(api),
        BackgroundJobs(api),
        ComingRuns(api),
        JobOperationRoutes(api),
        Summary(api),
        Tenants(api),
        UndeliveredRoutes(api),
        NotificationRoutes(api),
        NotificationPreferences(api),
        access,
        health,
        *([health.details] if health.details else []),
        DocumentRoute(api),
    )
    return [route for group in groups for route in group.routes()]
