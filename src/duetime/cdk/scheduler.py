"""The construct `Duetime`: a whole scheduler, as a stack of one's own takes it in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from aws_cdk import CustomResource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.alarms import Alarms
from duetime.cdk.api import Api
from duetime.cdk.checks import contradictions, wrong_workers
from duetime.cdk.dashboard import Dashboard
from duetime.cdk.deployment import Deployment
from duetime.cdk.grant import grant_manage_jobs, grant_redrive, grant_schedule, told_to_callers
from duetime.cdk.handlers import Handlers
from duetime.cdk.lifecycle import Lifecycle
from duetime.cdk.manifest import Deploy
from duetime.cdk.monitored import Monitored
from duetime.cdk.notifications import NotificationResources
from duetime.cdk.passes import PassFunctions, PassSpec
from duetime.cdk.queues import NOTIFY_RECEIVES, NOTIFY_TIMEOUT, DueQueue, FailureQueue, RetriedQueue
from duetime.cdk.steps import CATCH_UP_TIMEOUT, StepFunctions, StepResources
from duetime.cdk.tables import Tables
from duetime.cdk.undelivered import UndeliveredFunction
from duetime.cdk.wakes import FAILURES, Wakes
from duetime.cdk.worker import Worker
from duetime.errors import SettingsError
from duetime.model.manifest import Manifest
from duetime.ports.wakeups import NOTIFICATIONS
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER
from duetime.wakeups.system_jobs import manifest as of_the_system


class Duetime(Construct):
    """A scheduler: its tables, queues and functions, a worker for each of `handlers`, and the admin API of all of them.

    Raises:
        SettingsError: the settings contradict each other or AWS' limits.
        HandlersRefused: handlers cannot be imported, register nothing, or contradict the deployment.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handlers: Sequence[Handlers],
        settings: Settings | None = None,
        deployment: Deployment | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.settings = settings or Settings()
        self.deployment = deployment or Deployment()
        self._refuse_contradictions(handlers)
        self._wakes = Wakes(self, "Wakes", self.settings)
        self._deploy = Deploy(
            self, "Deploy", settings=self.settings, deployment=self.deployment, wakes=self._wakes
        )
        self.tables = Tables(self, "Tables", self.settings, keep_data=self.deployment.keep_data)
        self.failures = self._failure_queue()
        self.due = {handler.worker: self._due_queue(handler.worker) for handler in handlers}
        self.due[SYSTEM_WORKER] = self._due_queue(SYSTEM_WORKER, timeout=CATCH_UP_TIMEOUT)
        self.steps = self._steps()
        self.passes = self._passes()
        self._notification_queue = self._queue_of_notifications() if self._are_events_told else None
        self.salvage = self._salvage()
        self.lifecycle = self._lifecycle() if self._are_events_told else None
        self.notifications = self._notifications()
        self._published = [self._publish(of_the_system())]
        self.workers = {handler.worker: self._worker(handler) for handler in handlers}
        self.api = self._api(handlers) if self.deployment.api else None
        self._link()
        parts = [self.tables, self.failures, *self.due.values(), self.steps, self.passes, self.salvage]
        told = (self._notification_queue, self.lifecycle, self.notifications)
        for changed in (*parts, *(each for each in told if each is not None)):
            changed.node.add_dependency(self._deploy.check)
        self._watch()

    def grant_schedule(self, function: iam.IGrantable, *, tenants: Sequence[str] | None = None) -> None:
        """Let a function schedule, look up and change actions with `duetime.Scheduler.from_env`.

        Args:
            function: gets the rights and the environment. A role, or a function that is imported with its role, gets the
                rights alone: put `caller_environment` where it is made.
            tenants: whose actions; without it, every tenant's.

        Raises:
            InvalidIdentifier: a tenant that cannot be part of a key.
        """
        grant_schedule(function, self.tables, self.settings, tenants)

    @property
    def caller_environment(self) -> dict[str, str]:
        """The variables from which `duetime.Scheduler.from_env` finds the table: `grant_schedule` sets them where it can."""
        return dict(told_to_callers(self.settings).to_env())

    def grant_manage_jobs(self, function: iam.IGrantable, *, tenants: Sequence[str] | None = None) -> None:
        """Let a function look after jobs with `duetime.Scheduler.from_env(…).jobs`. It needs nothing of EventBridge.

        Args:
            function: gets the rights and the environment.
            tenants: whose own jobs; these tenants see code's jobs but change none. Without it, every tenant's and code's.

        Raises:
            InvalidIdentifier: a tenant that cannot be part of a key.
        """
        grant_manage_jobs(function, self.tables, self.settings, tenants)

    def grant_redrive(self, function: lambda_.Function) -> None:
        """Let a function list and redrive what is undelivered, with `duetime.Scheduler.from_env(…).undelivered`.

        Args:
            function: gets the rights and the environment. It sees what is undelivered of all tenants.
        """
        grant_redrive(function, self.tables, self.failures, self.settings)

    def grant_call_api(self, grantee: iam.IGrantable) -> None:
        """Let a function or a role sign requests to the admin API; its ARN in the settings' `identities` says whom for.

        Raises:
            SettingsError: the deployment has no API.
        """
        if self.api is None:
            raise SettingsError(["api is False; allowed is True where somebody may call it"])
        self.api.grant_call(grantee)

    def worker(self, name: str) -> lambda_.Function:
        """A worker's function, to be given what its handlers need.

        Raises:
            SettingsError: there is no such worker.
        """
        if name not in self.workers:
            raise SettingsError([f"worker is {name!r}; allowed is {' or '.join(sorted(self.workers))}"])
        return self.workers[name].function

    def _link(self) -> None:
        """Have mails lead to the console that the stack serves, unless the settings say where people reach it."""
        is_served_here = self.deployment.serves_console and not self.settings.console_url
        if self.notifications and self.api and is_served_here:
            self.notifications.lead_to(self.api.console_url)

    def _watch(self) -> None:
        """Alarms and a dashboard of all that was made by now; after the passes, whose silence is an alarm."""
        watched = Monitored.of(self, self.settings)
        console = self.api.console_url if self.api else ""
        self.alarms = Alarms(self, "Alarms", watched, deployment=self.deployment, console_url=console)
        self.alarms.node.add_dependency(self.passes)
        if self.deployment.dashboard:
            alarms = [self.alarms.arn(name) for name in self.alarms.names]
            Dashboard(self, "Dashboard", watched, alarms=alarms, deployment=self.deployment)

    def _refuse_contradictions(self, handlers: Sequence[Handlers]) -> None:
        problems = [*contradictions(self.settings, self.deployment), *wrong_workers(handlers, self.settings)]
        if problems:
            raise SettingsError(problems)

    def _failure_queue(self) -> sqs.Queue:
        name = self.settings.prefix + FAILURES
        return FailureQueue(self, "Failures", name=name, rules=self._wakes.rules_arn).queue

    def _due_queue(self, worker: str, *, timeout: timedelta | None = None) -> DueQueue:
        return DueQueue(
            self,
            f"Due-{worker}",
            name=f"{self.settings.prefix}due-{worker}",
            timeout=timeout or self.deployment.worker_timeout,
            max_receives=self.deployment.max_receives,
        )

    def _steps(self) -> StepFunctions:
        return StepFunctions(self, "Steps", self._places, settings=self.settings, deployment=self.deployment)

    @property
    def _places(self) -> StepResources:
        return StepResources(self.tables, self.due, self._wakes, self.failures.queue_arn)

    def _salvage(self) -> UndeliveredFunction:
        return UndeliveredFunction(
            self,
            "Salvage",
            self._places,
            failures=self.failures,
            notifications=self._notification_queue,
            settings=self.settings,
            deployment=self.deployment,
        )

    @property
    def _are_events_told(self) -> bool:
        return self.settings.events != "off"

    def _queue_of_notifications(self) -> RetriedQueue:
        return RetriedQueue(
            self,
            "NotificationQueue",
            name=f"{self.settings.prefix}{NOTIFICATIONS}",
            timeout=NOTIFY_TIMEOUT,
            max_receives=NOTIFY_RECEIVES,
        )

    def _notifications(self) -> NotificationResources | None:
        if self.lifecycle is None or self._notification_queue is None:
            return None
        return NotificationResources(
            self,
            "Notifications",
            queue=self._notification_queue,
            bus=self.lifecycle.bus,
            jobs=self.tables.jobs.table_arn,
            settings=self.settings,
            deployment=self.deployment,
        )

    def _lifecycle(self) -> Lifecycle:
        """What it reads is no less there without it: it holds up nothing."""
        return Lifecycle(
            self,
            "Lifecycle",
            tables=self.tables,
            failures=self.failures.queue_arn,
            settings=self.settings,
            deployment=self.deployment,
        )

    def _passes(self) -> PassFunctions:
        prefix, deployment = self.settings.prefix, self.deployment
        return PassFunctions(
            self,
            "Passes",
            group_name=f"{prefix}passes",
            failures=self.failures.queue_arn,
            passes=(
                PassSpec(name="sweep", function=self.steps.sweep, rate=deployment.sweep_rate, retries=0),
                PassSpec(
                    name="catch-up", function=self.steps.catch_up, rate=deployment.catch_up_rate, retries=3
                ),
            ),
        )

    def _publish(self, manifest: Manifest) -> CustomResource:
        """Publish a manifest: after all who send know its queue, and what wakes its jobs is there."""
        published = self._deploy.publish(f"Manifest-{manifest.worker}", manifest)
        published.node.add_dependency(self.tables, self.failures, self.steps, self.salvage)
        return published

    def _worker(self, handlers: Handlers) -> Worker:
        """A worker, after its manifest: one that does not know a published type yet puts it off."""
        manifest = Manifest(handlers.worker, {})
        if Stack.of(self).bundling_required:
            manifest = handlers.manifest(at_most=self.deployment.worker_timeout)
        published = self._publish(manifest)
        self._published.append(published)
        worker = Worker(
            self,
            f"Worker-{handlers.worker}",
            handlers,
            tables=self.tables,
            due=self.due[handlers.worker],
            settings=self.settings,
            deployment=self.deployment,
        )
        worker.node.add_dependency(published)
        return worker

    def _api(self, handlers: Sequence[Handlers]) -> Api:
        """The API, after all manifests: what it lets be scheduled has a route."""
        api = Api(
            self,
            "Api",
            handlers,
            tables=self.tables,
            failures=self.failures,
            settings=self.settings,
            deployment=self.deployment,
            topic_arn=self.notifications.topic_arn if self.notifications else "",
        )
        api.node.add_dependency(*self._published)
        return api
