"""A worked example: each night, a container writes a report for hours; no Lambda waits for it.

The job has no handler: each run starts a task of ECS, and is handed over until the task ends.
"""

from __future__ import annotations

from datetime import timedelta

import boto3

from duetime import Registration, Scheduler, daily
from duetime.targets import EcsTask, TargetGrant

REPORT = EcsTask(
    task_definition="report",
    command=["report", "--yesterday"],
    timeout=timedelta(hours=6),
)


def register(scheduler: Scheduler) -> None:
    """Have the report written each night; a repeat changes nothing."""
    scheduler.jobs.register(
        Registration(
            name="nightly-report",
            handler=REPORT,
            cadences=[daily("02:00", tz="Europe/Paris")],
            replace=True,
        )
    )


def make_cluster() -> TargetGrant:
    """Create a cluster and the task definition on moto; return the grant that a stack makes of its own."""
    ecs, container = boto3.client("ecs"), {"name": "main", "image": "report", "memory": 512}
    cluster = ecs.create_cluster(clusterName="night")["cluster"]["clusterArn"]
    definition = ecs.register_task_definition(
        family="report",
        containerDefinitions=[container],
        requiresCompatibilities=["FARGATE"],
        networkMode="awsvpc",
        cpu="256",
        memory="512",
    )["taskDefinition"]["taskDefinitionArn"]
    subnets = [subnet["SubnetId"] for subnet in boto3.client("ec2").describe_subnets()["Subnets"]]
    return TargetGrant(
        arn=definition, options={"cluster": cluster, "container": "main", "subnets": subnets[:2]}
    )
