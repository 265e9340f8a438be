"""Arm, and the event source of the actions table's stream."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from duetime.aws import clients
from duetime.lambdas import arm
from duetime.model.event_pattern import matches
from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import LOOK_EACH, invocation, no_metrics, repeat, replace_file


def serve(settings: Settings, words: Words) -> None:
    source = StreamSource(settings.made.actions_table, Path(words.directory, "places.json"))
    handler = arm.make_handler(settings, metrics=no_metrics)
    repeat(lambda: source.deliver(handler), LOOK_EACH)


class StreamSource:
    """The event source. Its places are in a file, so another process goes on there."""

    def __init__(self, table: str, file: Path) -> None:
        self._client, self._table, self._file = clients.dynamodb_streams(), table, file
        self._places: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def deliver(self, handler: Callable[..., Any]) -> bool:
        """Pass the next records to a handler, then store the new places; return whether there were any."""
        found = False
        for arn, shard in shards_of(self._client, self._table):
            records, last = read_shard(self._client, arn, shard, self._places.get(shard))
            if last is None:
                continue
            if self._is_failed(handler, [_in_lambda_form(record) for record in records]):
                return False
            self._places[shard], found = last, True
            replace_file(self._file, json.dumps(self._places))
        return found

    def _is_failed(self, handler: Callable[..., Any], records: list[Mapping[str, Any]]) -> bool:
        filtered = [row for row in records if any(matches(pattern, row) for pattern in arm.FILTERS)]
        return bool(filtered) and bool(handler({"Records": filtered}, invocation())["batchItemFailures"])


def shards_of(client: Any, table: str) -> Iterator[tuple[str, str]]:
    """Yield the stream's ARN with each of its shards."""
    for found in client.list_streams(TableName=table)["Streams"]:
        shards = client.describe_stream(StreamArn=found["StreamArn"])["StreamDescription"]["Shards"]
        yield from ((found["StreamArn"], shard["ShardId"]) for shard in shards)


def read_shard(client: Any, arn: str, shard: str, after: str | None) -> tuple[list[Any], str | None]:
    """Return the next records of a shard, and the number of the last one."""
    start = {"ShardIteratorType": "TRIM_HORIZON"}
    if after is not None:
        start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
    iterator = client.get_shard_iterator(StreamArn=arn, ShardId=shard, **start)["ShardIterator"]
    records = client.get_records(ShardIterator=iterator, Limit=100)["Records"]
    return records, records[-1]["dynamodb"]["SequenceNumber"] if records else None


def _in_lambda_form(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Lambda passes JSON, with times in seconds since 1970 and bytes in Base64."""
    plain: Mapping[str, Any] = json.loads(json.dumps(record, default=_plain))
    return plain


def _plain(value: datetime | bytes) -> float | str:
    return b64encode(value).decode() if isinstance(value, bytes) else value.timestamp()
