"""A deployment with the four targets that wait for their end."""

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from duetime.cdk import (
    BatchJobTarget,
    Duetime,
    DurableFunctionTarget,
    EcsTaskTarget,
    Handlers,
    from_context,
)
from duetime.rehearsal.emulator import ACCOUNT, REGION

STACK = "targets-scheduler"
MACHINE, CLUSTER, FAMILY = "settle", "night", "report"
DURABLE, JOB, QUEUE = "approve", "import", "night"
"""The tests make these: the emulator's CloudFormation knows no Batch, and makes no durable functions."""


class Targets(cdk.Stack):
    """A scheduler that may run a state machine, a task, a job and a durable function."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        settings, deployment = from_context(self.node)
        handlers = Handlers.from_settings(settings, deployment)
        scheduler = Duetime(self, "Scheduler", settings=settings, deployment=deployment, handlers=[handlers])
        wait = stepfunctions.Wait(
            self, "Wait", time=stepfunctions.WaitTime.seconds_path(stepfunctions.JsonPath.string_at("$.wait"))
        )
        machine = stepfunctions.StateMachine(
            self,
            "Machine",
            state_machine_name=MACHINE,
            definition_body=stepfunctions.DefinitionBody.from_chainable(wait),
        )
        vpc = ec2.Vpc.from_vpc_attributes(
            self, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], private_subnet_ids=["subnet-1"]
        )
        task = ecs.FargateTaskDefinition(self, "Task", family=FAMILY)
        task.add_container("Main", image=ecs.ContainerImage.from_registry("report"))
        durable = lambda_.Function.from_function_arn(self, "Durable", _arn("lambda", f"function:{DURABLE}"))
        for target in (
            machine,
            EcsTaskTarget(
                cluster=ecs.Cluster(self, "Cluster", cluster_name=CLUSTER, vpc=vpc), task_definition=task
            ),
            BatchJobTarget(
                job_definition=batch.EcsJobDefinition.from_job_definition_arn(
                    self, "Job", _arn("batch", f"job-definition/{JOB}:1")
                ),
                job_queue=batch.JobQueue.from_job_queue_arn(
                    self, "Night", _arn("batch", f"job-queue/{QUEUE}")
                ),
            ),
            DurableFunctionTarget(function=durable),
        ):
            scheduler.grant_target(target)


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


if __name__ == "__main__":
    app = cdk.App()
    Targets(app, STACK)
    app.synth()
