"""The rights of a caller's own function to schedule actions or manage jobs: those of the SDK's calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from duetime import ids
from duetime.cdk.job_rights import forbid_event_runs, let_manage
from duetime.cdk.rights import (
    RUN_COUNTS,
    may,
    may_by_key,
    read_manifests,
    read_region,
    read_undelivered,
    send,
)
from duetime.cdk.tables import Tables
from duetime.errors import InvalidArgument
from duetime.model.quota import has_quotas
from duetime.settings import Made, Settings

READS = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query")
"""No Scan, which reads every tenant's rows, and no index without a tenant in its key, such as `due`."""

WRITES = ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem")
"""They write any attribute: IAM restricts the keys alone."""

ONE_SHOTS = ("?", *(f"{place}{ids.SEPARATOR}?" for place in ("payload", "key", "debounce")), "batches")
"""The partitions, after the tenant, of one-shots and of what the SDK writes beside them.

Runs of jobs have other partitions, and so have concurrency slots: workers alone write them.
"""

_PATTERN = frozenset("*?$")


def schedule_rights(tables: Tables, tenants: Sequence[str] | None) -> list[iam.PolicyStatement]:
    """Return the rights to schedule, for all tenants or for some, and to read which types workers host.

    For some tenants, they include no write of a job's run: an event's run takes the lock of code's job.

    Raises:
        InvalidArgument: a tenant that cannot be part of a key, or that is a pattern in IAM.
        ValueError: `tenants` is empty.
    """
    on_table, hosted = tables.actions.table_arn, read_manifests(tables.jobs.table_arn)
    indexes = tables.tenant_indexes
    if tenants is None:
        queries = (may("dynamodb:Query", on=index) for index in indexes)
        return [may(*READS, *WRITES, on=on_table), *queries, hosted]
    names = _checked(tenants)
    keys = [f"{tenant}{ids.SEPARATOR}*" for tenant in names]
    one_shots = [f"{tenant}{ids.SEPARATOR}{form}" for tenant in names for form in ONE_SHOTS]
    return [
        may_by_key(*READS, on=on_table, keys=keys),
        may_by_key(*WRITES, on=on_table, keys=one_shots),
        *(may_by_key("dynamodb:Query", on=index, keys=keys) for index in indexes),
        hosted,
    ]


def grant_redrive(
    function: lambda_.Function, tables: Tables, failures: sqs.Queue, settings: Settings
) -> None:
    """Grant the rights, and set the environment with which `Scheduler.from_env` finds undelivered inputs."""
    rights = [read_undelivered(tables.jobs.table_arn), send(failures.queue_arn)]
    _grant(function, rights, _names(settings).with_made(failure_queue=failures.queue_url))


def _checked(tenants: Sequence[str]) -> list[str]:
    if not tenants:
        raise ValueError("tenants is empty; name at least one, or omit it for all")
    return [_literal(tenant) for tenant in tenants]


def _literal(tenant: str) -> str:
    """Return a tenant that is no pattern in IAM: one named ``*`` would match all of them."""
    if found := _PATTERN & set(ids.tenant(tenant)):
        raise InvalidArgument(
            f"cannot be granted: {min(found)} is a pattern in IAM", field="tenant", value=tenant
        )
    return tenant


def grant_schedule(
    function: iam.IGrantable, tables: Tables, settings: Settings, tenants: Sequence[str] | None
) -> None:
    """Grant the rights, and set the environment with which `Scheduler.from_env` finds the table."""
    rights = schedule_rights(tables, tenants)
    if settings.regions_table:  # a hand-over is ended in the active region only
        rights.append(read_region(tables, settings.regions_table))
    if has_quotas(settings):
        keys = [RUN_COUNTS.replace("*", tenant) for tenant in tenants or "*"]
        rights.append(may_by_key("dynamodb:Query", on=tables.jobs.table_arn, keys=keys))
    _grant(function, rights, caller_settings(settings))


def grant_manage_jobs(
    function: iam.IGrantable,
    tables: Tables,
    settings: Settings,
    tenants: Sequence[str] | None,
    event_jobs: Sequence[str],
) -> None:
    """Grant the rights, and set the environment with which `Scheduler.from_env` finds both tables.

    Args:
        function: gets them.
        tables: the deployment's.
        settings: the deployment's.
        tenants: whose own jobs; None for all jobs.
        event_jobs: the jobs of code that events start for tenants.

    Raises:
        InvalidArgument: a tenant that cannot be part of a key, or that is a pattern in IAM.
        ValueError: `tenants` is empty.
    """
    environment = replace(
        caller_settings(settings),
        enabled=settings.enabled,
        job_grace=settings.job_grace,
        default_tz=settings.default_tz,
        event_sources=settings.event_sources,
        grace=settings.grace,
    )
    checked = None if tenants is None else _checked(tenants)
    jobs = tables.jobs.table_arn
    rights = [*let_manage(tables.actions.table_arn, jobs, checked), read_manifests(jobs)]
    if checked and event_jobs:
        rights.append(forbid_event_runs(tables.actions.table_arn, checked, event_jobs))
    _grant(function, rights, environment)


def caller_settings(settings: Settings) -> Settings:
    """Return the settings that a caller needs to schedule, and no more."""
    return replace(
        _names(settings),
        due_shards=settings.due_shards,
        due_order=settings.due_order,
        high_priority=settings.high_priority,
        retention=settings.retention,
        idempotency_ttl=settings.idempotency_ttl,
        quotas=settings.quotas,
        regions_table=settings.regions_table,
    )


def _names(settings: Settings) -> Settings:
    """Return only the deployment's names; so several grants to one function set equal variables."""
    return Settings(
        prefix=settings.prefix,
        made=Made(actions_table=settings.made.actions_table, jobs_table=settings.made.jobs_table),
        tenants=settings.tenants,
        check_types=settings.check_types,
    )


def _grant(grantee: iam.IGrantable, rights: Sequence[iam.PolicyStatement], settings: Settings) -> None:
    """Grant rights to any role, and set the environment of functions that the stack itself defines."""
    for statement in rights:
        grantee.grant_principal.add_to_principal_policy(statement)
    if isinstance(grantee, lambda_.Function | lambda_.SingletonFunction):
        for name, value in settings.to_env().items():
            grantee.add_environment(name, value)
