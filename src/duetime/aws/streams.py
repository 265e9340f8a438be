"""Reads of a part of a table's stream, for a batch that a Lambda function could not process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, translate_errors
from duetime.aws.items import change_of
from duetime.aws.keys import ref_of
from duetime.aws.stream_records import subject_of
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.ports.undelivered import RowRecord, StreamBatch, StreamRecord

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

SERVICE = "DynamoDB Streams"
_GONE = {"TrimmedDataAccessException", "ResourceNotFoundException"}
_EMPTY_PAGES = 50
"""The limit of consecutive empty pages: an empty page need not be the last."""


class DynamoStream:
    """Reads a shard between two sequence numbers."""

    def __init__(self, client: DynamoDBStreamsClient) -> None:
        self._client = client

    def read(self, batch: StreamBatch) -> Sequence[RowRecord] | None:
        """See `duetime.ports.undelivered.Stream`, here and below."""
        records = self._read(batch)
        return None if records is None else [row for record in records if (row := _row_record(record))]

    def read_all(self, batch: StreamBatch) -> Sequence[StreamRecord] | None:
        records = self._read(batch)
        return None if records is None else [_record(record) for record in records]

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
                raise BackendUnavailable(
                    SERVICE, f"{batch.shard} had {empty} empty pages before record {batch.last}"
                )
            iterator = page.get("NextShardIterator")


def _record(record: Mapping[str, Any]) -> StreamRecord:
    images = record["dynamodb"]
    try:
        subject = subject_of(images)
    except UnreadableRow:
        subject = None
    return StreamRecord(images["SequenceNumber"], images["ApproximateCreationDateTime"], subject)


def _row_record(record: Mapping[str, Any]) -> RowRecord | None:
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
