"""A worker on Lambda Managed Instances: EC2 instances in your network, where a run may last 90 minutes.

All facts are from AWS' documentation; no emulator has such instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.rules import accept
from duetime.declare.handler import LONGEST_MANAGED_RUN
from duetime.errors import SettingsError

OLDEST_PYTHON = (3, 13)
"""The oldest Python that managed instances run."""

_POLICY = "AWSLambdaManagedEC2ResourceOperator"
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedInstances:
    """The instances of one worker.

    AWS starts three instances, and bills them while they run. The subnets need a route to DynamoDB, SQS,
    EventBridge and CloudWatch Logs.

    Attributes:
        subnets: the ids of 1 to 16 subnets of one VPC, in several Availability Zones.
        security_groups: the ids of 1 to 5 security groups.
        timeout: the worker's time-out, in place of `worker_timeout`; at most 90 minutes.
        memory: MB of each execution environment, in place of `worker_memory`.
        concurrency: runs at a time in each execution environment, each in its own process.
        most_vcpus: of all instances.

    Raises:
        SettingsError: a value is out of its range.
    """

    subnets: Sequence[str]
    security_groups: Sequence[str]
    timeout: timedelta = LONGEST_MANAGED_RUN
    memory: int = 2_048
    concurrency: int = 1
    most_vcpus: int = 12

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            raise SettingsError(problems)

    def _problems(self) -> Iterator[str]:
        for name, ids, most in (("subnets", self.subnets, 16), ("security_groups", self.security_groups, 5)):
            if isinstance(ids, str) or not 1 <= len(ids) <= most:
                yield f"{name} is {ids!r}; allowed is a list of 1 to {most} ids"
        if not _SECOND <= self.timeout <= LONGEST_MANAGED_RUN or self.timeout % _SECOND:
            yield f"timeout is {self.timeout}; allowed are whole seconds up to {LONGEST_MANAGED_RUN}"
        for name, value, low, high in (
            ("memory", self.memory, 2_048, 32_768),
            ("concurrency", self.concurrency, 1, 1_600),
            ("most_vcpus", self.most_vcpus, 2, 15_000),
        ):
            if not low <= value <= high:
                yield f"{name} is {value}; allowed is {low:,} to {high:,}"


def run_on(
    scope: Construct, instances: ManagedInstances, function: lambda_.Function, name: str
) -> lambda_.Version:
    """Have a function run on instances; return its version, whose publication starts them.

    Args:
        scope: as in CDK.
        instances: of the function.
        function: has the architecture of the instances.
        name: of the capacity provider.
    """
    operator = iam.Role(
        scope,
        "Operator",
        description=f"duetime: starts and stops the instances of {name}",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(_POLICY)],
    )
    accept(
        operator,
        f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_POLICY}]",
        "AWS maintains what Lambda needs to manage instances.",
    )
    provider = lambda_.CfnCapacityProvider(
        scope,
        "Instances",
        capacity_provider_name=name,
        permissions_config=lambda_.CfnCapacityProvider.CapacityProviderPermissionsConfigProperty(
            capacity_provider_operator_role_arn=operator.role_arn
        ),
        vpc_config=lambda_.CfnCapacityProvider.CapacityProviderVpcConfigProperty(
            subnet_ids=list(instances.subnets), security_group_ids=list(instances.security_groups)
        ),
        instance_requirements=lambda_.CfnCapacityProvider.InstanceRequirementsProperty(
            architectures=[function.architecture.name]
        ),
        capacity_provider_scaling_config=lambda_.CfnCapacityProvider.CapacityProviderScalingConfigProperty(
            max_v_cpu_count=instances.most_vcpus, scaling_mode="Auto"
        ),
    )
    resource = function.node.default_child
    assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101 - CDK's contract
    resource.capacity_provider_config = lambda_.CfnFunction.CapacityProviderConfigProperty(
        lambda_managed_instances_capacity_provider_config=(
            lambda_.CfnFunction.LambdaManagedInstancesCapacityProviderConfigProperty(
                capacity_provider_arn=provider.attr_arn,
                per_execution_environment_max_concurrency=instances.concurrency,
            )
        )
    )
    return function.current_version
