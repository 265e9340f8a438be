"""The worker that sends targets: a stack has it once it grants one.

It may reach what is granted and nothing else: its role has the rights, its environment the allow-list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

import duetime.targets
from duetime import ids
from duetime.cdk.bundle import PACKAGE
from duetime.cdk.functions import DuetimeFunction
from duetime.cdk.handlers import Handlers
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import may, send
from duetime.cdk.rules import accept
from duetime.cdk.worker import WorkerFunction
from duetime.environment import PREFIX, TARGETS
from duetime.errors import DeclarationError, InvalidArgument, SettingsError
from duetime.ids import EVENT_SOURCE, TARGET_WORKER
from duetime.model.manifest import Manifest
from duetime.targets.grants import Grant, Grants, TargetGrant, WebhookHost
from duetime.targets.handlers import target_app
from duetime.targets.payloads import EXECUTIONS
from duetime.targets.status_events import ENDS

if TYPE_CHECKING:
    from aws_cdk import aws_batch as batch
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_ecs as ecs
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_secretsmanager as secretsmanager
    from aws_cdk import aws_ssm as ssm


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


APP = "duetime.targets.worker_app:app"
_QUEUES = f"{PREFIX}QUEUES"
_CONCURRENCY = 10
_REQUIREMENTS = Path(duetime.targets.__file__).with_name("requirements.txt")
_ARNS = {"queue_arn": "sqs", "topic_arn": "sns", "event_bus_arn": "events", "function_arn": "lambda"}
"""The service of a resource, by the property of its construct that has its ARN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """A host that webhooks may reach.

    Attributes:
        host: such as ``hooks.acme.example``; with a port, if it is not 443.
        secret: the signing secret, in Secrets Manager or SSM. Without one, requests have no signature.
    """

    host: str
    secret: secretsmanager.ISecret | ssm.IParameter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EcsTaskTarget:
    """A task definition that actions may run on Fargate.

    Attributes:
        cluster: where its tasks run.
        task_definition: its `default_container` takes the command and the environment of an action.
        subnets: by default the private ones of the cluster's VPC, or else its isolated ones.
        security_groups: of the tasks; by default the VPC's own.
        public: whether the tasks have public addresses.
    """

    cluster: ecs.ICluster
    task_definition: ecs.FargateTaskDefinition
    subnets: Sequence[ec2.ISubnet] = ()
    security_groups: Sequence[ec2.ISecurityGroup] = ()
    public: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJobTarget:
    """A job definition of AWS Batch that actions may run, and the job queue."""

    job_definition: batch.IJobDefinition
    job_queue: batch.IJobQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableFunctionTarget:
    """A durable function of Lambda, in one version or under one alias.

    Actions may run it, and end its callbacks.
    """

    function: lambda_.IFunction
    qualifier: str = "$LATEST"


ExecutionTarget = EcsTaskTarget | BatchJobTarget | DurableFunctionTarget


class TargetHandlers(Handlers):
    """The handlers of targets, which are in each bundle already."""

    def copy_to(self, directory: Path) -> None:
        """Copy nothing."""
        del directory


def target_handlers() -> Handlers:
    """Return the worker's handlers."""
    return TargetHandlers(
        app=APP,
        worker=TARGET_WORKER,
        source=PACKAGE.parent,
        requirements=_REQUIREMENTS,
        concurrency=_CONCURRENCY,
    )


class TargetWorker(Construct):
    """The worker's function, with its grants.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        resources: those of the scheduler; `due` has the worker's queue.
        published: the resource that publishes the worker's manifest.
    """

    def __init__(
        self, scope: Construct, construct_id: str, resources: SharedResources, published: Construct
    ) -> None:
        super().__init__(scope, construct_id)
        self._published, self._settings = published, resources.settings
        self._queue = resources.due[TARGET_WORKER].queue
        self.worker = WorkerFunction(self, f"Worker-{TARGET_WORKER}", target_handlers(), resources)
        self.worker.node.add_dependency(published)
        self._grants = Grants()
        self._ends: events.Rule | None = None

    def grant(self, target: Any, tenants: Sequence[str] | None) -> None:
        """Add a target to the allow-list, and its rights to the role.

        Raises:
            SettingsError: it is nothing that can be granted.
        """
        allowed = _checked(tenants)
        if isinstance(target, WebhookTarget):
            self._add(self._webhook(target, allowed))
            return
        if isinstance(target, ExecutionTarget) or hasattr(target, "state_machine_arn"):
            self._grant_execution(target, allowed)
            return
        found = [(name, service) for name, service in _ARNS.items() if hasattr(target, name)]
        if not found:
            raise SettingsError(
                [
                    (
                        f"the target is {type(target).__name__}; allowed is a queue, a topic, an event bus, a"
                        " function, a state machine, or one of WebhookTarget, EcsTaskTarget, BatchJobTarget"
                        " and DurableFunctionTarget"
                    )
                ]
            )
        name, service = found[0]
        self._let_reach(target, service, getattr(target, name))
        self._add(TargetGrant(arn=getattr(target, name), service=service, tenants=allowed))

    def _grant_execution(self, target: Any, tenants: tuple[str, ...]) -> None:
        """Grant what waits for its end: its events and the ends of its actions come to the queue."""
        if self._settings.events == "off":
            raise SettingsError(
                ["events is 'off', so a cancel could not stop what this target starts; allowed is standard"]
            )
        made = granted_execution(target, self.worker.function)
        number = str(len(self._grants.granted))
        deliver = targets.SqsQueue(self._queue)
        events.Rule(self, f"Status-{number}", event_pattern=made.pattern, targets=[deliver])
        grant = TargetGrant(arn=made.arn, service=made.service, tenants=tenants, options=made.options)
        self._add(grant)
        if made.service == "durable":
            self._add(TargetGrant(arn=made.arn, service="callback", tenants=tenants))
        types = [payload.type_name for payload in self._grants.payloads if payload in EXECUTIONS]
        self._watch_ends(types, deliver)

    def _watch_ends(self, types: Sequence[str], deliver: targets.SqsQueue) -> None:
        """Have the ends of actions of these types come to the worker's queue."""
        if self._ends is None:
            bus = events.EventBus.from_event_bus_name(self, "Bus", self._settings.event_bus)
            unused = events.EventPattern(source=[EVENT_SOURCE])
            self._ends = events.Rule(self, "Ends", event_bus=bus, event_pattern=unused, targets=[deliver])
        rule: Any = self._ends.node.default_child
        rule.event_pattern = {
            "source": [EVENT_SOURCE],
            "detail-type": sorted(ENDS),
            "detail": {"deployment": [self._settings.prefix], "action": {"type": list(types)}},
        }

    def _webhook(self, target: WebhookTarget, tenants: tuple[str, ...]) -> WebhookHost:
        secret: Any = target.secret
        reference = ""
        if secret is not None:
            secret.grant_read(self.worker.function)
            reference = secret.secret_arn if hasattr(secret, "secret_arn") else secret.parameter_arn
        try:
            return WebhookHost(host=target.host, secret=reference, tenants=tenants)
        except DeclarationError as error:
            raise SettingsError([str(error)]) from None

    def _let_reach(self, target: Any, service: str, arn: str) -> None:
        function = self.worker.function
        match service:
            case "sqs":
                target.grant_send_messages(function)
            case "sns":
                target.grant_publish(function)
            case "events":
                function.add_to_role_policy(may("events:PutEvents", on=arn))
            case _:
                function.add_to_role_policy(may("lambda:InvokeFunction", on=arn))

    def _add(self, grant: Grant) -> None:
        self._grants = Grants((*self._grants.granted, grant))
        self.worker.work.add_environment(TARGETS, self._grants.to_json())
        published: Any = self._published.node.default_child
        if isinstance(published, CfnResource):
            published.add_property_override("Manifest", manifest_of(self._grants).to_json())


def manifest_of(grants: Grants) -> Manifest:
    """Return the worker's manifest: the granted kinds of targets; none without a grant."""
    return target_app(grants).manifest if grants.granted else Manifest(TARGET_WORKER, {})


def let_send(scope: Construct, url: str, arn: str) -> None:
    """Let all functions of a scheduler that send messages to workers send them to the targets' too."""
    for part in scope.node.find_all():
        if isinstance(part, DuetimeFunction) and (written := part.variables.get(_QUEUES)):
            queues = json.loads(written)
            if TARGET_WORKER not in queues:
                part.add_environment(_QUEUES, json.dumps({**queues, TARGET_WORKER: url}))
                part.allow(send(arn))


def _checked(tenants: Sequence[str] | None) -> tuple[str, ...]:
    if tenants is not None and not tenants:
        raise SettingsError(["tenants is empty; name some, or omit it for all"])
    try:
        return tuple(str(ids.tenant(tenant)) for tenant in tenants or ())
    except InvalidArgument as error:
        raise SettingsError([str(error)]) from None
