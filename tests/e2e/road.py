"""The road of an action, over an emulator that delivers no invocation.

The handlers that a deploy ships, fed in this process.

::

    the emulator's stream ──► arm ─┬──────────────────────────────────────► due queue ──► work
                                   └──► schedule ──► wake queue ──► dispatch ──┘  ▲
                                        (the emulator fires it)          sweep ───┘

The feeds talk to the emulator itself: they are what AWS does. The handlers' own clients go wherever the
environment says.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import boto3

from duetime import App
from duetime.aws.deployed import DeployedTables
from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from duetime.clock import SystemClock
from duetime.lambdas import arm, dispatch, passes, work
from duetime.model.event_pattern import matches
from duetime.rehearsal.emulator import ACCOUNT, REGION
from duetime.settings import Settings
from tests.emulated.call_lock import CallLock
from tests.emulated.functions import LocalFunction, LocalFunctions
from tests.emulated.poller import Poller
from tests.emulated.queue_messages import SqsMessages
from tests.emulated.queue_poller import QueuePoller, QueueSource
from tests.emulated.stream_poller import BATCH, StreamDelivery, in_lambda_form

AT_ONCE, DOUBLES = 24, 0.05
"""How many messages are worked at once, and the chance that one is delivered twice."""
SWEEP_EVERY, LOOK_EVERY = timedelta(seconds=8), timedelta(milliseconds=200)
_LAST_TURN = timedelta(seconds=10)


@dataclass(frozen=True)
class Emulated:
    """An emulator, asked directly."""

    endpoint: str

    def client(self, service: Any) -> Any:
        """A client that no fault befalls."""
        return boto3.client(service, endpoint_url=self.endpoint)

    def items(self, table: str) -> Iterator[Mapping[str, Any]]:
        """All items of a table."""
        for page in self.client("dynamodb").get_paginator("scan").paginate(TableName=table):
            yield from page["Items"]

    def waiting(self, url: str) -> int:
        """Count the messages of a queue: visible, delayed and in flight."""
        request = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        return sum(
            int(request["Attributes"][f"ApproximateNumberOfMessages{which}"])
            for which in ("", "Delayed", "NotVisible")
        )

    def schedules(self, group: str) -> set[str]:
        """The names of a group's schedules."""
        pages = self.client("scheduler").get_paginator("list_schedules").paginate(GroupName=group)
        return {row["Name"] for page in pages for row in page["Schedules"]}


class Road:
    """A deployment without functions of its own.

    Args:
        emulated: where it is deployed.
        app: the handlers.
        settings: the deployment's choices, and the visibility time-out; what the road makes is filled in.
    """

    def __init__(self, emulated: Emulated, app: App, settings: Mapping[str, Any]) -> None:
        self.emulated, self._app, self._clock = emulated, app, SystemClock()
        self._sqs = emulated.client("sqs")
        self.dispatched: set[str] = set()
        """The ids of the actions whose timers fired."""
        self.wakes = self._queue("wakes", visibility=3)
        self.due = self._queue("due", visibility=settings["made"].queue_visibility.total_seconds())
        self.settings = Settings(
            **settings
            | {
                "made": replace(
                    settings["made"],
                    queues={app.worker: self.due},
                    dispatch_arn=_arn("sqs", "wakes"),
                    timer_role_arn=f"arn:aws:iam::{ACCOUNT}:role/timers",
                )
            }
        )
        dynamodb = emulated.client("dynamodb")
        dynamodb.create_table(**create_table_request(JOBS, self.settings.made.jobs_table))
        made = dynamodb.create_table(**create_table_request(ACTIONS, self.settings.made.actions_table))
        self._stream = made["TableDescription"]["LatestStreamArn"]
        emulated.client("scheduler").create_schedule_group(Name=self.settings.made.schedule_group)
        DeployedTables(dynamodb, self.settings.made.jobs_table).publish(app.manifest)

    @contextmanager
    def fed(self) -> Iterator[None]:
        """Deliver, until the block ends."""
        functions = LocalFunctions(self._clock)
        functions.deploy(self._functions())
        queue = partial(self._queue_pump, functions)
        pumps = [
            _StreamFeed(self.emulated, self._stream, functions, self._clock),
            _Timer(partial(functions.invoke, "sweep", {}), self._clock),
            queue(self.wakes, "dispatch", 4),
            queue(self.due, "work", AT_ONCE),
        ]
        for pump in pumps:
            pump.start()
        try:
            yield
        finally:
            for row in pumps:
                row.stop()
            for row in pumps:
                row.join(_LAST_TURN)

    def is_empty(self) -> bool:
        """Whether nothing is on its way any more."""
        left = self.emulated.waiting(self.due) + self.emulated.waiting(self.wakes)
        return not left and not self.emulated.schedules(self.settings.made.schedule_group)

    def _functions(self) -> dict[str, LocalFunction]:
        """The handlers as a deploy makes them, each with clients of its own."""
        settings, quick = self.settings, timedelta(seconds=60)
        dispatched = dispatch.make_handler(settings)

        def wake(event: Any, context: Any) -> None:
            report = json.loads(event["Records"][0]["body"])
            self.dispatched.add(report["id"])
            dispatched(report, context)

        return {
            "arm": LocalFunction(arm.make_handler(settings), quick),
            "dispatch": LocalFunction(wake, quick, runs_in_parallel=True),
            "work": LocalFunction(
                work.make_handler(settings, self._app.handler_set, instance="w"), quick, runs_in_parallel=True
            ),
            "sweep": LocalFunction(passes.make_sweep_handler(settings, instance="s"), quick),
        }

    def _queue(self, name: str, *, visibility: float) -> str:
        self._sqs.create_queue(QueueName="failures")
        redrive = {"deadLetterTargetArn": _arn("sqs", "failures"), "maxReceiveCount": 5}
        attributes = {"VisibilityTimeout": str(int(visibility)), "RedrivePolicy": json.dumps(redrive)}
        return self._sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def _queue_pump(self, functions: LocalFunctions, url: str, function: str, at_once: int) -> QueuePoller:
        source = QueueSource(url, _arn("sqs", url.rpartition("/")[2]), function)
        return QueuePoller(
            SqsMessages(self._sqs, url),
            source,
            functions,
            CallLock(),
            self._clock,
            concurrency=at_once,
            doubles=DOUBLES,
        )


class _StreamFeed(Poller):
    """The actions table's stream, for `arm`; a record that it never takes is lost, as on AWS."""

    def __init__(self, emulated: Emulated, arn: str, functions: LocalFunctions, clock: SystemClock) -> None:
        super().__init__("stream", clock)
        self._client, self._arn = emulated.client("dynamodbstreams"), arn
        [shard] = self._client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._next = self._client.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        self._deliver = StreamDelivery(
            partial(functions.invoke, "arm"),
            lambda _record, _reason: None,
            pause=self.pause,
            is_stopping=self.stopping.is_set,
        )

    def turn(self) -> timedelta:
        page = self._client.get_records(ShardIterator=self._next)
        self._next = page["NextShardIterator"]
        report = (in_lambda_form(row, self._arn) for row in page["Records"])
        expected = [row for row in report if any(matches(pattern, row) for pattern in arm.FILTERS)]
        for first in range(0, len(expected), BATCH):
            self._deliver(expected[first : first + BATCH])
        return timedelta(0) if page["Records"] else LOOK_EVERY


class _Timer(Poller):
    """A function that is called by the clock."""

    def __init__(self, call: Callable[[], object], clock: SystemClock) -> None:
        super().__init__("timer", clock)
        self._call = call

    def turn(self) -> timedelta:
        self._call()
        return SWEEP_EVERY


def _arn(service: str, name: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{name}"
