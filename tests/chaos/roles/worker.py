"""A worker, and the event source of its queue, which loses some messages and delivers some twice.

Some processes get several messages in one call.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

from duetime.aws import clients
from duetime.lambdas import work
from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import FAILURES, LOOK_EACH, no_metrics, repeat
from tests.chaos.shop import app

AT_ONCE = 4
"""Runs of one process."""
BATCHES = (1, 4, 10)
"""The most messages in one call, as a process draws it."""
LOSE, DOUBLE = 0.04, 0.08
"""The chances that a message is lost, and that it is delivered twice."""


def serve(settings: Settings, words: Words) -> None:
    handler = work.make_handler(settings, app.handler_set, instance=words.name, metrics=no_metrics)
    draw = Random(words.seed)  # noqa: S311 - simulated faults
    repeat(Queue(settings.made.queues["default"], handler, draw).turn, LOOK_EACH)


class Context:
    """What Lambda passes with an event."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 300_000


class Queue:
    """The event source. A message that failed comes again when its visibility ends."""

    def __init__(self, url: str, handler: Callable[..., Any], draw: Random) -> None:
        self._sqs, self._url, self._handler, self._draw = clients.sqs(), url, handler, draw
        self._batch = draw.choice(BATCHES)
        self._runs = ThreadPoolExecutor(AT_ONCE)
        self._under_way: set[Future[None]] = set()

    def turn(self) -> bool:
        """Receive as many messages as there is room for, and start them; return whether there were any."""
        self._under_way = {run for run in self._under_way if not run.done()}
        room = AT_ONCE - len(self._under_way)
        if not room:
            return False
        received = self._sqs.receive_message(
            QueueUrl=self._url,
            MessageSystemAttributeNames=["All"],
            MaxNumberOfMessages=min(room * self._batch, 10),
        ).get("Messages", [])
        delivered: list[Mapping[str, Any]] = []
        for message in received:
            chance = self._draw.random()
            delivered += [message] * ((chance >= LOSE) + (chance > 1 - DOUBLE))
            if chance < LOSE:
                self._delete(message)
        for first in range(0, len(delivered), self._batch):
            self._under_way.add(self._runs.submit(self._handle, delivered[first : first + self._batch]))
        return bool(received)

    def _handle(self, messages: Sequence[Mapping[str, Any]]) -> None:
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }
            for message in messages
        ]
        answer = self._handler({"Records": records}, Context)
        failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for message in messages:
            if message["MessageId"] not in failed:
                self._delete(message)

    def _delete(self, message: Mapping[str, Any]) -> None:
        with suppress(*FAILURES):  # it comes again
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
