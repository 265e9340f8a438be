"""Simulates DynamoDB Streams' event source: delivers filtered batches of a table's changes."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from duetime.clock import Clock
from duetime.local.addresses import REGION
from duetime.local.dead_letters import DeadLetters
from duetime.local.functions import LocalFunctions
from duetime.local.gate import AwsCall
from duetime.local.poller import Poller
from duetime.local.sources import StreamSource
from duetime.local.stream_delivery import StreamDelivery
from duetime.local.stream_shard import StreamShard
from duetime.model.event_pattern import matches

log = logging.getLogger(__name__)

BATCH = 100
_PAGE = 1_000
_BETWEEN_READS = timedelta(milliseconds=50)
"""Under load, writes are batched for this time; after a rest, a write is read at once."""
_LOOK_ANYWAY = timedelta(seconds=30)
_READS = {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable", "ListTables"}


class StreamPoller(Poller):
    """Reads one table's stream, from its beginning."""

    def __init__(
        self,
        shard: StreamShard,
        source: StreamSource,
        functions: LocalFunctions,
        dead_letters: DeadLetters,
        clock: Clock,
    ) -> None:
        super().__init__("stream", clock)
        self._shard, self._source = shard, source
        self._deliver = StreamDelivery(
            lambda event: functions.invoke(source.function, event),
            lambda record, reason: dead_letters.of_stream(record, shard.id, source.function, reason),
            pause=self.pause,
            is_stopping=self.stopping.is_set,
        )
        self._read_at = clock.now() - _BETWEEN_READS

    def listen(self, call: AwsCall) -> None:
        """Read the stream soon after a write."""
        service, _, operation = call.target.partition(".")
        if service == "DynamoDB_20120810" and operation not in _READS:
            self.alarm.ring()

    def turn(self) -> timedelta:
        """Read and deliver new records."""
        self.pause(max(timedelta(0), self._read_at + _BETWEEN_READS - self.clock.now()))
        self._read_at = self.clock.now()
        records = self._shard.read(_PAGE)
        matching = [
            in_lambda_form(record, self._source.arn)
            for record in records
            if any(matches(pattern, record) for pattern in self._source.filters)
        ]
        for first in range(0, len(matching), BATCH):
            self._deliver(matching[first : first + BATCH])
        return timedelta(0) if records else _LOOK_ANYWAY


def in_lambda_form(record: Mapping[str, Any], stream: str) -> dict[str, Any]:
    """Convert a stream record to the form of Lambda's event: JSON, times in seconds since 1970."""
    plain: dict[str, Any] = json.loads(json.dumps(record, default=_plain))
    return {**plain, "eventVersion": "1.1", "awsRegion": REGION, "eventSourceARN": stream}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return int(value.timestamp())
    raise TypeError(f"a stream record holds {type(value).__name__}, which JSON cannot carry")
