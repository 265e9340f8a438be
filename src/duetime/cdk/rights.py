"""All rights that roles get. docs/security.md lists which function gets which.

Items other than actions have their own partitions, ``system#…``: a role can be restricted to them by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.cdk.tables import TableStream, table_arn

MANIFESTS = "system#manifest"
BOOKMARKS = "system#bookmark"
FORMAT = "system#format"
UNDELIVERED = "system#undelivered"
PAUSES = "system#pauses"
FAILURES = "system#failures"
LIMITS = "system#limits"
REGION = "system#region"
RUN_COUNTS = "*#counts"
TAILS = "*#tail#*"


def may(*actions: str, on: str | Sequence[str], **conditions: dict[str, object]) -> iam.PolicyStatement:
    """Allow `actions` on one or more ARNs; conditions are named by IAM's operator."""
    arns = [on] if isinstance(on, str) else list(on)
    return iam.PolicyStatement(actions=list(actions), resources=arns, conditions=conditions or None)


def may_by_key(*actions: str, on: str | Sequence[str], keys: Iterable[str]) -> iam.PolicyStatement:
    """Allow `actions` on items whose partition key matches one of `keys`.

    ForAllValues holds for a request without any key, such as a Scan; the Null check denies those.
    """
    conditions: dict[str, dict[str, object]] = {
        "ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(keys)},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    return may(*actions, on=on, **conditions)


def read_manifests(jobs: str) -> iam.PolicyStatement:
    """Allow to find a type's queue."""
    return may_by_key("dynamodb:Query", on=jobs, keys=[MANIFESTS])


def read_region(scope: Construct, table: str) -> iam.PolicyStatement:
    """Allow to read which region is active, in the table of that name or ARN."""
    arn = table if table.startswith("arn:") else table_arn(scope, table)
    return may_by_key("dynamodb:GetItem", on=arn, keys=[REGION])


def leave_to_wheel(jobs: str) -> iam.PolicyStatement:
    """Allow to write the bookmark of actions that have no timer."""
    return may_by_key("dynamodb:PutItem", on=jobs, keys=[BOOKMARKS])


def let_follow(actions: str) -> list[iam.PolicyStatement]:
    """Allow to count batches from their members' rows, and to release held actions."""
    return [
        may_by_key("dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem", on=actions, keys=["*#?"]),
        may_by_key("dynamodb:UpdateItem", on=actions, keys=["*#?", "*#payload#?"]),
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=actions, keys=["*#batches"]),
    ]


def keep_bookmarks(jobs: str) -> iam.PolicyStatement:
    """Allow to store the progress of a pass."""
    return may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[BOOKMARKS])


def keep_undelivered(jobs: str) -> iam.PolicyStatement:
    """Allow to store, read and delete undelivered inputs."""
    rights = ("dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:DeleteItem")
    return may_by_key(*rights, on=jobs, keys=[UNDELIVERED])


def read_undelivered(jobs: str) -> iam.PolicyStatement:
    """Allow to list and read undelivered inputs."""
    return may_by_key("dynamodb:Query", "dynamodb:GetItem", on=jobs, keys=[UNDELIVERED])


def keep_notified(jobs: str) -> list[iam.PolicyStatement]:
    """Allow to read preferences, to add to tenants' lists, and to store counts and deliveries."""
    rights = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem")
    return [
        may_by_key("dynamodb:GetItem", on=jobs, keys=["*#preferences"]),
        may_by_key("dynamodb:PutItem", on=jobs, keys=["*#inbox"]),
        may_by_key(*rights, "dynamodb:Query", on=jobs, keys=["*#notified#*"]),
    ]


def publish_manifests(jobs: str) -> list[iam.PolicyStatement]:
    """Allow to publish a worker's types, and to read and write the tables' format."""
    return [
        may_by_key("dynamodb:PutItem", "dynamodb:DeleteItem", on=jobs, keys=[MANIFESTS]),
        may("dynamodb:DescribeTable", on=jobs),  # without a key: the table may not exist yet
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[FORMAT]),
    ]


def send(queues: str | Sequence[str]) -> iam.PolicyStatement:
    """Allow to send messages to queues."""
    return may("sqs:SendMessage", on=queues)


def take_from(queue: str) -> iam.PolicyStatement:
    """Allow Lambda to feed a function from its queue, and a heartbeat to keep a message invisible."""
    return may(
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ChangeMessageVisibility",
        on=queue,
    )


def read_stream(stream: TableStream) -> list[iam.PolicyStatement]:
    """Allow Lambda to feed a function from a table's stream."""
    return [
        may("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", on=stream.arn),
        may("dynamodb:ListStreams", on=stream.pattern),
    ]
