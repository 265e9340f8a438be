"""The names of all parts of a scheduler, read from its constructs, so that monitoring is complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.aws.tables import JOBS, TableShape, actions_shape
from duetime.cdk.deployment import Deployment
from duetime.lambdas.metrics_buffer import deployment_of
from duetime.settings import Settings

_DEPLOY = "deploy"
"""Only CloudFormation calls this function, and reports its failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitored:
    """A scheduler's parts by name.

    Attributes:
        prefix: of all names.
        deployment: the value of the metrics' dimension.
        has_types: metrics have the dimension `type`.
        rates: how often each pass runs.
        functions: all but deploy.
        queues: those with dead letters, which feed workers, each with its visibility time-out.
        last_queues: those without dead letters, which feed the undelivered handler: the failure queue.
        tables: the shape of each table, by its name.
        apis: the REST APIs.
        has_canary: the sweep schedules canaries.
    """

    prefix: str
    deployment: str
    has_types: bool
    rates: Mapping[str, timedelta]
    functions: Sequence[str]
    queues: Mapping[str, timedelta]
    last_queues: Sequence[str]
    tables: Mapping[str, TableShape]
    apis: Sequence[str]
    has_canary: bool

    @classmethod
    def from_construct(cls, scope: Construct, settings: Settings, deployment: Deployment) -> Monitored:
        """Return the parts that are below a construct at this time."""
        constructs = scope.node.find_all()
        queues = [construct for construct in constructs if isinstance(construct, sqs.CfnQueue)]
        functions = [construct for construct in constructs if isinstance(construct, lambda_.CfnFunction)]
        deploy = settings.prefix + _DEPLOY
        return cls(
            prefix=settings.prefix,
            deployment=deployment_of(settings),
            has_types=bool(settings.metric_types),
            rates={"sweep": settings.sweep_rate, "catch-up": settings.catch_up_rate},
            functions=sorted({_name(part.function_name) for part in functions} - {deploy}),
            queues={
                _name(queue.queue_name): timedelta(seconds=queue.visibility_timeout or 30)
                for queue in queues
                if queue.redrive_policy
            },
            last_queues=[_name(queue.queue_name) for queue in queues if not queue.redrive_policy],
            tables={
                settings.made.actions_table: actions_shape(due_order=settings.due_order),
                settings.made.jobs_table: JOBS,
            },
            apis=[_name(api.name) for api in constructs if isinstance(api, apigateway.CfnRestApi)],
            has_canary=settings.enabled and bool(deployment.canary),
        )

    def function(self, name: str) -> str:
        """Return a function's name with the prefix."""
        return self.prefix + name

    def short(self, name: str) -> str:
        """Return a name without the prefix."""
        return name.removeprefix(self.prefix)


def _name(name: str | None) -> str:
    if name is None:
        raise ValueError("a function, queue or API has no name; every part needs one")
    return name
