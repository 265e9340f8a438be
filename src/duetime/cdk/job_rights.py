"""The rights on jobs and their runs that each step needs. Only jobs and runs have keys of their form."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_iam as iam

from duetime import instant
from duetime.aws.tables import JOB_NAMES, MAINTENANCE
from duetime.cdk.rights import PAUSES, may, may_by_key
from duetime.ids import SEPARATOR, SYSTEM_TENANT
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Definition

JOBS = ("*#*-*",)
"""The partitions of jobs and of their runs: after a tenant, only their names have a hyphen."""

CODES = (f"{SYSTEM_TENANT}#*-*",)
"""The partitions of jobs that code declares."""

PAYLOADS = ("*#payload#*",)

CHECKS = (f"{SYSTEM_TENANT}{SEPARATOR}?",)
"""The partitions of the system's one-shots: checks of deadlines, and canaries."""


def let_plan(actions: str, jobs: str) -> list[iam.PolicyStatement]:
    """Allow to plan a job's occurrences and the checks of their deadlines unless its tenant is paused.

    Also to move its cursor, and to explain gaps.
    """
    return [
        may_by_key("dynamodb:PutItem", on=actions, keys=[*JOBS, *CHECKS]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=JOBS),
        may_by_key("dynamodb:Query", on=jobs, keys=[PAUSES]),
    ]


def let_start_by_events(actions: str) -> list[iam.PolicyStatement]:
    """Allow to plan an event's run. Its row is a job's; its payload may be offloaded."""
    return [may_by_key("dynamodb:PutItem", on=actions, keys=PAYLOADS)]


def let_claim(jobs: str) -> list[iam.PolicyStatement]:
    """Allow to check the job in the transaction that claims or settles its run."""
    return [may_by_key("dynamodb:ConditionCheckItem", on=jobs, keys=JOBS)]


def let_backfill(actions: str) -> list[iam.PolicyStatement]:
    """Allow to find which nominal times ran, to count a backfill's runs, and to cancel them."""
    return [
        may_by_key("dynamodb:Query", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=actions, keys=JOBS)
    ]


def let_find_due(jobs: str) -> list[iam.PolicyStatement]:
    """Allow to find the jobs that need maintenance."""
    return [may("dynamodb:Query", on=index(jobs, MAINTENANCE.name))]


def let_reconcile(actions: str, jobs: str) -> list[iam.PolicyStatement]:
    """Allow to list code's jobs, and to retire runs that a previous version planned."""
    return [
        may_by_key("dynamodb:Query", "dynamodb:UpdateItem", on=actions, keys=CODES),
        may_by_key("dynamodb:BatchGetItem", on=jobs, keys=CODES),
        may_by_key("dynamodb:Query", on=index(jobs, JOB_NAMES.name), keys=[SYSTEM_TENANT]),
    ]


def let_manage(actions: str, jobs: str, tenants: Sequence[str] | None) -> list[iam.PolicyStatement]:
    """Allow the calls of `Scheduler.jobs`: on all jobs, or on the own jobs of some tenants.

    These tenants may read code's jobs, since theirs must not share a name with them. They cannot change
    those jobs or see their runs.
    """
    runs = (
        *("dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem"),
        *("dynamodb:Query", "dynamodb:BatchGetItem"),
    )
    reads = ("dynamodb:Query", "dynamodb:BatchGetItem")
    by_name = index(jobs, JOB_NAMES.name)
    keys, payloads = (
        (JOBS, PAYLOADS)
        if tenants is None
        else (_partitions(tenants, "*-*"), _partitions(tenants, "payload#*"))
    )
    own = [
        may_by_key(*runs, on=actions, keys=keys),
        may_by_key("dynamodb:PutItem", "dynamodb:GetItem", on=actions, keys=payloads),
        may_by_key(*reads, "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=keys),
    ]
    if tenants is None:
        return [*own, may("dynamodb:Query", on=by_name)]
    return [
        *own,
        may_by_key(*reads, on=jobs, keys=CODES),
        may_by_key("dynamodb:Query", on=by_name, keys=[*tenants, SYSTEM_TENANT]),
    ]


def serves_tenants(job: Definition) -> bool:
    """Return whether events start runs of this job for tenants."""
    triggers = CadenceSet.parse(job.cadences, instant.EARLIEST).triggers
    return any(trigger.tenant for trigger in triggers)


def forbid_event_runs(actions: str, tenants: Sequence[str], jobs: Sequence[str]) -> iam.PolicyStatement:
    """Forbid to write the runs of code's jobs that events start for these tenants.

    Such a run has the key form of the tenant's own runs, and takes the lock of code's job.
    """
    keys = [key for job in jobs for key in _partitions(tenants, job)]
    keys += [f"{key}{SEPARATOR}*" for key in keys]
    return iam.PolicyStatement(
        effect=iam.Effect.DENY,
        actions=["dynamodb:PutItem", "dynamodb:UpdateItem"],
        resources=[actions],
        conditions={"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": keys}},
    )


def index(table: str, name: str) -> str:
    """Return the ARN of a table's index."""
    return f"{table}/index/{name}"


def _partitions(tenants: Sequence[str], name: str) -> Sequence[str]:
    return [f"{tenant}{SEPARATOR}{name}" for tenant in tenants]
