"""What a caller's own function is given to schedule actions, or to manage jobs: no more than the SDK calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from duetime import ids
from duetime.cdk.job_rights import let_manage
from duetime.cdk.rights import may, may_by_key, read_manifests, read_undelivered, send, tenant_keys
from duetime.cdk.tables import Tables
from duetime.errors import InvalidIdentifier
from duetime.settings import Settings

SDK_ACTIONS = (
    "dynamodb:PutItem",
    "dynamodb:GetItem",
    "dynamodb:UpdateItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:BatchGetItem",
    "dynamodb:Query",
)
"""No Scan, which reads every tenant's rows; and no index that has no tenant in its key, as `due`."""

_PATTERN = frozenset("*?$")


def schedule_rights(tables: Tables, tenants: Sequence[str] | None) -> list[iam.PolicyStatement]:
    """The rights of one who schedules, for all tenants or for some.

    Raises:
        InvalidIdentifier: a tenant that cannot be part of a key, or that IAM would read as a pattern.
        ValueError: no tenant at all.
    """
    on_table = tables.actions.table_arn
    indexes = tables.tenant_indexes
    if tenants is None:
        return [may(*SDK_ACTIONS, on=on_table), *(may("dynamodb:Query", on=index) for index in indexes)]
    keys = tenant_keys(_checked(tenants))
    return [
        may_by_key(*SDK_ACTIONS, on=on_table, keys=keys),
        *(may_by_key("dynamodb:Query", on=index, keys=keys) for index in indexes),
    ]


def manage_rights(tables: Tables, tenants: Sequence[str] | None) -> list[iam.PolicyStatement]:
    """The rights of one who manages jobs: every tenant's and code's, or the own jobs of some tenants.

    Raises:
        InvalidIdentifier: a tenant that cannot be part of a key, or that IAM would read as a pattern.
        ValueError: no tenant at all.
    """
    actions, jobs = tables.actions.table_arn, tables.jobs.table_arn
    whose = None if tenants is None else _checked(tenants)
    return [*let_manage(actions, jobs, whose), read_manifests(jobs)]


def grant_redrive(
    function: lambda_.Function, tables: Tables, failures: sqs.Queue, settings: Settings
) -> None:
    """Give a function the rights, and the environment from which `Scheduler.from_env` finds what is undelivered."""
    rights = [read_undelivered(tables.jobs.table_arn), send(failures.queue_arn)]
    told = replace(_named(settings), failure_queue=failures.queue_url)
    _grant(function, rights, told)


def _checked(tenants: Sequence[str]) -> list[str]:
    if not tenants:
        raise ValueError("tenants is empty; name at least one, or leave it out for all")
    return [_literal(tenant) for tenant in tenants]


def _literal(tenant: str) -> str:
    """A tenant that means only itself in IAM's language: one named ``*`` would be all of them."""
    if found := _PATTERN & set(ids.tenant(tenant)):
        raise InvalidIdentifier(
            "tenant", tenant, f"cannot be granted: {min(found)} means more than itself in IAM"
        )
    return tenant


def grant_schedule(
    function: iam.IGrantable, tables: Tables, settings: Settings, tenants: Sequence[str] | None
) -> None:
    """Give a function the rights, and the environment from which `Scheduler.from_env` finds the table."""
    _grant(function, schedule_rights(tables, tenants), told_to_callers(settings))


def grant_manage_jobs(
    function: iam.IGrantable, tables: Tables, settings: Settings, tenants: Sequence[str] | None
) -> None:
    """Give a function the rights, and the environment from which `Scheduler.from_env` finds both tables."""
    told = replace(
        told_to_callers(settings),
        enabled=settings.enabled,
        job_grace=settings.job_grace,
        catch_up_spread=settings.catch_up_spread,
        default_tz=settings.default_tz,
        grace=settings.grace,
    )
    _grant(function, manage_rights(tables, tenants), told)


def told_to_callers(settings: Settings) -> Settings:
    """What one who schedules must know of a deployment, and no more."""
    return replace(
        _named(settings),
        due_shards=settings.due_shards,
        due_order=settings.due_order,
        retention=settings.retention,
        idempotency_ttl=settings.idempotency_ttl,
    )


def _named(settings: Settings) -> Settings:
    """The deployment's names, and nothing else: a function that is granted more than one thing is told the same by each."""
    return replace(
        Settings(prefix=settings.prefix), actions_table=settings.actions_table, jobs_table=settings.jobs_table
    )


def _grant(grantee: iam.IGrantable, rights: Sequence[iam.PolicyStatement], told: Settings) -> None:
    """Rights for whatever has a role; the environment of a function that is imported is not the stack's to change."""
    for statement in rights:
        grantee.grant_principal.add_to_principal_policy(statement)
    if isinstance(grantee, lambda_.Function | lambda_.SingletonFunction):
        for name, value in told.to_env().items():
            grantee.add_environment(name, value)
