"""Simulates SQS' event source: messages of a due queue become invocations of its worker.

Invocations run in parallel up to the concurrency. A message is deleted after a successful invocation.
Otherwise it returns when its visibility ends, until the queue's redrive policy moves it to the dead
letters. Deletes are batched.
"""

from __future__ import annotations

import json
import logging
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from duetime.clock import Clock
from tests.emulated.addresses import REGION, queue_name
from tests.emulated.call_lock import AwsCall, CallLock
from tests.emulated.functions import Event, LocalFunctions
from tests.emulated.poller import Poller, Runs
from tests.emulated.queue_messages import Messages

log = logging.getLogger(__name__)

_BATCH = 10
# For messages that become visible again; a send sets an alarm of its own.
_LOOK_ANYWAY = timedelta(seconds=1)
_GATHER = timedelta(milliseconds=20)
_SENDS = {"AmazonSQS.SendMessage", "AmazonSQS.SendMessageBatch"}


@dataclass(frozen=True, slots=True)
class QueueSource:
    """A queue that feeds a function.

    Attributes:
        url: the queue's URL.
        arn: the queue's ARN.
        function: the function's ARN.
        batch: the most messages in one invocation.
    """

    url: str
    arn: str
    function: str
    batch: int = 1


class QueuePoller(Poller):
    """Receives from one queue.

    Args:
        messages: the queue's.
        source: the queue and its function.
        functions: the deployed functions.
        lock: prefers the calls of runs.
        clock: the machine's clock.
        concurrency: the number of parallel runs.
        doubles: the probability that a message is delivered twice, as in SQS.
    """

    def __init__(
        self,
        messages: Messages,
        source: QueueSource,
        functions: LocalFunctions,
        lock: CallLock,
        clock: Clock,
        *,
        concurrency: int,
        doubles: float,
    ) -> None:
        super().__init__("queue", clock)
        self._messages, self._source, self._functions = messages, source, functions
        self._lock, self._doubles = lock, doubles
        self._runs = Runs("work", concurrency, clock)
        self._processed: deque[str] = deque()

    def listen(self, call: AwsCall) -> None:
        """Set the alarm for when a sent message can be received."""
        if call.target not in _SENDS:
            return
        try:
            queue, delays = _send_of(call.body)
        except (ValueError, TypeError, LookupError, AttributeError):  # moto rejected it
            return
        if queue == queue_name(self._source.url):
            now = self.clock.now()
            for delay in delays:
                self.alarm.set_for(now + timedelta(seconds=delay))

    def turn(self) -> timedelta:
        """Delete processed messages, receive as many as there is room for, and start them."""
        batch = self._source.batch
        room = min(_BATCH, self._runs.room * batch)
        with self._lock.urgent():
            self._delete_processed()
            messages = self._messages.receive(room) if room else []
        records = [in_lambda_form(message, self._source.arn) for message in messages]
        for first in range(0, len(records), batch):
            self._start(records[first : first + batch])
        return timedelta(0) if room and len(messages) == room else _LOOK_ANYWAY

    def finish(self, longest: timedelta) -> int:
        """Wait after a stop for running invocations, at most `longest`; return how many have not ended."""
        left = self._runs.wait(longest)
        self._delete_processed()
        return left

    def _delete_processed(self) -> None:
        """Delete processed messages; one that was delivered twice may be listed twice."""
        while self._processed:
            receipts = [self._processed.popleft() for _ in range(min(_BATCH, len(self._processed)))]
            self._messages.delete(list(dict.fromkeys(receipts)))

    def _start(self, records: Sequence[Event]) -> None:
        doubled = [record for record in records if random.random() < self._doubles]  # noqa: S311 - simulated fault
        for given in filter(None, (records, doubled)):
            self._runs.start(partial(self._run, given), self._ended)

    def _run(self, records: Sequence[Event]) -> None:
        with self._lock.urgent():
            outcome = self._functions.invoke(self._source.function, {"Records": records})
        if outcome.error is None:
            failures = (outcome.answer or {}).get("batchItemFailures", ())
            failed = {failure["itemIdentifier"] for failure in failures}
            self._processed.extend(
                record["receiptHandle"] for record in records if record["messageId"] not in failed
            )

    def _ended(self) -> None:
        """Poll at once if a message may wait for this place; else soon, so that deletes become one call."""
        if len(self._processed) >= _BATCH or self._runs.room <= 1 or not self._runs.under_way:
            self.alarm.ring()
        else:
            now = self.clock.now()
            self.alarm.set_for(now.replace(microsecond=now.microsecond // 20_000 * 20_000) + _GATHER)


def in_lambda_form(message: Mapping[str, Any], queue: str) -> dict[str, Any]:
    """Convert a message of ``ReceiveMessage`` to the form of Lambda's event."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message["Attributes"]),
        "messageAttributes": {
            name: {key[0].lower() + key[1:]: part for key, part in value.items()}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue,
        "awsRegion": REGION,
    }


def _send_of(body: bytes) -> tuple[str, set[int]]:
    sent = json.loads(body)
    return queue_name(sent["QueueUrl"]), {
        int(entry.get("DelaySeconds", 0)) for entry in sent.get("Entries", [sent])
    }
