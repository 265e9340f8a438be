"""The construct `Duetime`: a whole scheduler, as a stack of one's own takes it in."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.checks import contradictions, wrong_workers
from duetime.cdk.deployment import Deployment
from duetime.cdk.grant import grant_schedule
from duetime.cdk.handlers import Handlers
from duetime.cdk.manifest import Deploy
from duetime.cdk.passes import Pass, Passes
from duetime.cdk.queues import DueQueue, FailureQueue
from duetime.cdk.steps import Places, Steps
from duetime.cdk.tables import Tables
from duetime.cdk.worker import Worker
from duetime.errors import SettingsError
from duetime.manifest import Manifest
from duetime.settings import Settings


class Duetime(Construct):
    """A scheduler: its tables, queues and functions, and a worker for each of `handlers`.

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
        deploy = Deploy(self, "Deploy", settings=self.settings, deployment=self.deployment)
        self.tables = Tables(self, "Tables", self.settings, keep_data=self.deployment.keep_data)
        self.failures = FailureQueue(self, "Failures", name=f"{self.settings.prefix}failures").queue
        self.due = {each.worker: self._due_queue(each.worker) for each in handlers}
        self.steps = self._steps()
        self.passes = self._passes()
        self.workers = {each.worker: self._worker(each, deploy) for each in handlers}
        for changed in (self.tables, self.failures, *self.due.values(), self.steps, self.passes):
            changed.node.add_dependency(deploy.check)

    def grant_schedule(self, function: lambda_.Function, *, tenants: Sequence[str] | None = None) -> None:
        """Let a function schedule, look up and change actions with `duetime.Scheduler.from_env`.

        Args:
            function: gets the rights and the environment.
            tenants: whose actions; without it, every tenant's.

        Raises:
            InvalidIdentifier: a tenant that cannot be part of a key.
        """
        grant_schedule(function, self.tables, self.settings, tenants)

    def worker(self, name: str) -> lambda_.Function:
        """A worker's function, to be given what its handlers need."""
        return self.workers[name].function

    def _refuse_contradictions(self, handlers: Sequence[Handlers]) -> None:
        problems = [*contradictions(self.settings, self.deployment), *wrong_workers(handlers, self.settings)]
        if problems:
            raise SettingsError(problems)

    def _due_queue(self, worker: str) -> DueQueue:
        name = f"{self.settings.prefix}due-{worker}"
        return DueQueue(self, f"Due-{worker}", name=name, deployment=self.deployment)

    def _steps(self) -> Steps:
        places = Places(self.tables, self.due, self.failures.queue_arn)
        return Steps(self, "Steps", places, settings=self.settings, deployment=self.deployment)

    def _passes(self) -> Passes:
        prefix, deployment = self.settings.prefix, self.deployment
        return Passes(
            self,
            "Passes",
            group_name=f"{prefix}passes",
            failures=self.failures.queue_arn,
            passes=(
                Pass(name="sweep", function=self.steps.sweep, rate=deployment.sweep_rate, retries=0),
                Pass(name="catch-up", function=self.steps.catch_up, rate=deployment.catch_up_rate, retries=3),
            ),
        )

    def _worker(self, handlers: Handlers, deploy: Deploy) -> Worker:
        """A worker, and its manifest: published after all who send know its queue, and before it changes itself.

        A worker that does not know a published type yet puts it off.
        """
        manifest = Manifest(handlers.worker, {})
        if Stack.of(self).bundling_required:
            manifest = handlers.manifest(at_most=self.deployment.worker_timeout)
        published = deploy.publish(f"Manifest-{handlers.worker}", manifest)
        published.node.add_dependency(self.tables, self.steps)
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
