"""The entries of a deploy in the jobs table: the tables' format, and the workers' manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from botocore.exceptions import ClientError

from duetime.aws import clients, notes
from duetime.aws.faults import code_of, translate_errors
from duetime.aws.queries import SERVICE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from duetime.model.manifest import Manifest
    from duetime.settings import Settings

_PLACE = {"pk": {"S": "system#format"}, "sk": {"S": "tables"}}
_TIMERS_RENAMED = {"pk": {"S": "system#format"}, "sk": {"S": "timers-renamed"}}


class DeployedTables:
    """The tables of a deployment. They do not exist before the first deploy."""

    def __init__(self, client: DynamoDBClient, jobs_table: str) -> None:
        self._client, self.name = client, jobs_table

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the tables that the settings name."""
        return cls(clients.dynamodb(), settings.jobs_table)

    def format(self) -> int | None:
        """Return the stored format, or None without a table or before the first deploy.

        `DescribeTable` comes first. The right to `GetItem` depends on a key. In a call on a table that does
        not exist IAM finds no key, and denies the call.
        """
        with translate_errors(SERVICE):
            try:
                self._client.describe_table(TableName=self.name)
                answer = self._client.get_item(TableName=self.name, Key=_PLACE, ConsistentRead=True)
            except ClientError as error:
                if code_of(error) == "ResourceNotFoundException":
                    return None
                raise
        return int(answer["Item"]["version"]["N"]) if "Item" in answer else None

    def mark(self, version: int) -> None:
        """Store the format."""
        with translate_errors(SERVICE):
            self._client.put_item(TableName=self.name, Item={**_PLACE, "version": {"N": str(version)}})

    def are_timers_renamed(self) -> bool:
        """Return whether a deploy has renamed the timers of 0.1.0."""
        with translate_errors(SERVICE):
            return "Item" in self._client.get_item(TableName=self.name, Key=_TIMERS_RENAMED)

    def mark_timers_renamed(self) -> None:
        """Store that no timer of 0.1.0 is left."""
        with translate_errors(SERVICE):
            self._client.put_item(TableName=self.name, Item=_TIMERS_RENAMED)

    def publish(self, manifest: Manifest) -> None:
        """Store a worker's manifest."""
        notes.publish(self._client, self.name, manifest)

    def withdraw(self, worker: str) -> None:
        """Remove a worker's manifest."""
        notes.withdraw(self._client, self.name, worker)
