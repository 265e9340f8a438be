"""The deploy function: it checks the tables' format, then publishes the types and jobs of each worker.

Each call is a custom resource. Their physical ids never change, so that CloudFormation never replaces one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from aws_cdk import CustomResource, Duration
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
from duetime.model.manifest import Manifest, packed
from duetime.settings import Settings

_TIMEOUT = timedelta(minutes=5)
"""A changed job takes about ten calls."""

_PATIENCE = Duration.minutes(6)
"""Without a limit, CloudFormation waits an hour for a function that cannot answer."""


class Deploy(Construct):
    """The function that a deploy calls, and its first call: the check of the tables' format.

    It refers to the tables, dispatch and the groups of schedules by name only. All other parts depend on
    `check`, so a deploy over tables of another format fails before it changes any. Only the tables do not:
    CloudFormation imports retained tables, and a resource to import must depend on none to create.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        settings: Settings,
        deployment: Deployment,
        wakes: Wakes,
    ) -> None:
        super().__init__(scope, construct_id)
        actions, jobs = (
            table_arn(self, settings.made.actions_table),
            table_arn(self, settings.made.jobs_table),
        )
        spec = FunctionSpec(
            name=f"{settings.prefix}deploy",
            about="checks the tables' format, publishes manifests and reconciles jobs at each deploy",
            entry="deploy",
            timeout=_TIMEOUT,
            environment=replace(wakes.settings, app="").to_env(),
            rights=[
                *publish_manifests(jobs),
                *let_plan(actions, jobs),
                *let_reconcile(actions, jobs),
                *let_find_due(jobs),
                *wakes.let_set_jobs(),
                *wakes.let_list_jobs(),
            ],
        )
        function = DuetimeFunction(
            self, "Function", spec, Bundle.for_deployment(deployment).code(), deployment
        )
        wakes.accept_jobs(function)
        wakes.accept_lists(function)
        self._function = function.function
        self._triggers = {
            "DefaultTz": settings.default_tz,
            "EventBus": settings.event_bus,
            "DueShards": str(settings.due_shards),
        }
        """Settings that the function reads; as properties, a change of them calls the function."""
        if deployment.jobs_stream:  # a restored table has the manifests and the jobs of its restore point
            self._triggers["JobsStream"] = deployment.jobs_stream
        self.check = self._call("Format", FORMAT_RESOURCE, {"Format": str(FORMAT)})

    def publish(self, construct_id: str, manifest: Manifest) -> CustomResource:
        """Publish a worker's manifest when it changes; remove it and its jobs when the worker is removed."""
        properties = {
            "Worker": manifest.worker,
            "Manifest": manifest.to_json(),
            "Jobs": packed(manifest.jobs_json()),
            "Format": str(FORMAT),
            **self._triggers,
        }
        return self._call(construct_id, MANIFEST_RESOURCE, properties)

    def _call(self, construct_id: str, kind: str, properties: dict[str, str]) -> CustomResource:
        return CustomResource(
            self,
            construct_id,
            service_token=self._function.function_arn,
            resource_type=kind,
            properties=properties,
            service_timeout=_PATIENCE,
        )
