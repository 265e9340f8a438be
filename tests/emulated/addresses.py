"""The account, region, names and ARNs of the emulated deployment."""

from duetime.local.environment import ACCOUNT, HOST, REGION

__all__ = ["ACCOUNT", "HOST", "REGION", "ResourceNames", "queue_arn", "queue_name"]


def queue_arn(name: str) -> str:
    """Return an SQS queue's ARN."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


def queue_name(address: str) -> str:
    """Return a queue's name from its ARN or URL."""
    return address.replace(":", "/").rpartition("/")[2]


class ResourceNames:
    """Names of a deployment's functions, queues and schedules.

    Attributes:
        worker: the worker that hosts the app's handlers.
        notifications: the notification queue, the rule that feeds it, and the topic.
        failure_queue: the queue of stream records and invocations that failed too often.
        pass_group: the group of the schedules that call the sweep and the catch-up.
        timer_role: the ARN of the role in which EventBridge Scheduler invokes its targets.
        work_function: the ARN of the function that hosts the app's handlers.
    """

    def __init__(self, prefix: str, worker: str) -> None:
        self._prefix, self.worker = prefix, worker
        self.notifications = f"{prefix}notifications"
        self.failure_queue = f"{prefix}failures"
        self.pass_group = f"{prefix}passes"
        self.timer_role = f"arn:aws:iam::{ACCOUNT}:role/{prefix}timer"
        self.work_function = self.function(f"work-{worker}")

    def due_queue(self, worker: str) -> str:
        """Return the name of a worker's due queue."""
        return f"{self._prefix}due-{worker}"

    def function(self, name: str) -> str:
        """Return a function's ARN by its name without the prefix."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self._prefix}{name}"
