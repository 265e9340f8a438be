"""The account, region, names and ARNs of the local cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from duetime.wakeups.system_jobs import SYSTEM_WORKER

HOST: Final = "127.0.0.1"
"""The local cloud runs any code without a password, so it accepts connections from this machine only."""

REGION: Final = "us-east-1"
ACCOUNT: Final = "123456789012"
"""moto's own account."""


def queue_arn(name: str) -> str:
    """Return an SQS queue's ARN."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


def dead_queue_of(queue: str) -> str:
    """Return the name of a queue's dead-letter queue."""
    return f"{queue}-dead"


def queue_name(address: str) -> str:
    """Return a queue's name from its ARN or URL."""
    return address.replace(":", "/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ResourceNames:
    """Names of a deployment's functions, queues and schedules.

    Attributes:
        prefix: begins every name.
        worker: the worker that hosts the app's handlers.
    """

    prefix: str
    worker: str

    def due_queue(self, worker: str) -> str:
        """Return the name of a worker's due queue."""
        return f"{self.prefix}due-{worker}"

    @property
    def notifications(self) -> str:
        """The name of the notification queue, of the rule that feeds it, and of the topic."""
        return f"{self.prefix}notifications"

    @property
    def failure_queue(self) -> str:
        """The queue of stream records and invocations that failed too often."""
        return f"{self.prefix}failures"

    def dead_letter_queues(self, *, notifies: bool) -> tuple[str, ...]:
        """Return the queues that feed the function `salvage`.

        Args:
            notifies: whether notifications are sent.
        """
        workers = dict.fromkeys((self.worker, SYSTEM_WORKER))
        notifications = (dead_queue_of(self.notifications),) if notifies else ()
        return (
            *(dead_queue_of(self.due_queue(worker)) for worker in workers),
            *notifications,
            self.failure_queue,
        )

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
        """Return a function's ARN by its name without the prefix."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.prefix}{name}"
