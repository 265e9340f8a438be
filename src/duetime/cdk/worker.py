"""A worker: the function that hosts handlers, fed by its own due queue and bounded by its own concurrency."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.aws.tables import DUE
from duetime.cdk.bundle import Bundle
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.handlers import Handlers
from duetime.cdk.job_rights import JOBS, let_claim, let_plan
from duetime.cdk.queues import visibility_of
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import (
    FAILURES,
    LIMITS,
    PAUSES,
    TAILS,
    may,
    may_by_key,
    read_manifests,
    send,
    take_from,
)
from duetime.cdk.tables import Tables
from duetime.model.priority import high_queue_of, is_high_queue


class WorkerFunction(Construct):
    """Runs the handlers of one app. Grant `function` the rights that the handlers need."""

    def __init__(
        self, scope: Construct, construct_id: str, handlers: Handlers, resources: SharedResources
    ) -> None:
        super().__init__(scope, construct_id)
        deployment, names = resources.deployment, (handlers.worker, high_queue_of(handlers.worker))
        queues = {name: resources.due[name].queue for name in names if name in resources.due}
        settings = replace(resources.settings, app=handlers.app).with_made(
            queues=resources.worker_queue_urls,  # a freed slot wakes actions of other workers too
            queue_visibility=visibility_of(deployment.worker_timeout),
        )
        spec = FunctionSpec(
            name=f"{settings.prefix}work-{handlers.worker}",
            about=f"runs the handlers of {handlers.app}",
            entry="work",
            timeout=deployment.worker_timeout,
            environment=settings.to_env(),
            sends_to_own_queue=True,
            rights=[
                *_to_work(resources.tables),
                *(take_from(queue.queue_arn) for queue in queues.values()),
                send(resources.worker_queue_arns),
            ],
        )
        self.work = work = DuetimeFunction(
            self, "Work", spec, Bundle.for_deployment(deployment, handlers).code(), deployment
        )
        self.function = work.function
        for name, queue in queues.items():
            feed(
                self,
                "High" if is_high_queue(name) else "Due",
                work,
                queue,
                at_once=handlers.concurrency,
                batch=settings.worker_batch,
                pollers=deployment.worker_pollers,
            )


def feed(
    scope: Construct,
    construct_id: str,
    function: DuetimeFunction,
    queue: sqs.Queue,
    *,
    at_once: int | None = None,
    batch: int = 1,
    pollers: int = 0,
) -> None:
    """Have Lambda call a function with the messages of its queue.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        function: what Lambda calls.
        queue: what Lambda polls.
        at_once: the most calls at a time. Lambda polls an idle queue with five pollers if there is a
            bound, else with two.
        batch: the most messages in one call. Lambda calls with those that it has: no message waits for
            another.
        pollers: the provisioned pollers, which exclude `at_once`; 0: Lambda's own.
    """
    provisioned = lambda_.ProvisionedPollerConfig(minimum_pollers=pollers, maximum_pollers=pollers)
    lambda_.EventSourceMapping(
        scope,
        construct_id,
        target=function.function,
        event_source_arn=queue.queue_arn,
        batch_size=batch,
        max_concurrency=None if pollers else at_once,
        provisioned_poller_config=provisioned if pollers else None,
        report_batch_item_failures=True,
    )


def _to_work(tables: Tables) -> list[iam.PolicyStatement]:
    """Allow to claim, renew and settle actions, to see slot holders, and to plan the next runs of a job."""
    actions, jobs = tables.actions.table_arn, tables.jobs.table_arn
    return [
        may("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=actions),
        may("dynamodb:ConditionCheckItem", on=actions),  # finished holders of a lock or a slot
        may_by_key("dynamodb:Query", "dynamodb:DeleteItem", on=actions, keys=[TAILS]),
        may_by_key("dynamodb:Query", on=jobs, keys=[LIMITS]),
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[FAILURES, PAUSES]),  # breakers
        may("dynamodb:Query", on=tables.index_arn(DUE.name)),  # runs without a lock, after `allow`
        *let_plan(actions, jobs),
        may_by_key("dynamodb:Query", on=actions, keys=JOBS),  # which times a backfill leaves out
        *let_claim(jobs),
        read_manifests(jobs),
    ]
