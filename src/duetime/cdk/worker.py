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
from duetime.cdk.job_rights import let_claim, let_plan
from duetime.cdk.queues import visibility_of
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import may, read_manifests, send, take_from
from duetime.cdk.tables import Tables


class WorkerFunction(Construct):
    """Runs the handlers of one app. Grant `function` the rights that the handlers need."""

    def __init__(
        self, scope: Construct, construct_id: str, handlers: Handlers, resources: SharedResources
    ) -> None:
        super().__init__(scope, construct_id)
        queue, deployment = resources.due[handlers.worker].queue, resources.deployment
        settings = replace(
            resources.settings,
            app=handlers.app,
            queues={handlers.worker: queue.queue_url},
            queue_visibility=visibility_of(deployment.worker_timeout),
        )
        spec = FunctionSpec(
            name=f"{settings.prefix}work-{handlers.worker}",
            about=f"runs the handlers of {handlers.app}",
            entry="work",
            timeout=deployment.worker_timeout,
            environment=settings.to_env(),
            sends_to_own_queue=True,
            rights=[*_to_work(resources.tables), take_from(queue.queue_arn), send(queue.queue_arn)],
        )
        work = DuetimeFunction(
            self, "Work", spec, Bundle.for_deployment(deployment, handlers).code(), deployment
        )
        self.function = work.function
        feed(self, "Due", work, queue, at_once=handlers.concurrency)


def feed(
    scope: Construct,
    construct_id: str,
    function: DuetimeFunction,
    queue: sqs.Queue,
    *,
    at_once: int | None = None,
) -> None:
    """Have Lambda call a function for each message of its queue.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        function: what Lambda calls.
        queue: what Lambda polls.
        at_once: the most messages at a time. Lambda polls an idle queue with five pollers if there is a
            bound, else with two.
    """
    lambda_.EventSourceMapping(
        scope,
        construct_id,
        target=function.function,
        event_source_arn=queue.queue_arn,
        batch_size=1,  # no action waits for another
        max_concurrency=at_once,
        report_batch_item_failures=True,
    )


def _to_work(tables: Tables) -> list[iam.PolicyStatement]:
    """Allow to claim, renew and settle actions, to see slot holders, and to plan the next runs of a job."""
    actions, jobs = tables.actions.table_arn, tables.jobs.table_arn
    return [
        may("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=actions),
        may("dynamodb:ConditionCheckItem", on=actions),  # finished holders of a lock or a slot
        may("dynamodb:Query", on=tables.index_arn(DUE.name)),  # runs without a lock, after `allow`
        *let_plan(actions, jobs),
        *let_claim(jobs),
        read_manifests(jobs),
    ]
