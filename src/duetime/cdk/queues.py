"""The queues that feed functions, and the failure queue, which has the dead letters of them all."""

from __future__ import annotations

from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.rules import accept

VISIBILITY_BEYOND_TIMEOUT = timedelta(seconds=5)
"""Lambda rejects a queue whose messages become visible again before the function has ended."""

UNDELIVERED_TIMEOUT = timedelta(seconds=60)
"""The time-out of the undelivered handler for one message."""

NOTIFY_TIMEOUT = timedelta(minutes=3)
"""The time-out of notify for one message: twenty mails to a service that does not respond."""

NOTIFY_RECEIVES = 460
"""A message is retried every three minutes for a day, since a mail service may be down for hours."""

_RETENTION = Duration.days(14)
"""The maximum retention of SQS: the undelivered handler may fail for that long before a message is lost."""


def visibility_of(timeout: timedelta) -> timedelta:
    """Return the visibility time-out of a queue from the time-out of its function."""
    return timeout + VISIBILITY_BEYOND_TIMEOUT


class RetriedQueue(Construct):
    """A queue that feeds a function. Messages that fail too often go to the failure queue, `failures`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        timeout: timedelta,
        max_receives: int,
        failures: sqs.Queue,
    ) -> None:
        super().__init__(scope, construct_id)
        self.queue = _queue(
            self,
            "Queue",
            name,
            visibility=visibility_of(timeout),
            dead_letter_queue=sqs.DeadLetterQueue(queue=failures, max_receive_count=max_receives),
        )


class FailureQueue(Construct):
    """The queue for dead letters, for failed stream batches, wakes and passes, and for redrive requests.

    It feeds the undelivered handler. It is one queue for all, since the polls of an idle queue cost 0.10
    dollars a month.
    EventBridge sends undeliverable events of the rules that match `rules` there.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, rules: str) -> None:
        super().__init__(scope, construct_id)
        self.queue = _queue(self, "Queue", name, visibility=visibility_of(UNDELIVERED_TIMEOUT))
        self.queue.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.queue.queue_arn],
                conditions={"ArnLike": {"aws:SourceArn": rules}},
            )
        )
        accept(
            self.queue,
            "AwsSolutions-SQS3",
            "Failures end here; the function `undelivered` retries what it cannot handle for two weeks.",
        )


def _queue(
    scope: Construct,
    construct_id: str,
    name: str,
    *,
    visibility: timedelta,
    dead_letter_queue: sqs.DeadLetterQueue | None = None,
) -> sqs.Queue:
    return sqs.Queue(
        scope,
        construct_id,
        queue_name=name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=_RETENTION,
        visibility_timeout=Duration.seconds(visibility.total_seconds()),
        dead_letter_queue=dead_letter_queue,
    )
