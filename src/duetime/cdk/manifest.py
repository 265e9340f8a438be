"""What a deploy says in the tables: which types its workers run, and which jobs. And what it first reads: their format.

Both are custom resources of one function. Their physical ids never change, so that CloudFormation replaces none.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.tables import FORMAT
from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.job_rights import let_find_due, let_plan, let_reconcile
from duetime.cdk.rights import publish_manifests
from duetime.cdk.tables import table_arn
from duetime.cdk.wakes import Wakes
from duetime.lambdas.deploy import FORMAT_RESOURCE, MANIFEST_RESOURCE
from duetime.lambdas.job_manifest import packed
from duetime.model.manifest import Manifest
from duetime.settings import Settings

_TIMEOUT = timedelta(minutes=5)
"""Each job that has changed is some ten calls."""

_PATIENCE = Duration.minutes(6)
"""Without a bound CloudFormation waits an hour for a function that cannot answer."""


class Deploy(Construct):
    """The function that a deploy calls, and its first call: the check of the tables' format.

    It knows the tables, dispatch and the groups of schedules by name only. All else depends on `check`, the tables too, so
    that a deploy over tables of another format fails before it changes any.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        deployment: Deployment,
        wakes: Wakes,
    ) -> None:
        super().__init__(scope, construct_id)
        duty = FunctionSpec(
            name=f"{settings.prefix}deploy",
            about="checks the tables' format, publishes manifests and reconciles jobs when the stack is deployed",
            entry="deploy",
            timeout=_TIMEOUT,
            environment=replace(wakes.settings, app="").to_env(),
            rights=[*self._to_reconcile(settings), *wakes.let_set_jobs(), *wakes.let_list_jobs()],
        )
        function = DuetimeFunction(self, "Function", duty, Bundle.of(deployment).code(), deployment)
        wakes.accept_jobs(function)
        wakes.accept_lists(function)
        self._function = function.function
        self._decides = {"DefaultTz": settings.default_tz, "EventBus": settings.event_bus}
        """The function reads them in its settings; said here, a change of them alone has it called."""
        self.check = self._call(self, "Format", FORMAT_RESOURCE, {"Format": str(FORMAT)})

    def publish(self, construct_id: str, manifest: Manifest) -> CustomResource:
        """Publish a worker's manifest whenever it has changed, and take it back, with its jobs, when the worker goes."""
        about = {
            "Worker": manifest.worker,
            "Manifest": manifest.to_json(),
            "Jobs": packed(manifest.jobs_json()),
            "Format": str(FORMAT),
            **self._decides,
        }
        return self._call(self, construct_id, MANIFEST_RESOURCE, about)

    def _to_reconcile(self, settings: Settings) -> list[iam.PolicyStatement]:
        actions, jobs = table_arn(self, settings.actions_table), table_arn(self, settings.jobs_table)
        return [
            *publish_manifests(jobs),
            *let_plan(actions, jobs),
            *let_reconcile(actions, jobs),
            *let_find_due(jobs),
        ]

    def _call(self, scope: Construct, construct_id: str, kind: str, about: dict[str, str]) -> CustomResource:
        return CustomResource(
            scope,
            construct_id,
            service_token=self._function.function_arn,
            resource_type=kind,
            properties=about,
            service_timeout=_PATIENCE,
        )
