"""The queues: one of due messages for each worker, with its dead letters, and one for what functions could not do."""

from __future__ import annotations

from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.rules import accept

VISIBILITY_BEYOND_TIMEOUT = timedelta(seconds=5)
"""Lambda refuses a queue whose messages become visible again before the function has ended."""

SALVAGE_TIMEOUT = timedelta(seconds=60)
"""How long salvage may take over one message of the queues that feed it."""

NOTIFY_TIMEOUT = timedelta(minutes=3)
"""How long one message of the notifications' queue may take: twenty mails to a service that does not answer."""

NOTIFY_RECEIVES = 460
"""A message comes again every three minutes, for a day: mails may be away for hours, and nobody need redrive them."""

_KEPT = Duration.days(14)
"""The longest that SQS keeps a message: salvage may be broken for so long before anything is lost."""


def visibility_of(timeout: timedelta) -> timedelta:
    """The visibility time-out of a due queue whose function has this time-out."""
    return timeout + VISIBILITY_BEYOND_TIMEOUT


class RetriedQueue(Construct):
    """A queue that feeds a function. What that cannot handle goes to `dead`, which feeds salvage."""

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, timeout: timedelta, max_receives: int
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead = _queue(self, "Dead", f"{name}-dead", visibility=visibility_of(SALVAGE_TIMEOUT))
        self.queue = _queue(
            self,
            "Queue",
            name,
            visibility=visibility_of(timeout),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=max_receives),
        )


class DueQueue(RetriedQueue):
    """A worker's due queue."""


class FailureQueue(Construct):
    """Where stream batches, wakes and passes go that failed for good, and requests to redrive: it feeds salvage.

    EventBridge puts there what the rules named by `rules` could not deliver.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, rules: str) -> None:
        super().__init__(scope, construct_id)
        self.queue = _queue(self, "Queue", name, visibility=visibility_of(SALVAGE_TIMEOUT))
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
            "Failures end here; what salvage fails at comes again for two weeks.",
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
        retention_period=_KEPT,
        visibility_timeout=Duration.seconds(visibility.total_seconds()),
        dead_letter_queue=dead_letter_queue,
    )
