"""What a deploy says in the tables: which types its workers run. And what it first reads there: the tables' format.

Both are custom resources of one function. Their physical ids never change, so that CloudFormation replaces none.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from aws_cdk import CustomResource, Duration
from constructs import Construct

from duetime.aws.tables import FORMAT
from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import Duty, Function
from duetime.cdk.rights import publish_manifests
from duetime.cdk.tables import jobs_table_arn
from duetime.lambdas.deploy import FORMAT_RESOURCE, MANIFEST_RESOURCE
from duetime.manifest import Manifest
from duetime.settings import Settings

_PATIENCE = Duration.minutes(3)
"""Without a bound CloudFormation waits an hour for a function that cannot answer."""


class Deploy(Construct):
    """The function that a deploy calls, and its first call: the check of the tables' format.

    It knows the jobs table by name only. All else depends on `check`, the tables too, so that a deploy over tables of
    another format fails before it changes any.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, deployment: Deployment
    ) -> None:
        super().__init__(scope, construct_id)
        duty = Duty(
            name=f"{settings.prefix}deploy",
            about="checks the tables' format and publishes manifests when the stack is deployed",
            entry="deploy",
            timeout=timedelta(seconds=60),
            environment=replace(settings, app="").to_env(),
            rights=publish_manifests(jobs_table_arn(self, settings)),
        )
        self._function = Function(self, "Function", duty, Bundle.of(deployment).code(), deployment).function
        self.check = self._call(self, "Format", FORMAT_RESOURCE, {"Format": str(FORMAT)})

    def publish(self, construct_id: str, manifest: Manifest) -> CustomResource:
        """Publish a worker's manifest whenever it has changed, and take it back when the worker goes."""
        about = {"Worker": manifest.worker, "Manifest": manifest.to_json(), "Format": str(FORMAT)}
        return self._call(self, construct_id, MANIFEST_RESOURCE, about)

    def _call(self, scope: Construct, construct_id: str, kind: str, about: dict[str, str]) -> CustomResource:
        return CustomResource(
            scope,
            construct_id,
            service_token=self._function.function_arn,
            resource_type=kind,
            properties=about,
            service_timeout=_PATIENCE,
        )
