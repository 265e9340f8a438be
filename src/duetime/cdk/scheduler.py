"""The construct `Duetime`: a complete scheduler for a stack of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import jsii
from aws_cdk import Aspects, CfnOutput, CustomResource, IAspect, Stack, Tags
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct, IConstruct

from duetime.cdk.alarms import Alarms
from duetime.cdk.api import Api
from duetime.cdk.checks import (
    contradictions,
    missing_services,
    too_few_reserved,
    wrong_workers,
)
from duetime.cdk.context import chosen_settings
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction
from duetime.cdk.grant import caller_settings, grant_manage_jobs, grant_redrive, grant_schedule
from duetime.cdk.handlers import Handlers
from duetime.cdk.hardening import harden, use_key
from duetime.cdk.job_rights import serves_tenants
from duetime.cdk.lifecycle import Lifecycle
from duetime.cdk.manifest import Deploy
from duetime.cdk.monitored import Monitored
from duetime.cdk.notifications import NotificationResources
from duetime.cdk.queues import NOTIFY_RECEIVES, NOTIFY_TIMEOUT, FailureQueue, RetriedQueue
from duetime.cdk.region import region_of
from duetime.cdk.resources import SharedResources
from duetime.cdk.steps import CATCH_UP_TIMEOUT, StepFunctions
from duetime.cdk.tables import Tables
from duetime.cdk.targets import APP as TARGET_APP
from duetime.cdk.targets import ExecutionTarget, TargetWorker, WebhookTarget, let_send, manifest_of
from duetime.cdk.undelivered import UndeliveredFunction
from duetime.cdk.wakes import FAILURES, ScheduleGroup, WakeRole, Wakes
from duetime.cdk.worker import WorkerFunction
from duetime.console import BUILT
from duetime.errors import SettingsError
from duetime.ids import TARGET_WORKER
from duetime.lambdas.metrics_buffer import deployment_of
from duetime.model.manifest import Manifest
from duetime.model.priority import high_queue_of
from duetime.ports.wakeups import NOTIFICATIONS
from duetime.settings import Settings
from duetime.targets.grants import Grants
from duetime.wakeups.system_jobs import SYSTEM_WORKER, rate_expression
from duetime.wakeups.system_jobs import manifest as system_manifest


class Outputs(Construct):
    """The outputs of a scheduler: names of tables, URLs of queues and of the API, the user pool.

    Each is named as in the stack of this project, such as ``ActionsTable``. If the app itself has an output
    of that name, or a second scheduler is in the stack, the output has the construct's path before its name.
    """

    def __init__(self, scope: Construct, construct_id: str, scheduler: Duetime) -> None:
        super().__init__(scope, construct_id)
        self.by_name = {
            name: CfnOutput(self, name, value=value, description=_ABOUT.get(name))
            for name, value in _values(scheduler).items()
        }
        """The outputs by their short names."""
        Aspects.of(self).add(_ShortNames(self))


@jsii.implements(IAspect)
class _ShortNames:
    """Gives each output its short name if it is free. It runs when the stack is complete."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs

    def visit(self, node: IConstruct) -> None:
        """Name the outputs, once."""
        if node is not self._outputs:
            return
        stack, ours = Stack.of(node), self._outputs.by_name
        others = [part for part in stack.node.find_all() if isinstance(part, CfnOutput)]
        taken = {output.logical_id for output in others if Stack.of(output) is stack}
        resolved = {stack.resolve(name) for name in taken}
        for name, output in ours.items():
            if name not in resolved:
                output.override_logical_id(name)


_ABOUT = {
    "Api": "for people: with an ID token",
    "SignedApi": "for services: with a signature",
    "Console": "in a browser",
}


def _values(scheduler: Duetime) -> dict[str, str]:
    values = {
        "ActionsTable": scheduler.tables.actions.table_name,
        "JobsTable": scheduler.tables.jobs.table_name,
        "Failures": scheduler.failures.queue_url,
    }
    if scheduler.alarms.topic is not None:
        values["Alarms"] = scheduler.alarms.topic.topic_arn
    if scheduler.notifications is not None and scheduler.notifications.topic is not None:
        values["Notifications"] = scheduler.notifications.topic.topic_arn
    return values | (_of_api(scheduler.api) if scheduler.api else {})


def _of_api(api: Api) -> dict[str, str]:
    values = {"SignedApi": api.services.url}
    if api.people is not None:
        values["Api"] = api.people.url
        if api.console is not None:
            values["Console"] = f"{api.people.address}/"
    if api.users is not None:
        values["UserPool"] = api.users.pool.user_pool_id
        if api.users.sign_in_url:
            values["SignIn"] = api.users.sign_in_url
    if api.client is not None:
        values["UserPoolClient"] = api.client.user_pool_client_id
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSpec:
    """One pass: its function, its rate, and the retries of a call that Lambda did not accept.

    The next pass does the work of a lost one.
    """

    name: str
    function: DuetimeFunction
    rate: timedelta
    retries: int


class PassFunctions(Construct):
    """Calls the passes by schedules in their own group."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        group_name: str,
        failures: str,
        key: str,
        passes: tuple[PassSpec, ...],
    ) -> None:
        super().__init__(scope, construct_id)
        group = ScheduleGroup(self, "Group", name=group_name)
        arns = [spec.function.function.function_arn for spec in passes]
        role = WakeRole(self, "Wake", groups=[group.name], functions=arns, failures=failures, key=key).role
        for spec in passes:
            schedule = scheduler.CfnSchedule(
                self,
                spec.name,
                name=spec.name,
                group_name=group.name,
                description=f"duetime: calls {spec.name}",
                schedule_expression=rate_expression(spec.rate),
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                target=scheduler.CfnSchedule.TargetProperty(
                    arn=spec.function.function.function_arn,
                    role_arn=role.role_arn,
                    input="{}",
                    retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                        maximum_retry_attempts=spec.retries,
                        maximum_event_age_in_seconds=max(
                            60, int(min(spec.rate, _LONGEST_AGE).total_seconds())
                        ),
                    ),
                    dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=failures),
                ),
            )
            schedule.node.add_dependency(group.resource)


_LONGEST_AGE = timedelta(hours=1)


Target = (
    sqs.IQueue
    | sns.ITopic
    | events.IEventBus
    | lambda_.IFunction
    | stepfunctions.IStateMachine
    | WebhookTarget
    | ExecutionTarget
)


class Duetime(Construct):
    """A scheduler: its tables, queues and functions, a worker for each of `handlers`, and their admin API.

    The stack gets its outputs, and each resource the tag ``duetime`` with the deployment's name.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        handlers: the workers.
        settings: the settings that the functions read.
        deployment: the settings of the deployment only.
        profile: ``"small"`` changes the defaults of settings for an app of a few jobs; the fields given to
            `Settings` and `Deployment` win. By default the setting `profile`.
        console_page: the directory of the console's built page; by default the one in the package.

    Raises:
        SettingsError: the settings contradict each other or AWS' limits.
        DeclarationError: handlers cannot be imported, register nothing, or contradict the deployment.
        OperationFailed: the console's page is not built.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handlers: Sequence[Handlers],
        settings: Settings | None = None,
        deployment: Deployment | None = None,
        profile: str | None = None,
        console_page: Path = BUILT,
    ) -> None:
        super().__init__(scope, construct_id)
        created, deployment = chosen_settings(self.node, settings, deployment, profile)
        self.deployment = deployment
        self.settings = settings = created.with_made(
            actions_table=deployment.restored_table("actions") or created.made.actions_table,
            jobs_table=deployment.restored_table("jobs") or created.made.jobs_table,
        )
        problems = [
            *contradictions(settings, deployment),
            *wrong_workers(handlers, settings),
            *too_few_reserved(handlers, deployment),
            *missing_services(region_of(self), deployment),
        ]
        if problems:
            raise SettingsError(problems)
        Tags.of(self).add("duetime", deployment_of(settings))
        wakes = Wakes(self, "Wakes", settings, key=deployment.kms_key)
        self._deploy = Deploy(self, "Deploy", settings, deployment, wakes)
        self.tables = Tables(self, "Tables", created, deployment)
        self.failures = FailureQueue(
            self, "Failures", name=settings.prefix + FAILURES, rules=wakes.rules_arn
        ).queue
        self._manifests = {handler.worker: self._manifest(handler) for handler in handlers}
        with_high = [handler for handler in handlers if self._manifests[handler.worker].has_high_queue]
        if problems := [*too_few_reserved(with_high, deployment, queues=2)]:
            raise SettingsError(problems)
        timeouts = {handler.worker: deployment.worker_timeout for handler in handlers}
        timeouts |= {high_queue_of(handler.worker): deployment.worker_timeout for handler in with_high}
        self.due = {
            worker: self._queue(f"Due-{worker}", f"due-{worker}", timeout, deployment.max_receives)
            for worker, timeout in (timeouts | {SYSTEM_WORKER: CATCH_UP_TIMEOUT}).items()
        }
        self._resources = resources = SharedResources(
            settings=settings,
            deployment=deployment,
            tables=self.tables,
            due=self.due,
            wakes=wakes,
            failures=self.failures,
        )
        self.steps = StepFunctions(self, "Steps", resources)
        self.passes = PassFunctions(
            self,
            "Passes",
            group_name=f"{settings.prefix}passes",
            failures=self.failures.queue_arn,
            key=deployment.kms_key,
            passes=(
                PassSpec(name="sweep", function=self.steps.sweep, rate=settings.sweep_rate, retries=0),
                PassSpec(
                    name="catch-up", function=self.steps.catch_up, rate=settings.catch_up_rate, retries=3
                ),
            ),
        )
        publishes = settings.events != "off"
        notification_queue = (
            self._queue("NotificationQueue", NOTIFICATIONS, NOTIFY_TIMEOUT, NOTIFY_RECEIVES)
            if publishes
            else None
        )
        self.undelivered = UndeliveredFunction(
            self, "Undelivered", resources, notifications=notification_queue
        )
        self.lifecycle = Lifecycle(self, "Lifecycle", resources) if publishes else None
        self.notifications: NotificationResources | None = None
        if self.lifecycle and notification_queue:
            self.notifications = NotificationResources(
                self, "Notifications", resources, queue=notification_queue, bus=self.lifecycle.bus
            )
        self._published = [self._publish(system_manifest(self.settings))]
        self._event_jobs: list[str] = []
        self.workers = {handler.worker: self._worker(handler) for handler in handlers}
        self.api = self._api(handlers, console_page) if deployment.api else None
        is_console_linked = deployment.serves_console and not settings.console_url
        if self.notifications and self.api and is_console_linked:
            self.notifications.link_to(self.api.console_url)
        parts = [self.failures, *self.due.values(), self.steps, self.passes, self.undelivered]
        optional = (notification_queue, self.lifecycle, self.notifications)
        for part in (*parts, *(part for part in optional if part is not None)):
            part.node.add_dependency(self._deploy.check)
        harden(self, deployment)
        self._targets: TargetWorker | None = None
        self._monitor()
        Outputs(self, "Outputs", self)

    def grant_schedule(self, function: iam.IGrantable, *, tenants: Sequence[str] | None = None) -> None:
        """Let a function schedule, look up and change actions with `duetime.Scheduler.from_env`.

        Args:
            function: gets the rights and the environment. A role, or a function imported with its role,
                gets only the rights: set `caller_environment` where the function is defined.
            tenants: whose actions; by default every tenant's.

        Raises:
            InvalidArgument: a tenant that cannot be part of a key.
        """
        grant_schedule(function, self.tables, self.settings, tenants)
        self._let_use_key(function)

    @property
    def caller_environment(self) -> dict[str, str]:
        """The variables that `duetime.Scheduler.from_env` reads; `grant_schedule` sets them where it can."""
        return dict(caller_settings(self.settings).to_env())

    def grant_manage_jobs(self, function: iam.IGrantable, *, tenants: Sequence[str] | None = None) -> None:
        """Let a function manage jobs with `Scheduler.from_env(…).jobs`, without rights on EventBridge.

        Args:
            function: gets the rights and the environment.
            tenants: whose own jobs; these tenants see the jobs that code declares, but cannot change them.
                By default every tenant's jobs and those that code declares.

        Raises:
            InvalidArgument: a tenant that cannot be part of a key.
        """
        grant_manage_jobs(function, self.tables, self.settings, tenants, self._event_jobs)
        self._let_use_key(function)

    def grant_redrive(self, function: lambda_.Function) -> None:
        """Let a function list and redrive undelivered inputs with `Scheduler.from_env(…).undelivered`.

        Args:
            function: gets the rights and the environment. It sees the undelivered inputs of all tenants.
        """
        grant_redrive(function, self.tables, self.failures, self.settings)
        self._let_use_key(function)

    def grant_target(self, target: Target, *, tenants: Sequence[str] | None = None) -> None:
        """Let actions reach a target without a handler: ``schedule(SqsMessage(queue=…, body=…), at=…)``.

        The first grant adds duetime's own worker for targets: a queue and a function, whose role reaches the
        granted targets alone. Each caller that may schedule may use them.

        Args:
            target: a queue, a topic, an event bus, a function, a state machine, or a `WebhookTarget`,
                `EcsTaskTarget`, `BatchJobTarget` or `DurableFunctionTarget`. The last three and state
                machines wait for their end.
            tenants: whose actions may reach it; by default every tenant's.

        Raises:
            SettingsError: the target is none of these, its host cannot be called, a worker of yours is named
                ``targets``, or the target waits for its end and `events` is off.
        """
        if self._targets is None:
            self._targets = self._target_worker()
        self._targets.grant(target, tenants)

    def _target_worker(self) -> TargetWorker:
        """Add the worker for targets, and let the parts that send, watch and read messages know it."""
        if TARGET_WORKER in self.due:
            raise SettingsError([f"worker is {TARGET_WORKER!r}, which sends targets; choose another name"])
        due = self._queue(
            f"Due-{TARGET_WORKER}",
            f"due-{TARGET_WORKER}",
            self.deployment.worker_timeout,
            self.deployment.max_receives,
        )
        due.node.add_dependency(self._deploy.check)
        self.due[TARGET_WORKER] = due
        published = self._publish(manifest_of(Grants()))
        targets = TargetWorker(self, "Targets", self._resources, published)
        self.workers[TARGET_WORKER] = targets.worker
        let_send(self, due.queue.queue_url, due.queue.queue_arn)
        if self.api is not None:
            self.api.read_also(TARGET_APP)
            self.api.node.add_dependency(published)
        self._monitor_again()
        return targets

    def _let_use_key(self, grantee: iam.IGrantable) -> None:
        for statement in use_key(self.deployment.kms_key):
            grantee.grant_principal.add_to_principal_policy(statement)

    def grant_call_api(self, grantee: iam.IGrantable) -> None:
        """Let a function or a role sign requests to the admin API. The setting `identities` has its tenant.

        Raises:
            SettingsError: the deployment has no API.
        """
        if self.api is None:
            raise SettingsError(["api is False, so there is no API to call; allowed is True"])
        self.api.grant_call(grantee)

    def worker(self, name: str) -> lambda_.Function:
        """Return a worker's function, to grant the rights that its handlers need.

        Raises:
            SettingsError: there is no such worker.
        """
        if name not in self.workers:
            raise SettingsError([f"worker is {name!r}; allowed is {' or '.join(sorted(self.workers))}"])
        return self.workers[name].function

    def _monitor(self) -> None:
        """Add alarms of all parts; after the passes, whose silence is an alarm."""
        monitored = Monitored.from_construct(self, self.settings, self.deployment)
        console = self.api.console_url if self.api else ""
        self.alarms = Alarms(self, "Alarms", monitored, deployment=self.deployment, console_url=console)
        self.alarms.node.add_dependency(self.passes)

    def _monitor_again(self) -> None:
        """Watch the parts that were added since."""
        self.alarms.watch(Monitored.from_construct(self, self.settings, self.deployment))

    def _queue(self, construct_id: str, name: str, timeout: timedelta, max_receives: int) -> RetriedQueue:
        name = self.settings.prefix + name
        return RetriedQueue(
            self,
            construct_id,
            name=name,
            timeout=timeout,
            max_receives=max_receives,
            failures=self.failures,
        )

    def _publish(self, manifest: Manifest) -> CustomResource:
        """Publish a manifest, once all senders know its queue and the resources that wake its jobs exist."""
        published = self._deploy.publish(f"Manifest-{manifest.worker}", manifest)
        published.node.add_dependency(self.tables, self.failures, self.steps, self.undelivered)
        return published

    def _manifest(self, handlers: Handlers) -> Manifest:
        """Return a worker's manifest; of a stack that is not bundled, an empty one."""
        manifest = Manifest(handlers.worker, {})
        if Stack.of(self).bundling_required:
            manifest = handlers.manifest(at_most=self.deployment.worker_timeout)
        return manifest.deployed(high_priority=self.settings.high_priority)

    def _worker(self, handlers: Handlers) -> WorkerFunction:
        """Add a worker after its manifest: messages of an unpublished type would be postponed."""
        manifest = self._manifests[handlers.worker]
        self._event_jobs += [job.name for job in manifest.jobs if serves_tenants(job)]
        published = self._publish(manifest)
        self._published.append(published)
        worker = WorkerFunction(self, f"Worker-{handlers.worker}", handlers, self._resources)
        worker.node.add_dependency(published)
        return worker

    def _api(self, handlers: Sequence[Handlers], console_page: Path) -> Api:
        """Add the API after all manifests: every type that it accepts then has a queue."""
        topic_arn = self.notifications.topic_arn if self.notifications else ""
        api = Api(self, "Api", handlers, self._resources, topic_arn=topic_arn, console_page=console_page)
        api.node.add_dependency(*self._published)
        return api
