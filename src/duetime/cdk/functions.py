"""One Lambda function of duetime's: its own role, its own log group, and rights that are said one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from duetime.cdk.deployment import Deployment
from duetime.cdk.environment import check_size
from duetime.cdk.log_group import log_group
from duetime.cdk.rights import may
from duetime.cdk.rules import accept


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """What a function is there for."""

    name: str
    about: str
    entry: str
    """The entry point's module in ``functions/``."""
    timeout: timedelta
    rights: Sequence[iam.PolicyStatement]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_put_off: bool = False
    """It sends messages to the queue that feeds it: what Lambda would otherwise stop as a loop after 16 rounds."""


class DuetimeFunction(Construct):
    """A function that does one duty.

    Raises:
        SettingsError: its environment is larger than Lambda takes.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        duty: FunctionSpec,
        code: lambda_.Code,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._duty = duty
        check_size(self, duty.name, duty.environment)
        lines = log_group(self, f"/aws/lambda/{duty.name}", days=deployment.log_days)
        self.role = _role(self, duty, lines)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=duty.name,
            description=duty.about,
            runtime=lambda_.Runtime(f"python{deployment.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=_ARCHITECTURES[deployment.architecture],
            handler=f"duetime.functions.{duty.entry}.handler",
            code=code,
            role=self.role,
            timeout=Duration.seconds(duty.timeout.total_seconds()),
            memory_size=deployment.worker_memory if duty.entry == "work" else deployment.function_memory,
            environment=dict(duty.environment),
            log_group=lines,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if duty.is_put_off else None,
        )
        accept(
            self.function,
            "AwsSolutions-L1",
            "The Python is a setting; its default is one that all libraries have.",
        )

    def tell(self, name: str, value: str) -> None:
        """Add to its environment what was not known when it was made.

        Raises:
            SettingsError: its environment is larger than Lambda takes.
        """
        check_size(self, self._duty.name, {**self._duty.environment, name: value})
        self.function.add_environment(name, value)

    def retry(self, attempts: int, *, at_most: timedelta, failures: str) -> None:
        """Bound how often and how long an asynchronous call is repeated; then it goes to `failures`, a queue's ARN."""
        lambda_.CfnEventInvokeConfig(
            self,
            "Retry",
            function_name=self.function.function_name,
            qualifier="$LATEST",
            maximum_retry_attempts=attempts,
            maximum_event_age_in_seconds=int(at_most.total_seconds()),
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=failures)
            ),
        )


def _role(scope: Construct, duty: FunctionSpec, lines: logs.LogGroup) -> iam.Role:
    """The rights are in the role itself: they are there before the function is, so its first call has them."""
    log = may("logs:CreateLogStream", "logs:PutLogEvents", on=lines.log_group_arn)
    return iam.Role(
        scope,
        "Role",
        description=f"duetime: {duty.about}",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        inline_policies={"duty": iam.PolicyDocument(statements=[log, *duty.rights])},
    )


_ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}
