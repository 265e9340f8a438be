"""A table that DynamoDB restored: its properties, and the settings that a restore leaves out.

A restore copies rows, keys, indexes and billing. It leaves out the stream, the time to live, point-in-time
recovery, the protection from deletion, and tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from duetime.aws.dynamodb import SERVICE, Client
from duetime.aws.faults import ignoring, translate_errors
from duetime.aws.tables import TTL_ATTRIBUTE, TableShape, add_index_request, create_table_request
from duetime.clock import Clock
from duetime.errors import OperationFailed

VIEW = "NEW_AND_OLD_IMAGES"

_PAUSE = timedelta(seconds=5)
_PATIENCE = timedelta(minutes=30)
"""An index of a large table takes minutes to fill."""


class RestoreSource(NamedTuple):
    """The origin of a restored table: the name of its source, and the time of its rows."""

    table: str
    restored_to: datetime


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What `RestoredTable.enable` changed, and the ARN of the table's stream."""

    enabled: tuple[str, ...]
    stream: str


class RestoredTable:
    """One table. Each method may raise the errors of `duetime.aws.faults.translate_errors`."""

    def __init__(self, client: Client, name: str, shape: TableShape, clock: Clock) -> None:
        self._client, self.name, self._shape, self._clock = client, name, shape, clock

    def source(self) -> RestoreSource | None:
        """Return the table's origin; None if DynamoDB did not restore it."""
        summary: Any = self._description().get("RestoreSummary")
        if not summary:
            return None
        source = summary.get("SourceTableArn") or summary.get("SourceBackupArn", "")
        return RestoreSource(_name_in(source), summary["RestoreDateTime"].astimezone(UTC))

    def check(self) -> None:
        """Return if the table can be adopted.

        Raises:
            OperationFailed: it does not exist, is not active, or has other keys.
        """
        found = self._description()
        if found["TableStatus"] != "ACTIVE":
            raise OperationFailed(
                f"the table {self.name} is {found['TableStatus']}; allowed is ACTIVE. Wait with"
                f" `aws dynamodb wait table-exists --table-name {self.name}`, and repeat this command"
            )
        keys = create_table_request(self._shape, self.name)["KeySchema"]
        if sorted(found["KeySchema"], key=str) != sorted(keys, key=str):
            raise OperationFailed(
                f"the table {self.name} has the keys {found['KeySchema']}; allowed are {keys}."
                " Name a table that is restored from one of duetime"
            )
        view = found.get("StreamSpecification", {}).get("StreamViewType", VIEW)
        if view != VIEW:
            raise OperationFailed(
                f"the stream of the table {self.name} has {view}; allowed is {VIEW}. Disable the stream with"
                f" `aws dynamodb update-table --table-name {self.name} --stream-specification"
                " StreamEnabled=false`, and repeat this command"
            )

    def stream(self) -> str:
        """Return the ARN of the stream; empty without a stream."""
        found = self._description()
        is_enabled = found.get("StreamSpecification", {}).get("StreamEnabled", False)
        return str(found.get("LatestStreamArn", "")) if is_enabled else ""

    def enable(self, *, tags_of: Sequence[str] = ()) -> TableSettings:
        """Enable everything that a restore left out. A repeat changes nothing.

        Args:
            tags_of: tables whose tags it gets: those of the first one that exists.

        Raises:
            OperationFailed: as above.
        """
        self.check()
        enabled = (
            *self._add_indexes(),
            *self._enable_stream(),
            *self._enable_ttl(),
            *self._enable_recovery(),
            *self._protect(),
            *self._tag(tags_of),
        )
        return TableSettings(enabled, self.stream())

    def _add_indexes(self) -> Iterator[str]:
        """Add missing indexes; a restore may leave them out. DynamoDB adds one at a time."""
        found = {index["IndexName"] for index in self._description().get("GlobalSecondaryIndexes", ())}
        for index in self._shape.indexes:
            if index.name not in found:
                with translate_errors(SERVICE):
                    self._client.update_table(**add_index_request(self._shape, index, self.name))
                self._wait()
                yield f"index {index.name}"

    def _enable_stream(self) -> Iterator[str]:
        if not self.stream():
            self._update(StreamSpecification={"StreamEnabled": True, "StreamViewType": VIEW})
            yield "stream"

    def _enable_ttl(self) -> Iterator[str]:
        with translate_errors(SERVICE):
            found = self._client.describe_time_to_live(TableName=self.name)["TimeToLiveDescription"]
            if found["TimeToLiveStatus"] not in {"ENABLED", "ENABLING"}:
                self._client.update_time_to_live(
                    TableName=self.name,
                    TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE},
                )
                yield "time to live"

    def _enable_recovery(self) -> Iterator[str]:
        with translate_errors(SERVICE):
            found = self._client.describe_continuous_backups(TableName=self.name)
            recovery = found["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
            if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
                self._client.update_continuous_backups(
                    TableName=self.name,
                    PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
                )
                yield "point-in-time recovery"

    def _protect(self) -> Iterator[str]:
        if not self._description().get("DeletionProtectionEnabled"):
            self._update(DeletionProtectionEnabled=True)
            yield "deletion protection"

    def _tag(self, tables: Sequence[str]) -> Iterator[str]:
        """Copy tags, without those that AWS itself sets."""
        own = self._tags(self.name) or {}
        found = next((tags for table in tables if (tags := self._tags(table)) is not None), {})
        missing = {name: value for name, value in found.items() if own.get(name) != value}
        if missing:
            with translate_errors(SERVICE):
                self._client.tag_resource(
                    ResourceArn=self._description()["TableArn"],
                    Tags=[{"Key": name, "Value": value} for name, value in sorted(missing.items())],
                )
            yield f"tags {', '.join(sorted(missing))}"

    def _tags(self, table: str) -> dict[str, str] | None:
        """Return the tags of a table; None if it does not exist."""
        with translate_errors(SERVICE), ignoring("ResourceNotFoundException"):
            arn = self._client.describe_table(TableName=table)["Table"]["TableArn"]
            pages = self._client.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn)
            tags = {tag["Key"]: tag["Value"] for page in pages for tag in page.get("Tags", ())}
            return {name: value for name, value in tags.items() if not name.startswith("aws:")}
        return None

    def _update(self, **change: Any) -> None:
        with translate_errors(SERVICE):
            self._client.update_table(TableName=self.name, **change)
        self._wait()

    def _wait(self) -> None:
        """Wait until table and indexes are active: DynamoDB accepts one change at a time."""
        ends = self._clock.now() + _PATIENCE
        while not _is_active(self._description()):
            if self._clock.now() > ends:
                raise OperationFailed(
                    f"the table {self.name} is still being changed after {_PATIENCE}; repeat this command"
                    " when it is ACTIVE: what was done stays"
                )
            self._clock.wait_until(self._clock.now() + _PAUSE)

    def _description(self) -> Any:
        with translate_errors(SERVICE), ignoring("ResourceNotFoundException"):
            return self._client.describe_table(TableName=self.name)["Table"]
        raise OperationFailed(
            f"the table {self.name} does not exist in this account and region; restore it first, as the"
            " runbook describes under 'Restoring a table'"
        )


def _is_active(description: Any) -> bool:
    indexes = description.get("GlobalSecondaryIndexes", ())
    states = [description["TableStatus"], *(index.get("IndexStatus", "ACTIVE") for index in indexes)]
    return all(state == "ACTIVE" for state in states)


def _name_in(arn: str) -> str:
    """Return the table's name in the ARN of a table or a backup."""
    resource = arn.rpartition(":")[2].split("/")
    return resource[1] if len(resource) > 1 else ""
