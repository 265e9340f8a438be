"""The entries of a deploy in the jobs table: the tables' format, and the workers' manifests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from duetime import instant
from duetime.aws import clients, notes
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import ignoring, translate_errors
from duetime.errors import BackendMisconfigured
from duetime.model.deployed_shards import BY_DEFAULT, DeployedShards
from duetime.model.manifest import Manifest
from duetime.settings import Settings

_KEYS = ["pk", "sk"]
_FORMAT_KEY = {"pk": {"S": "system#format"}, "sk": {"S": "tables"}}


class DeployedTables:
    """The tables of a deployment. They do not exist before the first deploy."""

    def __init__(self, client: Client, jobs_table: str) -> None:
        self._table, self.name = DynamoTable(client, jobs_table), jobs_table

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(clients.dynamodb(), settings.made.jobs_table)

    def format(self) -> int | None:
        """Return the stored format; None without a table or before the first deploy, 0 if it is unreadable.

        `DescribeTable` comes first. The right to `GetItem` depends on a key. In a call on a table that does
        not exist IAM finds no key, and denies the call.

        Raises:
            BackendMisconfigured: the table has other keys, so another application owns it.
        """
        stored = None
        with translate_errors(SERVICE), ignoring("ResourceNotFoundException"):
            described = self._table.client.describe_table(TableName=self.name)
            self._check_keys([key["AttributeName"] for key in described["Table"]["KeySchema"]])
            stored = self._table.get(_FORMAT_KEY)
        if stored is None:
            return None
        return next(readable([stored], lambda item: int(item["version"]["N"]), "format"), 0)

    def _check_keys(self, keys: Sequence[str]) -> None:
        if list(keys) != _KEYS:
            raise BackendMisconfigured(
                SERVICE,
                f"the name of the table {self.name} is taken by another application: its keys are"
                f" {', '.join(keys)}, those of duetime {', '.join(_KEYS)}",
                "Choose another prefix, or delete that table",
            )

    def mark(self, version: int) -> None:
        self._table.put({**_FORMAT_KEY, "version": {"N": str(version)}})

    def publish(
        self,
        manifest: Manifest,
        shards: DeployedShards = BY_DEFAULT,
        now: datetime = instant.EARLIEST,
    ) -> None:
        notes.publish(self._table.client, self.name, manifest, shards, now)

    def withdraw(self, worker: str) -> None:
        self._table.delete({"pk": notes.MANIFESTS, "sk": {"S": worker}})
