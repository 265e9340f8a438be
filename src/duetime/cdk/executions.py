"""What a stack grants for an execution: rights, the pattern of its status events, and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_

from duetime.cdk.rights import may
from duetime.cdk.rules import accept


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedExecution:
    """The terms of a grant.

    Attributes:
        service: see `duetime.targets.TargetGrant`, also of `options`.
        pattern: matches the ends of its executions.
    """

    arn: str
    service: str
    pattern: events.EventPattern
    options: Mapping[str, Any] = field(default_factory=dict)


def granted_execution(target: Any, function: lambda_.Function) -> GrantedExecution:
    """Let a function start, find and stop the executions of a target.

    Args:
        target: a state machine, or one of the classes in `duetime.cdk.targets`.
        function: gets the rights.
    """
    if hasattr(target, "state_machine_arn"):
        return _state_machine(target, function)
    if hasattr(target, "task_definition"):
        return _task(target, function)
    if hasattr(target, "job_definition"):
        return _job(target, function)
    return _durable(target, function)


def _state_machine(target: Any, function: lambda_.Function) -> GrantedExecution:
    target.grant_start_execution(function)
    target.grant_execution(function, "states:DescribeExecution", "states:StopExecution")
    _accept(function, target.state_machine_arn, suffix=":*", execution=True)
    return GrantedExecution(
        arn=target.state_machine_arn,
        service="states",
        pattern=events.EventPattern(
            source=["aws.states"],
            detail_type=["Step Functions Execution Status Change"],
            detail={
                "stateMachineArn": [target.state_machine_arn],
                "status": ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"],
            },
        ),
    )


def _task(target: Any, function: lambda_.Function) -> GrantedExecution:
    cluster, definition = target.cluster, target.task_definition
    definition.grant_run(function)
    in_cluster: dict[str, object] = {"ecs:cluster": cluster.cluster_arn}
    tasks = Stack.of(function).format_arn(
        service="ecs", resource="task", resource_name=f"{cluster.cluster_name}/*"
    )
    function.add_to_role_policy(may("ecs:DescribeTasks", "ecs:StopTask", on=tasks, ArnEquals=in_cluster))
    function.add_to_role_policy(may("ecs:ListTasks", on="*", ArnEquals=in_cluster))
    _accept(function, tasks)
    _accept(function, "*")
    subnets = target.subnets or cluster.vpc.private_subnets or cluster.vpc.isolated_subnets
    return GrantedExecution(
        arn=definition.task_definition_arn,
        service="ecs",
        options={
            "cluster": cluster.cluster_arn,
            "container": definition.default_container.container_name,
            "subnets": [subnet.subnet_id for subnet in subnets],
            "security_groups": [group.security_group_id for group in target.security_groups],
            "public": target.public,
        },
        pattern=events.EventPattern(
            source=["aws.ecs"],
            detail_type=["ECS Task State Change"],
            detail={
                "clusterArn": [cluster.cluster_arn],
                "group": [f"family:{definition.family}"],
                "lastStatus": ["STOPPED"],
            },
        ),
    )


def _job(target: Any, function: lambda_.Function) -> GrantedExecution:
    definition, queue = target.job_definition.job_definition_arn, target.job_queue.job_queue_arn
    jobs = Stack.of(function).format_arn(service="batch", resource="job", resource_name="*")
    function.add_to_role_policy(may("batch:SubmitJob", on=[definition, queue]))
    function.add_to_role_policy(may("batch:TerminateJob", on=jobs))
    function.add_to_role_policy(may("batch:ListJobs", "batch:DescribeJobs", on="*"))
    _accept(function, jobs)
    _accept(function, "*")
    return GrantedExecution(
        arn=definition,
        service="batch",
        options={"queue": queue},
        pattern=events.EventPattern(
            source=["aws.batch"],
            detail_type=["Batch Job State Change"],
            detail={"jobQueue": [queue], "status": ["SUCCEEDED", "FAILED"]},
        ),
    )


def _durable(target: Any, function: lambda_.Function) -> GrantedExecution:
    base = target.function.function_arn
    arn = f"{base}:{target.qualifier}"
    function.add_to_role_policy(may("lambda:InvokeFunction", on=arn))
    function.add_to_role_policy(may("lambda:ListDurableExecutionsByFunction", on=[base, arn]))
    executions = ("GetDurableExecution", "StopDurableExecution", "SendDurableExecutionCallbackSuccess")
    function.add_to_role_policy(may(*(f"lambda:{action}" for action in executions), on=f"{base}:*"))
    _accept(function, base, suffix=":*")
    return GrantedExecution(
        arn=arn,
        service="durable",
        pattern=events.EventPattern(
            source=["aws.lambda"],
            detail_type=["Durable Execution Status Change"],
            detail={
                "functionArn": [{"prefix": base}],
                "status": ["SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED"],
            },
        ),
    )


def _accept(function: lambda_.Function, arn: str, *, suffix: str = "", execution: bool = False) -> None:
    """Accept cdk-nag's finding of a wildcard, if its text for the resource is known."""
    shown = _shown(Stack.of(function).resolve(arn))
    if execution and ":stateMachine:" not in shown:  # a state machine of the stack: its ARN is a reference
        return
    named = shown.replace(":stateMachine:", ":execution:") + suffix
    if function.role is not None:
        reason = "The ids of executions are unknown at synthesis."
        accept(function.role, f"AwsSolutions-IAM5[Resource::{named}]", reason)


def _shown(value: Any) -> str:
    """Return a resolved value as cdk-nag writes it: a reference as ``<Name.Attribute>``."""
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [between, parts]}:
            return str(between).join(_shown(part) for part in parts)
        case _:
            return str(value)
