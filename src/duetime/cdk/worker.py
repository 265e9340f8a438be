"""A worker: the function that hosts handlers, fed by its own due queue and bounded by its own concurrency."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.handlers import Handlers
from duetime.cdk.job_rights import let_admit, let_plan
from duetime.cdk.queues import DueQueue, visibility_of
from duetime.cdk.rights import may, read_manifests, send, take_from
from duetime.cdk.tables import Tables
from duetime.settings import Settings


class Worker(Construct):
    """Runs the handlers of one app. Grant `function` whatever the handlers themselves need."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        handlers: Handlers,
        *,
        tables: Tables,
        due: DueQueue,
        settings: Settings,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        queue = due.queue
        mine = replace(
            settings,
            app=handlers.app,
            queues={handlers.worker: queue.queue_url},
            queue_visibility=visibility_of(deployment.worker_timeout),
        )
        duty = FunctionSpec(
            name=f"{settings.prefix}work-{handlers.worker}",
            about=f"runs the handlers of {handlers.app}",
            entry="work",
            timeout=deployment.worker_timeout,
            environment=mine.to_env(),
            is_put_off=True,
            rights=[*_to_work(tables), take_from(queue.queue_arn), send(queue.queue_arn)],
        )
        code = Bundle.of(deployment, handlers).code()
        work = DuetimeFunction(self, "Work", duty, code, deployment)
        self.function = work.function
        feed(self, "Due", work, queue, at_once=handlers.concurrency)


def feed(
    scope: Construct, construct_id: str, function: DuetimeFunction, queue: sqs.Queue, *, at_once: int
) -> None:
    """Have Lambda call a function with each message of its queue, with so many at once."""
    lambda_.EventSourceMapping(
        scope,
        construct_id,
        target=function.function,
        event_source_arn=queue.queue_arn,
        batch_size=1,  # one action waits for no other
        max_concurrency=at_once,
        report_batch_item_failures=True,
    )


def _to_work(tables: Tables) -> list[iam.PolicyStatement]:
    """Claim, renew and settle actions, and see who holds slots; of a job's run with its job, whose next ones are planned then."""
    actions, jobs = tables.actions.table_arn, tables.jobs.table_arn
    return [
        may("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=actions),
        may("dynamodb:ConditionCheckItem", on=actions),  # who held a lock or a slot, and has ended
        *let_plan(actions, jobs),
        *let_admit(jobs),
        read_manifests(jobs),
    ]
