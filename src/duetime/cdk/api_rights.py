"""The rights of the API's function: every tenant's actions and jobs, since the request selects the tenant."""

from __future__ import annotations

from aws_cdk import aws_iam as iam

from duetime.aws.tables import AUDIT, DUE, JOB_NAMES
from duetime.cdk.job_rights import JOBS, index
from duetime.cdk.rights import (
    BOOKMARKS,
    LIMITS,
    PAUSES,
    RUN_COUNTS,
    may,
    may_by_key,
    read_manifests,
    read_undelivered,
    send,
)
from duetime.cdk.tables import Tables

GRANTS = "*#grants"
ENTRIES = "*#audit#*"
"""Partitions of the audit trail."""
PREFERENCES = "*#preferences"
INBOXES = "*#inbox"
"""Partitions of tenants' lists of notifications."""


def let_serve(tables: Tables, failures: str, worker_logs: str) -> list[iam.PolicyStatement]:
    """Allow the calls of the routes. Of queues they only request redrives and count waiting failures.

    `worker_logs` is the pattern of the workers' log groups, of which they search the lines of one action.
    """
    jobs = tables.jobs.table_arn
    rows = ("PutItem", "GetItem", "UpdateItem", "ConditionCheckItem", "BatchGetItem", "Query")
    reads = ("dynamodb:Query", "dynamodb:BatchGetItem")
    return [
        may(*(f"dynamodb:{call}" for call in rows), on=tables.actions.table_arn),
        may("dynamodb:Query", on=[tables.index_arn(DUE.name), *tables.tenant_indexes]),
        may_by_key(*reads, "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=JOBS),
        may("dynamodb:Query", on=index(jobs, JOB_NAMES.name)),
        read_manifests(jobs),
        may_by_key("dynamodb:GetItem", on=jobs, keys=[BOOKMARKS]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", on=jobs, keys=[GRANTS]),
        may_by_key(*reads, "dynamodb:PutItem", on=jobs, keys=[ENTRIES]),  # entries are never deleted
        may("dynamodb:Query", on=index(jobs, AUDIT.name)),
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[PREFERENCES]),
        may_by_key("dynamodb:Query", "dynamodb:GetItem", "dynamodb:UpdateItem", on=jobs, keys=[INBOXES]),
        may_by_key("dynamodb:Query", on=jobs, keys=[RUN_COUNTS]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", on=jobs, keys=[PAUSES]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", "dynamodb:DeleteItem", on=jobs, keys=[LIMITS]),
        read_undelivered(jobs),
        send(failures),
        may("sqs:GetQueueAttributes", on=failures),
        may("logs:FilterLogEvents", on=worker_logs),
    ]
