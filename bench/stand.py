"""The stand: the real steps on DynamoDB Local, with queues that only record messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duetime import App, Payload, Run, Scheduler, every
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.store import DynamoStore
from duetime.aws.tables import ACTIONS, TableShape, create_table_request
from duetime.clock import Clock, SystemClock
from duetime.memory.backends import MemoryBackends
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.memory.notes import MemoryBookmarks
from duetime.model.action import Action
from duetime.model.change import Change
from duetime.ports.wakeups import Delivery, DueMessage, Send
from duetime.settings import Made, Settings
from duetime.wakeups.assembly import Steps
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import DeliveryResult, Worker
from tests.dynamodb_local import client, running

TENANT, CALLER = "acme", "billing-service"
app = App()


class Letter(Payload):
    """A payload of any size."""

    text: str

    @classmethod
    def of_size(cls, size: int) -> Letter:
        """Return a payload whose JSON has `size` bytes."""
        return cls(text="x" * (size - len('{"text":""}')))


@app.action
def send_letter(payload: Letter, run: Run) -> None:
    """Do nothing: the bench measures the steps around a handler."""


@app.job(every(minutes=1), name="bench-each-minute")
def each_minute(run: Run) -> None:
    """Do nothing, as above."""


@dataclass(slots=True)
class Remembered:
    """Queues, timers and routes that only record calls."""

    sent: list[Send] = field(default_factory=list)

    def send(self, sends: Sequence[Send]) -> None:
        self.sent.extend(sends)

    def extend(self, queue: str, receipt: str, seconds: int) -> None: ...

    def set(self, message: DueMessage, wake_at: datetime) -> None: ...

    def clear(self, message: DueMessage) -> None: ...

    def queue_for(self, type_name: str) -> str | None:
        return app.worker if type_name in app.handlers else None

    def queue_of(self, type_name: str, *, is_high: bool) -> str | None:
        del is_high
        return self.queue_for(type_name)

    def types(self) -> Sequence[str]:
        return sorted(app.handlers)


class Stand:
    """A scheduler, `arm` and `work` over one table."""

    def __init__(self, dynamodb: Any, table: str, *, clock: Clock | None = None, jobs: str = "jobs") -> None:
        self.client, self.table, self.clock = dynamodb, table, clock or SystemClock()
        self.settings = Settings(made=Made(actions_table=table))
        self.store = DynamoStore(dynamodb, table, due_shards=self.settings.due_shards)
        self.queues = Remembered()
        self.scheduler = Scheduler(
            self.store, tenant_id=TENANT, actor=CALLER, clock=self.clock, settings=self.settings
        )
        self.jobs = DynamoJobStore(dynamodb, table, jobs, due_shards=self.settings.due_shards)
        self.backends = MemoryBackends(
            clock=self.clock,
            settings=self.settings,
            store=self.store,
            jobs=self.jobs,
            queues=self.queues,
            timers=self.queues,
            job_wakes=MemoryJobWakes(self.clock),
            bookmarks=MemoryBookmarks(),
            routes=self.queues,
        )
        self._arm = Steps(self.backends).arm
        self.work = Worker(app.handler_set, self.backends, Heartbeat(self.backends), instance="bench-1")

    def run(self, action: Action) -> None:
        """Run the steps after a schedule: arm sends a message, and work handles it."""
        self._arm([Change(None, action)])
        message = self.queues.sent[-1].message
        result = self.work(Delivery(message, action.due_at, receipt=""))
        if result is not DeliveryResult.RAN:
            raise RuntimeError(f"the action did not run: {result}")


@contextmanager
def emulated() -> Iterator[Any]:
    """Yield a client of a new, empty DynamoDB Local."""
    with running() as endpoint:
        yield client(endpoint)


def made(dynamodb: Any, table: str, shape: TableShape = ACTIONS) -> str:
    """Create a table, and return its name."""
    dynamodb.create_table(**create_table_request(shape, table))
    return table


NOW = timedelta(0)
