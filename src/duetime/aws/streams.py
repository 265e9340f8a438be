"""The tables' streams: what a record tells of a row, and reading a part of one again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, translate_errors
from duetime.aws.items import from_item
from duetime.aws.keys import is_row, ref_of
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.model.change import Change
from duetime.ports.undelivered import RowRecord, StreamBatch, StreamRecord

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

SERVICE = "DynamoDB Streams"
_GONE = {"TrimmedDataAccessException", "ResourceNotFoundException"}
_EMPTY_PAGES = 50
"""A page of a stream may be empty and not the last; after so many the read is given up."""


def change_of(images: Mapping[str, Any]) -> Change | None:
    """What a record's images tell of a row; None of an item that is no row.

    Raises:
        UnreadableRow: it cannot be read.
    """
    old, new = images.get("OldImage"), images.get("NewImage")
    if not is_row(new or old or {}):
        return None
    return Change(from_item(old) if old else None, from_item(new) if new else None)


class DynamoStream:
    """Reads a shard between two sequence numbers."""

    def __init__(self, client: DynamoDBStreamsClient) -> None:
        self._client = client

    def read(self, batch: StreamBatch) -> Sequence[RowRecord] | None:
        """See `duetime.ports.undelivered.Stream`, here and below."""
        records = self._read(batch)
        return None if records is None else [each for record in records if (each := _written(record))]

    def told(self, batch: StreamBatch) -> Sequence[StreamRecord] | None:
        records = self._read(batch)
        return None if records is None else [_told(record) for record in records]

    def _read(self, batch: StreamBatch) -> list[Any] | None:
        with translate_errors(SERVICE):
            try:
                return list(self._records(batch))
            except ClientError as error:
                if code_of(error) in _GONE:
                    return None
                raise

    def _records(self, batch: StreamBatch) -> Iterator[Any]:
        iterator: str | None = self._client.get_shard_iterator(
            StreamArn=batch.stream,
            ShardId=batch.shard,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=batch.first,
        )["ShardIterator"]
        last, empty = int(batch.last), 0
        while iterator is not None:
            page = self._client.get_records(ShardIterator=iterator)
            for record in page["Records"]:
                if int(record["dynamodb"]["SequenceNumber"]) > last:
                    return
                yield record
                if int(record["dynamodb"]["SequenceNumber"]) == last:
                    return
            empty = 0 if page["Records"] else empty + 1
            if empty > _EMPTY_PAGES:
                raise BackendUnavailable(SERVICE, f"{batch.shard} does not come to {batch.last}")
            iterator = page.get("NextShardIterator")


def _told(record: Mapping[str, Any]) -> StreamRecord:
    from duetime.aws.stream_records import told_by  # noqa: PLC0415 - arm, which reads rows alone, needs no jobs

    images = record["dynamodb"]
    try:
        told = told_by(images)
    except UnreadableRow:
        told = None
    return StreamRecord(images["SequenceNumber"], images["ApproximateCreationDateTime"], told)


def _written(record: Mapping[str, Any]) -> RowRecord | None:
    images = record["dynamodb"]
    try:
        change = change_of(images)
    except UnreadableRow:
        change = None
    else:
        if change is None:
            return None
    return RowRecord(
        number=images["SequenceNumber"],
        at=images["ApproximateCreationDateTime"],
        ref=ref_of(images["Keys"]),
        change=change,
    )
