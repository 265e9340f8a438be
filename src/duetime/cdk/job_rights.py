"""Rights over jobs and their runs, by what the steps do with them. A job and its runs have keys that nothing else has."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_iam as iam

from duetime.aws.tables import ATTEND, JOB_NAMES
from duetime.cdk.rights import may, may_by_key
from duetime.ids import SEPARATOR, SYSTEM_TENANT

JOBS = ("*#*-*",)
"""Partitions of jobs in the one table, of their runs in the other: no other name behind a tenant has a hyphen."""

CODES = (f"{SYSTEM_TENANT}#*-*",)
"""Those of the jobs that code declares."""

PAYLOADS = ("*#payload#*",)


def let_plan(actions: str, jobs: str) -> list[iam.PolicyStatement]:
    """Put a job's occurrences, and move its cursor; with it, explain what was missed."""
    return [
        may_by_key("dynamodb:PutItem", on=actions, keys=JOBS),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=JOBS),
    ]


def let_start_by_events(actions: str) -> list[iam.PolicyStatement]:
    """Put an event's run: its row is a job's; its payload may be set apart."""
    return [may_by_key("dynamodb:PutItem", on=actions, keys=PAYLOADS)]


def let_admit(jobs: str) -> list[iam.PolicyStatement]:
    """Claim and settle runs together with their job: what a transaction only checks."""
    return [may_by_key("dynamodb:ConditionCheckItem", on=jobs, keys=JOBS)]


def let_find_due(jobs: str) -> list[iam.PolicyStatement]:
    """Find the jobs that must be attended to."""
    return [may("dynamodb:Query", on=index(jobs, ATTEND.name))]


def let_reconcile(actions: str, jobs: str) -> list[iam.PolicyStatement]:
    """List code's jobs, and retire what a former version planned."""
    return [
        may_by_key("dynamodb:Query", "dynamodb:UpdateItem", on=actions, keys=CODES),
        may_by_key("dynamodb:BatchGetItem", on=jobs, keys=CODES),
        may_by_key("dynamodb:Query", on=index(jobs, JOB_NAMES.name), keys=[SYSTEM_TENANT]),
    ]


def let_manage(actions: str, jobs: str, tenants: Sequence[str] | None) -> list[iam.PolicyStatement]:
    """What `Scheduler.jobs` calls: for every tenant and for code's jobs, or for the own jobs of some tenants.

    Those see code's jobs too, since no tenant's may be named like one of them; they change none and see no run of one.
    """
    runs = ("dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query")
    reads = ("dynamodb:Query", "dynamodb:BatchGetItem")
    by_name = index(jobs, JOB_NAMES.name)
    keys, payloads = (JOBS, PAYLOADS) if tenants is None else (_of(tenants, "*-*"), _of(tenants, "payload#*"))
    mine = [
        may_by_key(*runs, on=actions, keys=keys),
        may_by_key("dynamodb:PutItem", "dynamodb:GetItem", on=actions, keys=payloads),
        may_by_key(*reads, "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=keys),
    ]
    if tenants is None:
        return [*mine, may("dynamodb:Query", on=by_name)]
    return [
        *mine,
        may_by_key(*reads, on=jobs, keys=CODES),
        may_by_key("dynamodb:Query", on=by_name, keys=[*tenants, SYSTEM_TENANT]),
    ]


def index(table: str, name: str) -> str:
    """The ARN of a table's index."""
    return f"{table}/index/{name}"


def _of(tenants: Sequence[str], rest: str) -> Sequence[str]:
    return [f"{tenant}{SEPARATOR}{rest}" for tenant in tenants]
