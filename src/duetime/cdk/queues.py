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

_KEPT = Duration.days(14)


def visibility_of(timeout: timedelta) -> timedelta:
    """The visibility time-out of a due queue whose function has this time-out."""
    return timeout + VISIBILITY_BEYOND_TIMEOUT


class DueQueue(Construct):
    """A worker's due queue. What cannot be handled ends in `dead`, where it is kept for two weeks."""

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, timeout: timedelta, max_receives: int
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead = _queue(self, "Dead", f"{name}-dead")
        self.queue = _queue(
            self,
            "Queue",
            name,
            visibility=visibility_of(timeout),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead, max_receive_count=max_receives),
        )


class FailureQueue(Construct):
    """Where stream batches, wakes and passes go that failed for good: nothing waits for them, people look at them.

    EventBridge puts there what the rules named by `rules` could not deliver.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, rules: str) -> None:
        super().__init__(scope, construct_id)
        self.queue = _queue(self, "Queue", name)
        self.queue.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.queue.queue_arn],
                conditions={"ArnLike": {"aws:SourceArn": rules}},
            )
        )
        accept(self.queue, "AwsSolutions-SQS3", "It is itself where failures end; no function reads it.")


def _queue(
    scope: Construct,
    construct_id: str,
    name: str,
    *,
    visibility: timedelta = timedelta(seconds=30),
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
