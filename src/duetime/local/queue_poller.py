"""Plays SQS' event source: each message of a due queue becomes an invocation of its worker.

One message an invocation, as many at once as the concurrency allows. A message is deleted when its invocation took it;
otherwise it stays where it is, and comes again when its visibility ends, until the queue's own redrive policy moves it
to the dead letters. Deletes are gathered, as AWS' pollers do.
"""

from __future__ import annotations

import json
import logging
import random
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime.clock import Clock
from duetime.local.addresses import REGION, queue_name
from duetime.local.functions import InvocationOutcome, LocalFunctions
from duetime.local.gate import AwsCall, Gate
from duetime.local.poller import Poller
from duetime.local.runs import Runs
from duetime.local.sources import QueueSource

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger(__name__)

_BATCH = 10
_LOOK_ANYWAY = timedelta(seconds=1)
"""For what becomes visible again; what was sent is known to the second and looked for then."""
_GATHER = timedelta(milliseconds=20)
_SENDS = {"AmazonSQS.SendMessage", "AmazonSQS.SendMessageBatch"}


class QueuePoller(Poller):
    """Receives from one queue.

    Args:
        client: of SQS.
        source: which queue, for which function.
        functions: where the function is found.
        gate: what a run calls goes through it in a hurry.
        clock: the machine's.
        concurrency: how many run at once.
        doubles: the chance that a message is delivered twice, as SQS may.
    """

    def __init__(
        self,
        client: SQSClient,
        source: QueueSource,
        functions: LocalFunctions,
        gate: Gate,
        clock: Clock,
        *,
        concurrency: int,
        doubles: float,
    ) -> None:
        super().__init__("queue", clock)
        self._client, self._source, self._functions = client, source, functions
        self._gate, self._doubles = gate, doubles
        self._runs = Runs("work", concurrency, clock)
        self._taken: deque[str] = deque()

    def listen(self, call: AwsCall) -> None:
        """Learn from each send when its message can be received."""
        if call.target not in _SENDS:
            return
        try:
            queue, delays = _send_of(call.body)
        except (ValueError, TypeError, LookupError, AttributeError):  # it was refused, then
            return
        if queue == queue_name(self._source.url):
            now = self.clock.now()
            for delay in delays:
                self.alarm.set_for(now + timedelta(seconds=delay))

    def turn(self) -> timedelta:
        """Delete what was taken, receive as much as there is room for, and start it."""
        room = min(_BATCH, self._runs.room)
        with self._gate.hurried():
            self._delete_taken()
            messages = self._receive(room) if room else []
        for message in messages:
            self._start(as_lambda_has_it(message, self._source.arn))
        return timedelta(0) if room and len(messages) == room else _LOOK_ANYWAY

    def finish(self, longest: timedelta) -> int:
        """After a stop, let what is running end, at most for `longest`; returns how many runs have not."""
        left = self._runs.wait(longest)
        self._delete_taken()
        return left

    def _delete_taken(self) -> None:
        """Delete the messages that their invocations took; one that was delivered twice may be among them twice."""
        while self._taken:
            taken = [self._taken.popleft() for _ in range(min(_BATCH, len(self._taken)))]
            self._client.delete_message_batch(
                QueueUrl=self._source.url,
                Entries=[
                    {"Id": str(place), "ReceiptHandle": fromkey}
                    for place, fromkey in enumerate(dict.fromkeys(taken))
                ],
            )

    def _receive(self, most: int) -> list[Any]:
        answer = self._client.receive_message(
            QueueUrl=self._source.url,
            MaxNumberOfMessages=most,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _start(self, record: Mapping[str, Any]) -> None:
        for _ in range(2 if random.random() < self._doubles else 1):  # noqa: S311 - plays chance, guards nothing
            self._runs.start(lambda: self._run(record), self._ended)

    def _run(self, record: Mapping[str, Any]) -> None:
        with self._gate.hurried():
            outcome = self._functions.invoke(self._source.function, {"Records": [record]})
        if _was_taken(outcome):
            self._taken.append(record["receiptHandle"])

    def _ended(self) -> None:
        """Look at the queue when there is room again: soon, so that a few deletes and receives become one."""
        if len(self._taken) >= _BATCH or not self._runs.under_way:
            self.alarm.ring()
        else:
            now = self.clock.now()
            self.alarm.set_for(now.replace(microsecond=now.microsecond // 20_000 * 20_000) + _GATHER)


def as_lambda_has_it(message: Mapping[str, Any], queue: str) -> dict[str, Any]:
    """A message of ``ReceiveMessage`` in the form in which Lambda's event has it."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": dict(message["Attributes"]),
        "messageAttributes": {
            name: {key[0].lower() + key[1:]: each for key, each in value.items()}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue,
        "awsRegion": REGION,
    }


def _send_of(body: bytes) -> tuple[str, set[int]]:
    """The queue that a call sends to, and the delays of its messages in seconds."""
    sent = json.loads(body)
    return queue_name(sent["QueueUrl"]), {
        int(entry.get("DelaySeconds", 0)) for entry in sent.get("Entries", [sent])
    }


def _was_taken(outcome: InvocationOutcome) -> bool:
    """Of one message: it was, unless the function raised or reports any failure, even of a message it never had."""
    if outcome.error is not None:
        return False
    return not (outcome.answer or {}).get("batchItemFailures")
