"""The tables' streams: the facts in their records, and reads of a batch that a function could not process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, translate_errors
from duetime.aws.items import change_of
from duetime.aws.job_items import job_ref_of, state_alone
from duetime.aws.keyed_items import ItemFields
from duetime.aws.keys import Item, ref_of
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.events.publish import PublishedFact
from duetime.model.job_events import BackfillChange, JobChange, ReportKept, SpanKept
from duetime.ports.access import ENTRY, to_entry
from duetime.ports.backfills import BACKFILL, PREFIX, to_backfill
from duetime.ports.job_history import REPORT, REPORTED, SPAN, SPANNED, to_report, to_span
from duetime.ports.job_state import STATE
from duetime.ports.keyed_items import UNREADABLE
from duetime.ports.undelivered import UNDELIVERED, RowRecord, StreamBatch, StreamRecord, to_undelivered
from duetime.ports.work_pauses import PAUSE, pause_change

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

SERVICE = "DynamoDB Streams"
_GONE = {"TrimmedDataAccessException", "ResourceNotFoundException"}
_EMPTY_PAGES = 50
"""The limit of consecutive empty pages: an empty page need not be the last."""


def subject_of(images: Mapping[str, Any]) -> PublishedFact | None:
    """Return the fact in a record of either stream, or None for a removed or an unpublished item.

    Raises:
        UnreadableRow: an item has an invalid attribute.
    """
    if change := change_of(images):
        return change
    old, new = images.get("OldImage"), images.get("NewImage")
    if new is None:
        return None
    try:
        return _read(old, new)
    except UNREADABLE as error:
        raise UnreadableRow([new.get("pk"), new.get("sk")], error) from error


def _read(old: Item | None, new: Item) -> PublishedFact | None:
    if "audit_of" in new:
        return to_entry(ItemFields(ENTRY, new))
    if new["sk"]["S"] == STATE:
        is_redefined = old is not None and old.get("defined_in") != new.get("defined_in")
        return JobChange(state_alone(old) if old else None, state_alone(new), is_redefined)
    if fact := _beside_a_job(old, new):
        return fact
    if new["pk"]["S"] == PAUSE.partition:
        return pause_change(old and ItemFields(PAUSE, old), ItemFields(PAUSE, new))
    if new["pk"]["S"] != UNDELIVERED.partition:
        return None
    return to_undelivered(ItemFields(UNDELIVERED, new))


def _beside_a_job(old: Item | None, new: Item) -> SpanKept | ReportKept | BackfillChange | None:
    sort_key = new["sk"]["S"]
    if sort_key.startswith(SPANNED):
        return SpanKept(job_ref_of(new), to_span(ItemFields(SPAN, new)))
    if sort_key.startswith(REPORTED):
        return ReportKept(job_ref_of(new), to_report(ItemFields(REPORT, new)))
    if sort_key.startswith(PREFIX):
        before = to_backfill(ItemFields(BACKFILL, old)) if old else None
        return BackfillChange(before, to_backfill(ItemFields(BACKFILL, new)))
    return None


class DynamoStream:
    """Reads a shard between two sequence numbers.

    See `duetime.ports.undelivered.Stream`.
    """

    def __init__(self, client: DynamoDBStreamsClient) -> None:
        self._client = client

    def read(self, batch: StreamBatch) -> Sequence[RowRecord] | None:
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
