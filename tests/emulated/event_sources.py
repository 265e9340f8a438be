"""All pollers: connects each event source to its function.

`ExpiryPoller` simulates DynamoDB's time to live, which moto stores without effect. It deletes rows past their
``ttl`` regularly, so that `arm` receives their removal from the stream.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from duetime.aws import clients
from duetime.aws.tables import TTL_ATTRIBUTE
from duetime.clock import Clock, SystemClock
from duetime.lambdas.arm import FILTERS
from duetime.lambdas.publish import action_filters, job_filters
from duetime.model.event_pattern import Pattern
from duetime.model.priority import is_high_queue
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER
from tests.emulated.addresses import ResourceNames, queue_arn
from tests.emulated.call_lock import CallLock
from tests.emulated.dead_letters import DeadLetters
from tests.emulated.event_bus import LocalEventBus
from tests.emulated.fast_path.tables import FastTable
from tests.emulated.functions import LocalFunctions
from tests.emulated.invocation_poller import InvocationPoller
from tests.emulated.options import EmulatedOptions
from tests.emulated.poller import Poller
from tests.emulated.queue_messages import LocalMessages, SqsMessages
from tests.emulated.queue_poller import QueuePoller, QueueSource
from tests.emulated.schedule_poller import SchedulePoller
from tests.emulated.stream_poller import StreamPoller, StreamReader, StreamShard

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)


PERIOD = timedelta(minutes=1)
_HAS_EXPIRED = "attribute_type(#ttl, :number) AND #ttl < :now"
"""DynamoDB ignores a time to live that is no number; moto cannot compare it."""


class ExpiryPoller(Poller):
    """Deletes the expired items of one table.

    It finds them in moto's own items: a scan of ten thousand takes moto seconds, in which no run starts.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        lock: CallLock,
        clock: Clock,
        period: timedelta = PERIOD,
    ) -> None:
        super().__init__("expiry", clock)
        self._client, self._table, self._lock, self._period = client, table, lock, period

    def turn(self) -> timedelta:
        """Read the table once and delete expired items."""
        with self._lock:
            keys = FastTable(self._table).expired(TTL_ATTRIBUTE, self.clock.now())
        for key in keys:
            self._delete(key)
        return self._period

    def _delete(self, key: Any) -> None:
        """Delete an item unless a redrive has removed its ``ttl``."""
        try:
            self._client.delete_item(
                TableName=self._table,
                Key=key,
                ConditionExpression=_HAS_EXPIRED,
                ExpressionAttributeNames={"#ttl": TTL_ATTRIBUTE},
                ExpressionAttributeValues=self._now(),
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            log.debug("an item did not expire: it was redriven")

    def _now(self) -> Any:
        return {":now": {"N": str(int(self.clock.now().timestamp()))}, ":number": {"S": "N"}}


_LAST_TURN = timedelta(seconds=5)
# As deployed: few notifications are sent at once.
_NOTIFY_CONCURRENCY = 2


class _Reader(NamedTuple):
    table: str
    function: str
    filters: Sequence[Pattern]


class EventSources:
    """Every poller of one deployment.

    Args:
        settings: as deployed, with the names of the tables and queues.
        names: the names of the functions and the other queues.
        functions: the functions that are invoked.
        lock: notifies the pollers of each call.
        options: the options of the sources.
    """

    def __init__(
        self,
        settings: Settings,
        names: ResourceNames,
        functions: LocalFunctions,
        lock: CallLock,
        options: EmulatedOptions,
    ) -> None:
        self._functions = functions
        self._lock, self._options = lock, options
        self._clock, self._sqs, dynamodb = SystemClock(), clients.sqs(), clients.dynamodb()
        dead_letters = DeadLetters(self._sqs, settings.made.failure_queue)
        streams = [
            self._stream(reader, dynamodb, dead_letters)
            for reader in (
                _Reader(settings.made.actions_table, names.function("arm"), FILTERS),
                _Reader(settings.made.actions_table, names.function("publish"), action_filters(settings)),
                _Reader(settings.made.jobs_table, names.function("publish"), job_filters(settings)),
            )
        ]
        notifies = settings.events != "off"
        self._queues: tuple[QueuePoller, ...] = (
            self._queue(
                names.due_queue(names.worker),
                names.work_function,
                options.concurrency,
                batch=settings.worker_batch,
            ),
            *(
                self._queue(
                    names.due_queue(high),
                    names.work_function,
                    options.concurrency,
                    batch=settings.worker_batch,
                )
                for high in filter(is_high_queue, settings.made.queues)
            ),
            self._queue(names.due_queue(SYSTEM_WORKER), names.function("catch-up"), 1),
            *(
                [self._queue(names.notifications, names.function("notify"), _NOTIFY_CONCURRENCY)]
                if notifies
                else []
            ),
            self._queue(names.failure_queue, names.function("undelivered"), 1),
        )
        self._invocations = InvocationPoller(
            functions, dead_letters, self._clock, retry_waits=options.retry_waits
        )
        schedules = SchedulePoller(clients.scheduler(), self._invocations, self._clock, options.timers)
        self._bus = LocalEventBus(self._invocations, self._sqs, doubles=options.timers.doubles)
        expiries = (
            ExpiryPoller(dynamodb, table, lock, self._clock)
            for table in (settings.made.actions_table, settings.made.jobs_table)
        )
        self._pollers = (*streams, schedules, self._invocations, *self._queues, *expiries)
        for listener in (
            *(stream.listen for stream in streams),
            schedules.listen,
            *(queue.listen for queue in self._queues),
        ):
            lock.listen(listener)

    def _stream(self, reader: _Reader, dynamodb: DynamoDBClient, dead_letters: DeadLetters) -> StreamPoller:
        arn = dynamodb.describe_table(TableName=reader.table)["Table"]["LatestStreamArn"]
        return StreamPoller(
            StreamShard(self._lock, reader.table),
            StreamReader(arn, reader.function, reader.filters),
            self._functions,
            dead_letters,
            self._clock,
            longest_pause=self._options.longest_pause,
        )

    def _queue(self, name: str, function: str, concurrency: int, *, batch: int = 1) -> QueuePoller:
        url = self._sqs.get_queue_url(QueueName=name)["QueueUrl"]
        source = QueueSource(url, queue_arn(name), function, batch)
        return QueuePoller(
            LocalMessages(url, self._lock, SqsMessages(self._sqs, url)),
            source,
            self._functions,
            self._lock,
            self._clock,
            concurrency=concurrency,
            doubles=self._options.message_doubles,
        )

    def invoke(self, function: str) -> None:
        """Invoke a function soon, as its schedule does."""
        self._invocations.invoke(function, {})

    def start(self) -> None:
        """Begin to deliver."""
        self._bus.start()
        for poller in self._pollers:
            poller.start()

    def stop(self, longest: timedelta) -> int:
        """Stop delivering and wait for running invocations; return how many have not ended."""
        self._bus.stop()
        for poller in self._pollers:
            poller.stop()
        for poller in self._pollers:
            poller.join(_LAST_TURN)
        left = sum(queue.finish(longest) for queue in self._queues)
        return left + self._invocations.finish(_LAST_TURN)
