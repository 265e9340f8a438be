"""A Lambda function of duetime: its own role, its own log group, and an explicit list of rights."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.deployment import Deployment
from duetime.cdk.hardening import use_key
from duetime.cdk.log_group import log_group
from duetime.cdk.rights import may, read_region
from duetime.cdk.rules import accept
from duetime.environment import PREFIX, REGIONS_TABLE
from duetime.errors import SettingsError
from duetime.settings import check_variables

LARGEST = 4_096
"""Bytes of all variables together, as JSON: Lambda's quota."""

_TOKEN = re.compile(r"\$\{Token\[(?P<name>[^\]]*)\]\}")
_KNOWN = {"AWS.Partition": 10, "AWS.Region": 14, "AWS.AccountId": 12, "AWS.URLSuffix": 16}
"""Bytes of values known only at deployment, such as ``aws-us-gov`` and ``ap-southeast-1``."""

_UNKNOWN = 90
"""Bytes of other values: a queue's URL or an ARN with a name of usual length."""

_URL = "https://sqs.ap-southeast-1.amazonaws.com/123456789012/"
_SHOWN = 3

_REMEDIES = {
    "roles": "grant what actions and jobs need at run time (PUT /grants/{role})",
    "identities": "let services of one tenant and the same roles share one IAM role",
    "targets": "grant fewer targets",
    "queues": "deploy fewer workers, or give them shorter names",
}


def check_environment(scope: Construct, function: str, environment: Mapping[str, str]) -> None:
    """Check that a function can start with an environment.

    Raises:
        SettingsError: a name is unknown; or it is too large. The message names the largest settings, and
            remedies.
    """
    check_variables(environment)
    if _size(environment, {}) <= LARGEST:
        return
    urls = _urls(scope)  # exact, but slow
    size = _size(environment, urls)
    if size > LARGEST:
        raise SettingsError([_message(function, size, environment, urls)])


def _message(function: str, size: int, environment: Mapping[str, str], urls: Mapping[str, str]) -> str:
    sizes = {name: _size({name: value}, urls) for name, value in environment.items()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_SHOWN]
    names = {name: name.removeprefix(PREFIX).lower() for name in largest}
    listed = ", ".join(f"{names[name]} ({sizes[name]:,})" for name in largest)
    remedies = "; ".join(_REMEDIES[name] for name in names.values() if name in _REMEDIES)
    return (
        f"the environment of {function} is {size:,} bytes; Lambda allows {LARGEST:,}. The largest settings in"
        f" it are {listed}; {remedies or 'shorten them'}"
    )


def _size(environment: Mapping[str, str], urls: Mapping[str, str]) -> int:
    """Return the bytes of the JSON that Lambda measures, with tokens as long as their deployed values."""
    deployed = {name: _deployed(value, urls) for name, value in environment.items()}
    return len(json.dumps(deployed, ensure_ascii=False, separators=(",", ":")).encode())


def _deployed(value: str, urls: Mapping[str, str]) -> str:
    for token, url in urls.items():
        value = value.replace(token, url)
    return _TOKEN.sub(lambda found: "x" * _KNOWN.get(found["name"].rpartition(".")[0], _UNKNOWN), value)


def _urls(scope: Construct) -> Mapping[str, str]:
    """Return a URL of the deployed length for each queue of the stack."""
    queues = [part for part in Stack.of(scope).node.find_all() if isinstance(part, sqs.Queue)]
    return {queue.queue_url: f"{_URL}{_name_of(queue)}" for queue in queues}


def _name_of(queue: sqs.Queue) -> str:
    made = queue.node.default_child
    return (made.queue_name or "") if isinstance(made, sqs.CfnQueue) else ""


LEAST_MEMORY = 128
"""Lambda's least memory of a function, in MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """The purpose, rights and environment of a function.

    Attributes:
        name: its name, with the prefix.
        about: its description.
        entry: the entry point's module in ``functions/``.
        timeout: Lambda's.
        rights: all but those to write its log.
        environment: its variables.
        memory_share: the part of `function_memory` that it gets; Lambda's least is 128 MB.
        sends_to_own_queue: it sends messages to the queue that feeds it. Lambda would stop that as a loop
            after 16 rounds.
    """

    name: str
    about: str
    entry: str
    timeout: timedelta
    rights: Sequence[iam.PolicyStatement]
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_share: float = 1
    sends_to_own_queue: bool = False


class DuetimeFunction(Construct):
    """A function with one purpose.

    Raises:
        SettingsError: its name is unknown, or the environment is larger than Lambda allows.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        spec: FunctionSpec,
        code: lambda_.Code,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._spec = spec
        self.variables = dict(spec.environment)
        check_environment(self, spec.name, self.variables)
        lines = log_group(self, f"/aws/lambda/{spec.name}", days=deployment.log_days)
        self._duty = _duty(self, spec, lines, deployment.kms_key)
        self.role = _role(self, spec, self._duty)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=spec.name,
            description=spec.about,
            runtime=lambda_.Runtime(f"python{deployment.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=_ARCHITECTURES[deployment.architecture],
            handler=f"duetime.functions.{spec.entry}.handler",
            code=code,
            role=self.role,
            timeout=Duration.seconds(spec.timeout.total_seconds()),
            memory_size=_memory(spec, deployment),
            environment=self.variables,
            log_group=lines,
            logging_format=lambda_.LoggingFormat.JSON,  # only this format has levels
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            reserved_concurrent_executions=_reserved(spec, deployment),
            recursive_loop=lambda_.RecursiveLoop.ALLOW if spec.sends_to_own_queue else None,
        )
        accept(
            self.function,
            "AwsSolutions-L1",
            "The Python is a setting; all libraries support its default.",
        )

    def add_environment(self, name: str, value: str) -> None:
        """Add a variable that was unknown when the function was created.

        Raises:
            SettingsError: its name is unknown, or the environment is larger than Lambda allows.
        """
        self.variables = {**self.variables, name: value}
        check_environment(self, self._spec.name, self.variables)
        self.function.add_environment(name, value)

    def allow(self, *rights: iam.PolicyStatement) -> None:
        """Add rights that were unknown when the function was created."""
        self._duty.add_statements(*rights)

    def set_retries(self, attempts: int, *, at_most: timedelta, failures: str) -> None:
        """Limit the retries of an asynchronous call; after them it goes to `failures`, a queue's ARN."""
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


def _memory(spec: FunctionSpec, deployment: Deployment) -> int:
    if spec.entry == "work":
        return deployment.worker_memory
    return memory_of(deployment, spec.memory_share)


def memory_of(deployment: Deployment, share: float) -> int:
    """Return the MB of a function that gets this part of `function_memory`."""
    return max(LEAST_MEMORY, int(deployment.function_memory * share))


def _reserved(spec: FunctionSpec, deployment: Deployment) -> int | None:
    return deployment.reserved_concurrency or None if spec.entry == "work" else None


def _duty(scope: Construct, spec: FunctionSpec, lines: logs.LogGroup, key: str) -> iam.PolicyDocument:
    log = may("logs:CreateLogStream", "logs:PutLogEvents", on=lines.log_group_arn)
    return iam.PolicyDocument(statements=[log, *spec.rights, *use_key(key), *_read_region(scope, spec)])


def _role(scope: Construct, spec: FunctionSpec, duty: iam.PolicyDocument) -> iam.Role:
    return iam.Role(
        scope,
        "Role",
        description=f"duetime: {spec.about}",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        inline_policies={"duty": duty},
    )


def _read_region(scope: Construct, spec: FunctionSpec) -> Sequence[iam.PolicyStatement]:
    """With a standby region, allow a function that has the settings to read which region is active."""
    table = spec.environment.get(REGIONS_TABLE)
    return [read_region(scope, table)] if table else []


_ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}
