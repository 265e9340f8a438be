"""Routes, bookmarks, grants and the audit trail in memory, and the bodies that tests send."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duetime.memory.keyed_items import MemoryItems
from duetime.model.manifest import Manifest, WorkerRoute, routes_by_type
from duetime.ports.wakeups import Bookmarks


class MemoryRoutes:
    """The manifests of this process.

    See `duetime.ports.wakeups.Routes`.
    """

    def __init__(self, manifests: Iterable[Manifest] = ()) -> None:
        self.publish(manifests)

    def publish(self, manifests: Iterable[Manifest]) -> None:
        self._routes = routes_by_type(manifests)

    def queue_for(self, type_name: str) -> str | None:
        route = self._routes.get(type_name)
        return route.worker if route else None

    def queue_of(self, type_name: str, *, is_high: bool) -> str | None:
        route = self._routes.get(type_name)
        return route.queue(is_high=is_high) if route else None

    def version_of(self, type_name: str) -> int | None:
        route = self._routes.get(type_name)
        return route.version if route else None

    def types(self) -> Sequence[str]:
        return sorted(self._routes)

    def event_route(self, type_name: str) -> WorkerRoute | None:
        route = self._routes.get(type_name)
        return route if route is not None and route.is_in_events else None


class MemoryBookmarks(Bookmarks):
    """Marks over a dictionary."""

    def __init__(self) -> None:
        super().__init__(MemoryItems())


class MemoryBodies:
    """A list of the sent bodies with their queues.

    See `duetime.ports.undelivered.BodyQueues`.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def put(self, queue: str, body: str) -> None:
        self.sent.append((queue, body))
