"""Routes and bookmarks in the jobs table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.keys import Item
from duetime.clock import Clock
from duetime.model.manifest import Manifest, WorkerRoute, routes_by_type

MANIFESTS = {"S": "system#manifest"}
_BOOKMARKS = {"S": "system#bookmark"}
_REREAD_AFTER = timedelta(seconds=60)
_REREAD_UNKNOWN_AFTER = timedelta(seconds=5)


class DynamoRoutes:
    """The published manifests, one item for each worker, cached for a minute.

    Five seconds for unknown types.

    See `duetime.ports.wakeups.Routes`.
    """

    def __init__(self, client: Client, table: str, *, clock: Clock) -> None:
        self._table, self._clock = DynamoTable(client, table), clock
        self._routes: Mapping[str, WorkerRoute] = {}
        self._read_at: datetime | None = None

    def queue_for(self, type_name: str) -> str | None:
        route = self._route(type_name)
        return route.worker if route else None

    def version_of(self, type_name: str) -> int | None:
        route = self._no_older_than(_REREAD_UNKNOWN_AFTER).get(type_name)
        return route.version if route else None

    def types(self) -> Sequence[str]:
        self._routes, self._read_at = self._read(), self._clock.now()
        return sorted(self._routes)

    def event_route(self, type_name: str) -> WorkerRoute | None:
        route = self._route(type_name)
        return route if route and route.is_in_events else None

    def _route(self, type_name: str) -> WorkerRoute | None:
        known = type_name in self._routes
        return self._no_older_than(_REREAD_AFTER if known else _REREAD_UNKNOWN_AFTER).get(type_name)

    def _no_older_than(self, age: timedelta) -> Mapping[str, WorkerRoute]:
        now = self._clock.now()
        if self._read_at is None or now - self._read_at > age:
            self._routes, self._read_at = self._read(), now
        return self._routes

    def _read(self) -> Mapping[str, WorkerRoute]:
        items = self._table.items(
            KeyConditionExpression="pk = :manifests",
            ExpressionAttributeValues={":manifests": MANIFESTS},
            ConsistentRead=True,
        )
        return routes_by_type(
            readable(items, lambda item: Manifest.from_json(item["manifest"]["S"]), "manifest")
        )


def publish(client: Client, table: str, manifest: Manifest) -> None:
    """Replace a worker's manifest."""
    item = {"pk": MANIFESTS, "sk": {"S": manifest.worker}, "manifest": {"S": manifest.to_json()}}
    DynamoTable(client, table).put(item)


class DynamoBookmarks:
    """The positions at which the sweep and the deep sweep continue.

    See `duetime.ports.wakeups.Bookmarks`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def read(self, name: str) -> Mapping[str, str]:
        """Return the marks; none if they cannot be read: the pass begins anew."""
        item = self._table.get({"pk": _BOOKMARKS, "sk": {"S": name}})
        return next(readable([item] if item else (), _marks, "bookmark"), {})

    def write(self, name: str, marks: Mapping[str, str]) -> None:
        self._table.put({"pk": _BOOKMARKS, "sk": {"S": name}, "marks": {"S": json.dumps(dict(marks))}})


def _marks(item: Item) -> Mapping[str, str]:
    return {str(name): str(mark) for name, mark in json.loads(item["marks"]["S"]).items()}
