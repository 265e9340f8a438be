"""The pumps together: which event source feeds which function."""

from __future__ import annotations

from datetime import timedelta

import boto3

from duetime.clock import SystemClock
from duetime.lambdas.arm import FILTERS
from duetime.local.addresses import Names, queue_arn
from duetime.local.dead_letters import DeadLetters
from duetime.local.expiry_pump import ExpiryPump
from duetime.local.functions import Functions
from duetime.local.gate import Gate
from duetime.local.invocation_pump import InvocationPump
from duetime.local.options import Options
from duetime.local.queue_pump import QueuePump
from duetime.local.schedule_pump import SchedulePump
from duetime.local.sources import QueueSource, StreamSource
from duetime.local.stream_pump import StreamPump
from duetime.local.stream_shard import StreamShard
from duetime.settings import Settings

_LAST_TURN = timedelta(seconds=5)


class EventSources:
    """Every pump over one deployment.

    Args:
        settings: as deployed: they name the table and the queues.
        names: what the functions and the other queues are called.
        functions: what is fed.
        gate: tells the pumps of each call.
        options: how the sources behave.
    """

    def __init__(
        self, settings: Settings, names: Names, functions: Functions, gate: Gate, options: Options
    ) -> None:
        clock, sqs, dynamodb = SystemClock(), boto3.client("sqs"), boto3.client("dynamodb")
        dead_letters = DeadLetters(sqs, sqs.get_queue_url(QueueName=names.failure_queue)["QueueUrl"])
        table = dynamodb.describe_table(TableName=settings.actions_table)["Table"]
        stream = StreamSource(table["LatestStreamArn"], names.function("arm"), FILTERS)
        queue = QueueSource(settings.queues[names.worker], queue_arn(names.due_queue), names.work_function)
        shard = StreamShard(gate, settings.actions_table)
        self._stream = StreamPump(shard, stream, functions, dead_letters, clock)
        self._queue = QueuePump(
            sqs,
            queue,
            functions,
            gate,
            clock,
            concurrency=options.concurrency,
            doubles=options.message_doubles,
        )
        self._invocations = InvocationPump(functions, dead_letters, clock, retry_waits=options.retry_waits)
        self._schedules = SchedulePump(boto3.client("scheduler"), self._invocations, clock, options.timers)
        self._pumps = (
            self._stream,
            self._schedules,
            self._invocations,
            self._queue,
            ExpiryPump(dynamodb, settings.actions_table, clock),
        )
        for listener in (self._stream.listen, self._queue.listen, self._schedules.listen):
            gate.listen(listener)

    def start(self) -> None:
        """Begin to deliver."""
        for pump in self._pumps:
            pump.start()

    def stop(self, longest: timedelta) -> int:
        """Deliver nothing more and wait for what is running; returns how many runs have not ended."""
        for pump in self._pumps:
            pump.stop()
        for pump in self._pumps:
            pump.join(_LAST_TURN)
        return self._queue.finish(longest) + self._invocations.finish(_LAST_TURN)
