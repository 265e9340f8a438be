"""The document without a deployment: over memory, which nobody calls; to be written down and to be tested."""

from __future__ import annotations

from collections.abc import Sequence

from duetime.api.access import Access
from duetime.api.app import routes_of
from duetime.api.context import ApiContext
from duetime.api.health import Health
from duetime.api.health_details import Details
from duetime.api.openapi.document import document
from duetime.api.openapi.schemas import Schema
from duetime.api.routes import Route
from duetime.app import App
from duetime.clock import SystemClock
from duetime.memory.access import MemoryAuditTrail, MemoryGrants
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.ports.jobs import JobPorts
from duetime.settings import Settings


def every_route() -> Sequence[Route]:
    """What an API serves, under its prefix."""
    clock, store = SystemClock(), MemoryStore()
    jobs = JobPorts(MemoryJobStore(store), MemoryRoutes([]))
    access = Access(MemoryGrants(), MemoryAuditTrail(), clock)
    desk = ApiContext(store, jobs, App(), clock, Settings())
    return routes_of(desk, Health({}, Details(desk, MemoryBookmarks())), access)


def whole(prefix: str) -> Schema:
    """The document of every API whose prefix is this."""
    return document(every_route(), server=prefix)
