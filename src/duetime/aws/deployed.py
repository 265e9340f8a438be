"""The entries of a deploy in the jobs table: the tables' format, and the workers' manifests."""

from __future__ import annotations

from typing import Any, Self

from duetime.aws import clients, notes
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable
from duetime.aws.faults import ignoring, translate_errors
from duetime.model.manifest import Manifest
from duetime.settings import Settings

_FORMAT_KEY = {"pk": {"S": "system#format"}, "sk": {"S": "tables"}}


class DeployedTables:
    """The tables of a deployment. They do not exist before the first deploy."""

    def __init__(self, client: Client, jobs_table: str) -> None:
        self._table, self.name = DynamoTable(client, jobs_table), jobs_table

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the tables that the settings name."""
        return cls(clients.dynamodb(), settings.jobs_table)

    def format(self) -> int | None:
        """Return the stored format, or None without a table or before the first deploy."""
        answer: Any = {}
        with translate_errors(SERVICE), ignoring("ResourceNotFoundException"):
            answer = self._table.client.get_item(TableName=self.name, Key=_FORMAT_KEY, ConsistentRead=True)
        return int(answer["Item"]["version"]["N"]) if "Item" in answer else None

    def mark(self, version: int) -> None:
        """Store the format."""
        self._table.put({**_FORMAT_KEY, "version": {"N": str(version)}})

    def publish(self, manifest: Manifest) -> None:
        """Store a worker's manifest."""
        notes.publish(self._table.client, self.name, manifest)

    def withdraw(self, worker: str) -> None:
        """Remove a worker's manifest."""
        self._table.delete({"pk": notes.MANIFESTS, "sk": {"S": worker}})
