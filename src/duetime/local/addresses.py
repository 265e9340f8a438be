"""Where things are in the local cloud: its account, its region, and the names and ARNs that its parts agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from duetime.wakeups.system_jobs import SYSTEM_WORKER

HOST: Final = "127.0.0.1"
"""The local cloud runs whatever it is told, so nobody but this machine may talk to it."""

REGION: Final = "us-east-1"
ACCOUNT: Final = "123456789012"
"""moto's own account."""


def function_arn(name: str) -> str:
    """A Lambda function's ARN."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def queue_arn(name: str) -> str:
    """An SQS queue's ARN."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


def dead_queue_of(queue: str) -> str:
    """Where the messages of that queue go that nobody took."""
    return f"{queue}-dead"


def queue_name(address: str) -> str:
    """The queue's name, from its ARN or its URL."""
    return address.replace(":", "/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ResourceNames:
    """What a deployment's functions, queues and schedules are called.

    Attributes:
        prefix: begins every name.
        worker: the worker that hosts the app's handlers.
    """

    prefix: str
    worker: str

    def due_queue(self, worker: str) -> str:
        """A worker's queue of due messages."""
        return f"{self.prefix}due-{worker}"

    def dead_queue(self, worker: str) -> str:
        """Where due messages go that the worker did not take."""
        return dead_queue_of(self.due_queue(worker))

    @property
    def notifications(self) -> str:
        """What the notifications' queue is called, and the rule that feeds it, and the topic."""
        return f"{self.prefix}notifications"

    @property
    def failure_queue(self) -> str:
        """Where stream records and invocations go that were given up."""
        return f"{self.prefix}failures"

    def salvaged(self, *, notifies: bool) -> tuple[str, ...]:
        """The queues that feed salvage; `notifies` says whether there are notifications."""
        workers = dict.fromkeys((self.worker, SYSTEM_WORKER))
        told = (dead_queue_of(self.notifications),) if notifies else ()
        return (*map(self.dead_queue, workers), *told, self.failure_queue)

    @property
    def pass_group(self) -> str:
        """The group of the schedules that call the sweep and the catch-up."""
        return f"{self.prefix}passes"

    @property
    def timer_role(self) -> str:
        """The role in which EventBridge Scheduler invokes its targets."""
        return f"arn:aws:iam::{ACCOUNT}:role/{self.prefix}timer"

    @property
    def work_function(self) -> str:
        """The ARN of the function that hosts the app's handlers."""
        return self.function(f"work-{self.worker}")

    def function(self, name: str) -> str:
        """A function's ARN, by its name without the prefix."""
        return function_arn(self.prefix + name)
