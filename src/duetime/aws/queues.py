"""The workers' queues in SQS."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, ignoring, translate_errors
from duetime.aws.messages import to_json
from duetime.errors import BackendUnavailable, QueueMissing
from duetime.ports.wakeups import FAILURES, NOTIFICATIONS, Send
from duetime.settings import DEFAULT_TENANT, Settings

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

SERVICE = "SQS"
_BATCH = 10
_MISSING = ("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue")
_DEPLOY = "Check DUETIME_QUEUES, and deploy again; to run its actions, a worker must host their types"
_GONE = (
    "MessageNotInflight",
    "ReceiptHandleIsInvalid",
    "InvalidParameterValue",
    "AWS.SimpleQueueService.MessageNotInflight",
)


class SqsQueues:
    """Standard queues, one for each worker: delays of up to 900 seconds, batches of ten.

    See `duetime.ports.wakeups.DueQueues`.

    Args:
        client: the SQS client.
        urls: the URL of each queue, by the worker's name.
        has_groups: whether a tenant's messages are a group, so that SQS is fair among tenants. It
            charges for groups. Those of the default tenant have none: a message without a group
            counts as a tenant of its own.
    """

    def __init__(self, client: SQSClient, urls: Mapping[str, str], *, has_groups: bool = True) -> None:
        self._client, self._urls, self._has_groups = client, urls, has_groups

    def send(self, sends: Sequence[Send]) -> None:
        by_queue: dict[str, list[Send]] = defaultdict(list)
        for send in sends:
            by_queue[send.queue].append(send)
        for queue, mine in by_queue.items():
            for first in range(0, len(mine), _BATCH):
                self._send_batch(self._url(queue), mine[first : first + _BATCH])

    def _send_batch(self, url: str, sends: Sequence[Send]) -> None:
        entries: Any = [
            {
                "Id": str(place),
                "MessageBody": to_json(send.message, delay=send.delay),
                "DelaySeconds": send.delay,
                **self._group(send.message.ref.tenant_id),
            }
            for place, send in enumerate(sends)
        ]
        with translate_errors(SERVICE), _of_missing_queue(url):
            answer = self._client.send_message_batch(QueueUrl=url, Entries=entries)
        if failed := answer.get("Failed"):
            raise BackendUnavailable(
                SERVICE, f"{len(failed)} of {len(sends)} messages: {failed[0].get('Message')}"
            )

    def _group(self, tenant_id: str) -> Mapping[str, str]:
        return {"MessageGroupId": tenant_id} if self._has_groups and tenant_id != DEFAULT_TENANT else {}

    def extend(self, queue: str, receipt: str, seconds: int) -> None:
        with translate_errors(SERVICE), ignoring(*_GONE):
            self._client.change_message_visibility(
                QueueUrl=self._url(queue), ReceiptHandle=receipt, VisibilityTimeout=seconds
            )

    def _url(self, queue: str) -> str:
        return _named(queue, self._urls, f"DUETIME_QUEUES names {sorted(self._urls)}; deploy again")


class SqsBodies:
    """The due queues, the failure queue and the notification queue, for unchanged bodies.

    See `duetime.ports.undelivered.BodyQueues`.
    """

    def __init__(self, client: SQSClient, settings: Settings) -> None:
        self._client = client
        due = {f"due-{worker}": url for worker, url in settings.made.queues.items()}
        others = {FAILURES: settings.made.failure_queue, NOTIFICATIONS: settings.made.notification_queue}
        self._urls: Mapping[str, str] = due | {name: url for name, url in others.items() if url}

    def put(self, queue: str, body: str) -> None:
        with translate_errors(SERVICE):
            self._client.send_message(QueueUrl=self._at(queue), MessageBody=body)

    def waiting(self, queue: str) -> int:
        """Return the approximate number of messages that can be received from the queue now.

        Raises:
            BackendUnavailable: SQS did not respond.
            BackendMisconfigured: no queue has this name.
        """
        name: Any = "ApproximateNumberOfMessages"
        with translate_errors(SERVICE):
            response = self._client.get_queue_attributes(QueueUrl=self._at(queue), AttributeNames=[name])
        return int(response["Attributes"][name])

    def _at(self, queue: str) -> str:
        cure = "Check DUETIME_FAILURE_QUEUE, DUETIME_QUEUES and DUETIME_NOTIFICATION_QUEUE"
        return _named(queue, self._urls, cure)


@contextmanager
def _of_missing_queue(url: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if code_of(error) not in _MISSING:
            raise
        raise QueueMissing(SERVICE, f"the queue {url} does not exist", _DEPLOY) from error


def _named(queue: str, urls: Mapping[str, str], cure: str) -> str:
    if queue not in urls:
        raise QueueMissing(SERVICE, f"no queue is named {queue!r}", cure)
    return urls[queue]
