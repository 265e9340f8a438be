"""Simulates DynamoDB Streams' event source: delivers filtered batches of a table's changes.

The order of a stream matters, so a failed record blocks its successors. The batch is retried from the first
record that the function names. If it names none, the batch is halved until one record is left. That record
is retried a few times with growing pauses, and then goes to the dead letters.
"""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from duetime.clock import Clock
from duetime.model.event_pattern import Pattern, matches
from tests.emulated.addresses import ACCOUNT, REGION
from tests.emulated.call_lock import AwsCall, CallLock
from tests.emulated.dead_letters import DeadLetters
from tests.emulated.functions import InvocationOutcome, LocalFunctions
from tests.emulated.poller import Poller

log = logging.getLogger(__name__)


Record = Mapping[str, Any]

TRIES = 6
"""Tries of a single record, before it goes to the dead letters."""
FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=10)


class StreamDelivery:
    """Delivers batches in order, until the function or `give_up` has taken each record.

    Args:
        invoke: calls the function with an event.
        give_up: receives a record that the function rejects, and the reason.
        pause: sleeps; returns at once during a stop.
        longest_pause: the longest pause between two tries.
        is_stopping: returns whether to stop trying.
    """

    def __init__(
        self,
        invoke: Callable[[Mapping[str, Any]], InvocationOutcome],
        give_up: Callable[[Record, str], None],
        *,
        pause: Callable[[timedelta], None],
        longest_pause: timedelta = LONGEST_PAUSE,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._invoke, self._give_up = invoke, give_up
        self._pause, self._longest_pause, self._is_stopping = pause, longest_pause, is_stopping

    def __call__(self, batch: Sequence[Record]) -> None:
        """Deliver one batch."""
        rest, tries = batch, 0
        while rest and not self._is_stopping():
            taken, reason = self._try(rest)
            if reason is None:
                return
            rest, tries = rest[taken:], 1 if taken else tries + 1
            if len(rest) > 1:
                self._pause(FIRST_PAUSE)
                self(rest[: len(rest) // 2])
                rest, tries = rest[len(rest) // 2 :], 0
            elif tries >= TRIES:
                self._give_up(rest[0], reason)
                return
            else:
                self._pause(min(self._longest_pause, FIRST_PAUSE * 2**tries))

    def _try(self, batch: Sequence[Record]) -> tuple[int, str | None]:
        """Invoke the function; return how many records it took, and why it rejected the next one, if any."""
        outcome = self._invoke({"Records": list(batch)})
        if outcome.error is not None:
            return 0, repr(outcome.error)
        failures = (outcome.answer or {}).get("batchItemFailures") or []
        if not failures:
            return len(batch), None
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        named = [failure.get("itemIdentifier") for failure in failures]
        if not all(number in numbers for number in named):
            return 0, f"the function names records that are not in the batch: {named}"
        return min(numbers.index(number) for number in named), "the function reports it as failed"


BATCH = 100
_PAGE = 1_000
# Under load, writes are batched for this time; after a rest, a write is read at once.
_BETWEEN_READS = timedelta(milliseconds=50)
_LOOK_ANYWAY = timedelta(seconds=30)
_READS = {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable", "ListTables"}


@dataclass(frozen=True, slots=True)
class StreamReader:
    """A stream that feeds a function batches of records.

    Attributes:
        arn: the stream's ARN.
        function: the function's ARN.
        filters: patterns; one must match a record.
    """

    arn: str
    function: str
    filters: Sequence[Pattern]


class StreamShard:
    """Reads the single shard of a table of moto from its beginning, and returns each record once.

    It reads moto's own shard instead of ``GetRecords``. The records have the same form, but each costs
    microseconds instead of 3 ms, and most are filtered out. With ``GetRecords`` a drain would spend a
    quarter of its time on reading its writes.

    moto creates a missing item by ``UpdateItem`` in two steps: its stream has a record with the keys, then
    one with the item. DynamoDB's stream has the second record only, and so has this reader.
    """

    def __init__(self, lock: CallLock, table: str) -> None:
        self._lock = lock
        shard: Any = dynamodb_backends[ACCOUNT][REGION].get_table(table).stream_shard
        self._shard = shard
        self.id: str = shard.id
        self._next: int = shard.starting_sequence_number

    def read(self, most: int) -> Sequence[Mapping[str, Any]]:
        """Return the next records, at most `most`; empty if there are none yet."""
        with self._lock:
            ahead: list[dict[str, Any]] = self._shard.get(self._next, most + 1)
        ends_within = len(ahead) > most and _is_a_first_step(ahead[most - 1], ahead[most])
        taken = ahead if ends_within else ahead[:most]
        self._next += len(taken)
        return [
            record
            for record, later in zip_longest(taken, taken[1:])
            if not (later and _is_a_first_step(record, later))
        ]


class StreamPoller(Poller):
    """Reads one table's stream, from its beginning."""

    def __init__(
        self,
        shard: StreamShard,
        source: StreamReader,
        functions: LocalFunctions,
        dead_letters: DeadLetters,
        clock: Clock,
        *,
        longest_pause: timedelta,
    ) -> None:
        super().__init__("stream", clock)
        self._shard, self._source = shard, source
        self._deliver = StreamDelivery(
            lambda event: functions.invoke(source.function, event),
            lambda record, reason: dead_letters.of_stream(record, shard.id, source.function, reason),
            pause=self.pause,
            longest_pause=longest_pause,
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
    """Convert a stream record to the form of Lambda's event: JSON, times in seconds since 1970.

    Bytes are Base64 texts there.
    """
    plain: dict[str, Any] = json.loads(json.dumps(record, default=_plain))
    return {**plain, "eventVersion": "1.1", "awsRegion": REGION, "eventSourceARN": stream}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return int(value.timestamp())
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"a stream record holds {type(value).__name__}, which JSON cannot carry")


def _is_a_first_step(record: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether both records are of one write: no item is inserted twice in a row."""
    both = (record, later)
    keys, keys_later = (step["dynamodb"]["Keys"] for step in both)
    return keys == keys_later and all(step["eventName"] == "INSERT" for step in both)
