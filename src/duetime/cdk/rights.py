"""Rights: each thing that a role may do, in one place. Which function gets which is told in docs/security.md.

Items that are not actions have partitions of their own, ``system#…``, so that a role can be bound to them by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aws_cdk import aws_iam as iam

from duetime.ids import SEPARATOR

MANIFESTS = "system#manifest"
BOOKMARKS = "system#bookmark"
FORMAT = "system#format"
UNDELIVERED = "system#undelivered"


def may(*actions: str, on: str | Sequence[str], **conditions: dict[str, object]) -> iam.PolicyStatement:
    """Allow `actions` on `on`, an ARN or some; conditions by IAM's operator."""
    arns = [on] if isinstance(on, str) else list(on)
    return iam.PolicyStatement(actions=list(actions), resources=arns, conditions=conditions or None)


def may_by_key(*actions: str, on: str | Sequence[str], keys: Iterable[str]) -> iam.PolicyStatement:
    """Allow `actions` on items whose partition key is like one of `keys`.

    ForAllValues is true of a request without any key, such as a Scan: the Null check refuses those.
    """
    arns = [on] if isinstance(on, str) else list(on)
    return iam.PolicyStatement(
        actions=list(actions),
        resources=arns,
        conditions={
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(keys)},
            "Null": {"dynamodb:LeadingKeys": "false"},
        },
    )


def read_manifests(jobs: str) -> iam.PolicyStatement:
    """Find a type's queue."""
    return may_by_key("dynamodb:Query", on=jobs, keys=[MANIFESTS])


def keep_bookmarks(jobs: str) -> iam.PolicyStatement:
    """Remember how far a pass has come."""
    return may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[BOOKMARKS])


def keep_undelivered(jobs: str) -> iam.PolicyStatement:
    """Keep what was given up, read one of them, and forget what was done again."""
    rights = ("dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:DeleteItem")
    return may_by_key(*rights, on=jobs, keys=[UNDELIVERED])


def read_undelivered(jobs: str) -> iam.PolicyStatement:
    """List what was given up, and look at one of them."""
    return may_by_key("dynamodb:Query", "dynamodb:GetItem", on=jobs, keys=[UNDELIVERED])


def keep_notified(jobs: str) -> list[iam.PolicyStatement]:
    """Read what tenants have chosen, add to their lists, and keep what was counted and sent."""
    rights = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem")
    return [
        may_by_key("dynamodb:GetItem", on=jobs, keys=["*#preferences"]),
        may_by_key("dynamodb:PutItem", on=jobs, keys=["*#inbox"]),
        may_by_key(*rights, "dynamodb:Query", on=jobs, keys=["*#notified#*"]),
    ]


def publish_manifests(jobs: str) -> list[iam.PolicyStatement]:
    """Make a worker's types known, and read and mark the tables' format."""
    return [
        may_by_key("dynamodb:PutItem", "dynamodb:DeleteItem", on=jobs, keys=[MANIFESTS]),
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[FORMAT]),
    ]


def send(queues: str | Sequence[str]) -> iam.PolicyStatement:
    """Send messages, and nothing else, to queues."""
    return may("sqs:SendMessage", on=queues)


def take_from(queue: str) -> iam.PolicyStatement:
    """What Lambda needs to feed a function from its queue, and a heartbeat to keep a message invisible."""
    return may(
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ChangeMessageVisibility",
        on=queue,
    )


def read_stream(stream: str, streams: str) -> list[iam.PolicyStatement]:
    """What Lambda needs to feed a function from a table's stream; `streams` are all those of the table."""
    return [
        may("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", on=stream),
        may("dynamodb:ListStreams", on=streams),
    ]


def tenant_keys(tenants: Iterable[str]) -> list[str]:
    """The partition keys of tenants' items, in the table and in its indexes."""
    return [f"{tenant}{SEPARATOR}*" for tenant in tenants]
