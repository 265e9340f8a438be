"""Routes in the jobs table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from duetime import instant
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import translate_errors
from duetime.aws.keys import Item
from duetime.aws.tables import FORMAT
from duetime.clock import Clock
from duetime.model.deployed_shards import BY_DEFAULT, DeployedShards
from duetime.model.manifest import Manifest, WorkerRoute, routes_by_type

MANIFESTS = {"S": "system#manifest"}
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
        self.format = FORMAT
        """That of the tables, as the latest deploy published it."""
        self.most_due_shards: int | None = None
        """The highest number of due shards that callers may have, as read last; None: none is published."""

    def queue_for(self, type_name: str) -> str | None:
        route = self._route(type_name)
        return route.worker if route else None

    def queue_of(self, type_name: str, *, is_high: bool) -> str | None:
        route = self._route(type_name)
        return route.queue(is_high=is_high) if route else None

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
        read = self._table.items(
            KeyConditionExpression="pk = :manifests",
            ExpressionAttributeValues={":manifests": MANIFESTS},
            ConsistentRead=True,
        )
        items, now = [*read], self._clock.now()
        self.most_due_shards = max((shards.most(now) for shards in _deployed_shards(items)), default=None)
        published = (item for item in items if "tables_format" in item)
        formats = readable(published, lambda item: int(item["tables_format"]["N"]), "format of tables")
        self.format = max(formats, default=FORMAT)
        return routes_by_type(
            readable(items, lambda item: Manifest.from_json(item["manifest"]["S"]), "manifest")
        )


def publish(
    client: Client,
    table: str,
    manifest: Manifest,
    shards: DeployedShards = BY_DEFAULT,
    now: datetime = instant.EARLIEST,
) -> None:
    """Replace a worker's manifest, with the stack's number of due shards at the time of the deploy."""
    item = {"pk": MANIFESTS, "sk": {"S": manifest.worker}, "manifest": {"S": manifest.to_json()}}
    with translate_errors(SERVICE):
        put = client.put_item(TableName=table, Item=item | _shards_item(shards), ReturnValues="ALL_OLD")
    previous = next(_deployed_shards([put.get("Attributes", {})]), None)
    if (after := shards.after(previous, now)) != shards:
        DynamoTable(client, table).put(item | _shards_item(after))


def _shards_item(shards: DeployedShards) -> Item:
    item: Item = {"due_shards": {"N": str(shards.number)}, "tables_format": {"N": str(FORMAT)}}
    if shards.former_until is not None:
        item["former_due_shards"] = {"N": str(shards.former)}
        item["former_until"] = {"S": instant.text(shards.former_until)}
    return item


def _deployed_shards(items: Iterable[Item]) -> Iterator[DeployedShards]:
    return readable((item for item in items if "due_shards" in item), _shards, "due shards")


def _shards(item: Item) -> DeployedShards:
    number = int(item["due_shards"]["N"])
    if "former_until" not in item:
        return DeployedShards(number)
    former, until = item["former_due_shards"]["N"], item["former_until"]["S"]
    return DeployedShards(number, int(former), instant.parse(until))
