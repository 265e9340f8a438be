"""``duetime deployment preflight``: what would fail or be replaced in a deploy, and what is too small."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from duetime.aws.account import Account, Pool
from duetime.aws.find import find
from duetime.cli.doctor import FINDINGS, Finding, is_ill
from duetime.cli.failures import BadUsage
from duetime.cli.output import ProgressBar, print_either
from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.lambdas.deploy import MANIFEST_RESOURCE
from duetime.model.manifest import unpacked

_MISSING = "does not exist"


def problem_of_key(arn: str) -> str | None:
    """Return why a KMS key cannot encrypt the stack's data; None if it can, as far as a read shows.

    Raises:
        BackendMisconfigured: the read is denied.
    """
    found = find("kms", "describe_key", KeyId=arn)
    if found is None:
        return _MISSING
    about = found["KeyMetadata"]
    if about["KeyState"] != "Enabled":
        return f"is in the state {about['KeyState']}"
    spec = about.get("KeySpec", "SYMMETRIC_DEFAULT")
    return None if spec == "SYMMETRIC_DEFAULT" else f"is of the kind {spec}, and must be symmetric"


def problem_of_web_acl(arn: str) -> str | None:
    """Return why a web ACL cannot be attached; None if it can.

    Raises:
        BackendMisconfigured: the read is denied.
    """
    name, acl_id = arn.split("/")[-2:]
    return None if find("wafv2", "get_web_acl", Name=name, Id=acl_id, Scope="REGIONAL") else _MISSING


IMPORT = "npx cdk deploy --import-existing-resources"
NEW_ACCOUNT = 10
"""The executions at once that Lambda allows a new account."""

UNRESERVED = 100
"""The executions of an account that no function may reserve."""

KEPT_FREE = 3
"""Executions for dispatch, the sweep and the API, which no event source bounds."""
_RULES = ("events", "L-244521F2")
_SERVICES = {
    "AWS::Cognito::UserPool": ("cognito-idp", "Amazon Cognito", "set api=services"),
    "AWS::Scheduler::ScheduleGroup": ("scheduler", "EventBridge Scheduler", ""),
    "AWS::SES::Template": ("ses", "Amazon SES", "set mail_from to nothing"),
    "AWS::Lambda::Function": ("lambda", "AWS Lambda", ""),
    "AWS::DynamoDB::Table": ("dynamodb", "DynamoDB", ""),
}
"""The service of a type of resource, its name, and how a deployment does without it."""

_STUCK = {
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --stack-name {name}",
    "DELETE_FAILED": "npx cdk destroy {name}; its events name the resource that could not be deleted",
}
"""The remedy of each status in which a stack cannot be updated."""

_RIGHTS = {
    "AWS::DynamoDB::Table": "dynamodb:CreateTable",
    "AWS::SQS::Queue": "sqs:CreateQueue",
    "AWS::Lambda::Function": "lambda:CreateFunction",
    "AWS::Lambda::EventSourceMapping": "lambda:CreateEventSourceMapping",
    "AWS::IAM::Role": "iam:CreateRole",
    "AWS::Logs::LogGroup": "logs:CreateLogGroup",
    "AWS::Scheduler::ScheduleGroup": "scheduler:CreateScheduleGroup",
    "AWS::Events::Rule": "events:PutRule",
    "AWS::SNS::Topic": "sns:CreateTopic",
    "AWS::Cognito::UserPool": "cognito-idp:CreateUserPool",
    "AWS::ApiGateway::RestApi": "apigateway:POST",
    "AWS::CloudWatch::Alarm": "cloudwatch:PutMetricAlarm",
}
"""The right that creates a resource of a type."""

_NAMED = {
    "kms_key": ("AWS::Lambda::Function", "KmsKeyArn", problem_of_key),
    "web_acl": ("AWS::WAFv2::WebACLAssociation", "WebACLArn", problem_of_web_acl),
}
"""The type and the property of a template that has the ARN of each setting, and its check."""


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if the deploy would fail."""
    stacks, account = read_assembly(arguments.assembly), Account()
    with ProgressBar("compare with the account"):
        caller, region = account.identity(), account.region
        found = [finding for stack in stacks for finding in findings(account, stack)]
    names = ", ".join(stack.name for stack in stacks)
    head = f"{names} in the account {caller.account}, {region}, as {caller.arn}\n"
    facts = [{name: getattr(one, name) for name in ("about", "state", "message", "remedy")} for one in found]
    where = {"account": caller.account, "region": region, "caller": caller.arn}
    content = {**where, "findings": facts, "status": "ill" if is_ill(found) else "ok"}
    return print_either(arguments, content, lambda: f"{head}\n{FINDINGS(facts, SystemClock().now())}") or int(
        is_ill(found)
    )


def findings(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    """Yield the findings of all checks. A check whose reads are denied says which right it needs."""
    checks: dict[str, Callable[[Account, SynthesisedStack], Iterator[Finding]]] = {
        "region": _region,
        "stack": _stack,
        "permissions": _permissions,
        "names": _names,
        "user pool": _pools,
        "log role": _log_role,
        "resources": _resources,
        "concurrency": _concurrency,
        "rules": _rules,
    }
    for about, check in checks.items():
        try:
            yield from check(account, stack)
        except BackendMisconfigured as error:
            yield Finding(about, "look", f"not checked: {error.reason}", "allow this read, and repeat")
        except BackendUnavailable as error:
            yield Finding(about, "look", f"not checked: {error.reason}", "repeat")


def _region(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    lacking = [
        (name, service, without)
        for kind, (service, name, without) in _SERVICES.items()
        if kind in stack.kinds and account.region not in account.regions_with(service)
    ]
    for name, service, without in lacking:
        regions = ", ".join(account.regions_with(service)) or "no region of this partition"
        remedy = f"{without}, or deploy elsewhere: {regions}" if without else f"deploy elsewhere: {regions}"
        yield Finding("region", "ill", f"{account.region} has no {name}, which the stack needs", remedy)
    if not lacking:
        yield Finding("region", "ok", f"{account.region} has all services of the stack")


def _stack(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    """CDK deletes a stack whose creation was rolled back, and creates it again; other failures block it."""
    name, status = stack.name, account.stack_status(stack.name)
    if status in {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}:
        message = f"the first deploy of {name} was rolled back; cdk deploy deletes and creates it"
        yield Finding("stack", "ok", message)
    elif status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        yield Finding(
            "stack", "ill", f"{name} is in {status}: another deploy is under way", "wait for its end"
        )
    elif status in _STUCK:
        message = f"{name} is in {status}: CloudFormation accepts no deploy until it is recovered"
        yield Finding("stack", "ill", message, _STUCK[status].format(name=name))


def _permissions(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    about = stack.properties
    parameter = about.get("bootstrapStackVersionSsmParameter")
    if parameter is None:  # a synthesizer that needs no bootstrap uses the caller's own credentials
        yield Finding("permissions", "ok", "the stack needs no bootstrap")
        return
    version, needed = account.bootstrap_version(parameter), about["requiresBootstrapStackVersion"]
    if version is None or version < needed:
        found = "is missing" if version is None else f"has version {version}; needed is {needed}"
        target = f"aws://{account.identity().account}/{account.region}"
        message = f"the bootstrap stack of {target} {found}"
        yield Finding("permissions", "ill", message, f"npx cdk bootstrap {target}")
        return
    deploy, execute = (
        _resolved(about[name], account) for name in ("assumeRoleArn", "cloudFormationExecutionRoleArn")
    )
    try:
        account.assume(deploy)
    except BackendMisconfigured as error:
        message = f"{account.identity().arn} may not assume {deploy}, in which CDK deploys: {error.reason}"
        yield Finding("permissions", "ill", message, f"allow sts:AssumeRole on {deploy}")
        return
    rights = {right: kind for kind, right in _RIGHTS.items() if kind in stack.kinds}
    denied = account.denied_actions(execute, sorted(rights))
    for right in denied:
        message = f"{execute}, in which CloudFormation works, may not create {rights[right]}"
        yield Finding("permissions", "ill", message, f"allow it {right}, and what else {rights[right]} needs")
    if not denied:
        yield Finding("permissions", "ok", "CDK may deploy, and CloudFormation may create the resources")


def _resolved(arn: str, account: Account) -> str:
    values = {"Partition": account.partition, "AccountId": account.identity().account}
    for name, value in (values | {"Region": account.region}).items():
        arn = arn.replace(f"${{AWS::{name}}}", value)
    return arn


def _names(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    deployed = account.stack_resources(stack.name) or {}
    new = [named for named in stack.named() if named.logical_id not in deployed]
    taken = [named for named in new if account.exists(named.kind, named.name)]
    importable = [named.name for named in taken if named.is_importable]
    if importable:
        message = f"{' and '.join(importable)} exist, with the data of an earlier deployment"
        yield Finding("names", "look", message, IMPORT)
    for named in taken:
        if not named.is_importable:
            message = f"the name {named.name} of an {named.kind} is taken: names are unique in a region"
            yield Finding("names", "ill", message, "delete that resource, or choose another prefix")
    if not taken:
        yield Finding("names", "ok", f"the names of {len(new)} new resources are free")


def _pools(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    has_cognito = account.region in account.regions_with("cognito-idp")
    if not has_cognito or account.stack_resources(stack.name) is not None:
        return
    for properties in stack.of_type("AWS::Cognito::UserPool"):
        for pool in account.pools(properties["UserPoolName"]):
            yield _left_behind(pool, properties["UserPoolName"], account.region)


def _left_behind(pool: Pool, name: str, region: str) -> Finding:
    if not (pool.users or pool.groups):
        commands = (
            f"aws cognito-idp update-user-pool --user-pool-id {pool.id} --deletion-protection INACTIVE;"
            f" aws cognito-idp delete-user-pool --user-pool-id {pool.id}"
        )
        return Finding("user pool", "look", f"{name} {pool.id} of a failed deploy is empty", commands)
    pages = f" -c duetime:sign_in=https://{pool.domain}.auth.{region}.amazoncognito.com"
    return Finding(
        "user pool",
        "look",
        f"{name} {pool.id} of an earlier deployment has {pool.users} users"
        f" and the groups {', '.join(pool.groups) or 'none'}; without a setting, the stack creates another",
        f"{IMPORT} -c duetime:user_pool_id={pool.id}{pages if pool.domain else ''}",
    )


def _log_role(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    deployed = account.stack_resources(stack.name) or {}
    ours = [name for name, row in stack.resources.items() if row["Type"] == "AWS::ApiGateway::Account"]
    if not ours or ours[0] in deployed:
        return
    if role := account.log_role():
        message = (
            f"all REST APIs of the account in {account.region} log in {role}; the deploy replaces it"
            " with a role of the stack, which remains"
        )
        yield Finding("log role", "look", message, "-c duetime:api_log_role=false keeps it")
    else:
        yield Finding("log role", "ok", "API Gateway has none yet: the deploy sets one for all REST APIs")


def _concurrency(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    limit, needed = account.concurrency(), stack.concurrency + KEPT_FREE
    message = f"Lambda runs {limit} executions at once here; the stack uses up to {needed}"
    if stack.reserved and limit - stack.reserved < UNRESERVED:
        yield Finding(
            "concurrency",
            "ill",
            f"{message} and reserves {stack.reserved}; Lambda keeps {UNRESERVED} unreserved",
            "request the quota L-B99A9384 of lambda in Service Quotas, or lower reserved_concurrency",
        )
        return
    if needed <= limit:
        yield Finding("concurrency", "ok", message)
        return
    settings = "-c duetime:worker_concurrency=2 -c duetime:events=off, which fit a new account"
    yield Finding(
        "concurrency",
        "look",
        f"{message}. Beyond that calls wait: runs are late, none is lost",
        f"request the quota L-B99A9384 of lambda in Service Quotas, or deploy with {settings}",
    )


def _rules(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    quota = account.quota(*_RULES)
    if quota is None or account.stack_resources(stack.name) is not None:
        return
    for bus in stack.buses:
        room, needed = quota - account.rules(bus), stack.event_triggers(bus)
        message = (
            f"the event bus {bus} has room for {max(room, 0)} rules; the stack and its jobs need {needed}"
        )
        if needed <= room:
            yield Finding("rules", "ok", message)
        else:
            remedy = "raise the quota L-244521F2 of events in Service Quotas, or set event_bus to another bus"
            yield Finding("rules", "ill", f"{message}, and a bus has at most {quota}", remedy)


def _resources(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    """Yield a finding for each setting that names a resource; none of a stack that names none."""
    for setting, (kind, name, problem_of) in _NAMED.items():
        for arn in sorted({str(row[name]) for row in stack.of_type(kind) if isinstance(row.get(name), str)}):
            region = arn.split(":")[3]
            is_here = region == account.region
            problem = problem_of(arn) if is_here else f"is in {region}; the stack is in {account.region}"
            if problem is None:
                yield Finding("resources", "ok", f"{setting} {arn} can be used")
            else:
                yield Finding("resources", "ill", f"{setting} {arn} {problem}", f"set {setting} to another")


Json = Mapping[str, Any]

_NAMES = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Scheduler::ScheduleGroup": "Name",
    "AWS::Events::EventBus": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::Cognito::UserPoolDomain": "Domain",
}
_KEPT = ("Retain", "RetainExceptOnCreate")


class Named(NamedTuple):
    """A resource with a name of its own; `is_importable` if CloudFormation may take over an existing one."""

    logical_id: str
    kind: str
    name: str
    is_importable: bool


@dataclass(frozen=True, slots=True)
class SynthesisedStack:
    """A stack's name, its entry in the assembly's manifest, and its template's resources."""

    name: str
    properties: Json
    resources: Mapping[str, Json]

    def of_type(self, kind: str) -> Sequence[Json]:
        """Return the properties of the resources of a type."""
        return [row.get("Properties", {}) for row in self.resources.values() if row["Type"] == kind]

    @property
    def kinds(self) -> frozenset[str]:
        """The types of the resources."""
        return frozenset(row["Type"] for row in self.resources.values())

    def named(self) -> Iterator[Named]:
        """Yield the resources whose name is in the template as text."""
        for logical_id, row in self.resources.items():
            name = row.get("Properties", {}).get(_NAMES.get(row["Type"], ""))
            if isinstance(name, str):
                is_table = row["Type"] == "AWS::DynamoDB::Table"
                is_importable = is_table and row.get("DeletionPolicy") in _KEPT
                yield Named(logical_id, row["Type"], name, is_importable)

    def event_triggers(self, bus: str) -> int:
        """Return the number of rules on a bus that the stack and its jobs need."""
        jobs = [
            job
            for manifest in self.of_type(MANIFEST_RESOURCE)
            if manifest["EventBus"] == bus
            for job in json.loads(unpacked(manifest["Jobs"]))
        ]
        triggers = [cadence for job in jobs for cadence in job["cadences"] if cadence.startswith("on_event ")]
        return len(triggers) + len(self.of_type("AWS::Events::Rule"))

    @property
    def buses(self) -> Sequence[str]:
        """The event buses of its jobs' triggers."""
        return sorted({manifest["EventBus"] for manifest in self.of_type(MANIFEST_RESOURCE)})

    @property
    def reserved(self) -> int:
        """The executions that its functions reserve."""
        functions = self.of_type("AWS::Lambda::Function")
        return sum(function.get("ReservedConcurrentExecutions", 0) for function in functions)

    @property
    def concurrency(self) -> int:
        """How many functions its event sources may run at once in normal operation.

        Two for a queue without a bound. Sources without a redrive policy are left out: dead letters and
        failures, which are empty in normal operation.
        """
        return sum(map(self._concurrency, self.of_type("AWS::Lambda::EventSourceMapping")))

    def _concurrency(self, source: Json) -> int:
        if "StartingPosition" in source:  # a stream
            return int(source.get("ParallelizationFactor", 1))
        queue = self.resources[source["EventSourceArn"]["Fn::GetAtt"][0]]
        if "RedrivePolicy" not in queue.get("Properties", {}):
            return 0
        return int(source.get("ScalingConfig", {}).get("MaximumConcurrency", 2))


def read_assembly(directory: Path) -> Sequence[SynthesisedStack]:
    """Return the stacks with a scheduler.

    Raises:
        BadUsage: the directory is no cloud assembly, or no stack of it has a scheduler.
    """
    try:
        artifacts = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))["artifacts"]
        stacks = [
            SynthesisedStack(
                row["properties"].get("stackName", name),
                row["properties"],
                json.loads((directory / row["properties"]["templateFile"]).read_text(encoding="utf-8"))[
                    "Resources"
                ],
            )
            for name, row in artifacts.items()
            if row["type"] == "aws:cloudformation:stack"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadUsage(
            f"{directory} is no cloud assembly ({type(error).__name__}: {error}); run `npx cdk synth --quiet`"
            " first, or name its output with --assembly"
        ) from None
    if found := [stack for stack in stacks if MANIFEST_RESOURCE in stack.kinds]:
        return found
    raise BadUsage(f"no stack in {directory} has a scheduler; add the construct duetime.cdk.Duetime to one")
