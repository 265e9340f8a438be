"""What is watched: the names of all that a scheduler consists of, read from its constructs, so that nothing is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct

from duetime.aws.tables import JOBS, TableShape, actions_shape
from duetime.lambdas.metrics_buffer import deployment_of
from duetime.settings import Settings

_DEPLOY = "deploy"
"""The function that only CloudFormation calls, and whose failures it tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitored:
    """A scheduler's parts by name."""

    prefix: str
    deployment: str
    """The value of the metrics' dimension."""
    functions: Sequence[str]
    queues: Mapping[str, timedelta]
    """Those with dead letters, each with its visibility time-out: what waits in them is to be worked at."""
    last_queues: Sequence[str]
    """Those without dead letters of their own, which salvage empties."""
    tables: Mapping[str, TableShape]
    """By the name that they have."""
    apis: Sequence[str]

    @classmethod
    def of(cls, scope: Construct, settings: Settings) -> Monitored:
        """All that is below a construct by now."""
        found = scope.node.find_all()
        queues = [each for each in found if isinstance(each, sqs.CfnQueue)]
        deploy = settings.prefix + _DEPLOY
        return cls(
            prefix=settings.prefix,
            deployment=deployment_of(settings),
            functions=sorted(function for function in _functions(found) if function != deploy),
            queues={_named(queue.queue_name): _hidden(queue) for queue in queues if queue.redrive_policy},
            last_queues=[_named(queue.queue_name) for queue in queues if not queue.redrive_policy],
            tables={
                settings.actions_table: actions_shape(due_order=settings.due_order),
                settings.jobs_table: JOBS,
            },
            apis=[_named(each.name) for each in found if isinstance(each, apigateway.CfnRestApi)],
        )

    def function(self, name: str) -> str:
        """A function's whole name."""
        return self.prefix + name

    def short(self, name: str) -> str:
        """A name without the prefix."""
        return name.removeprefix(self.prefix)


def _functions(found: Sequence[IConstruct]) -> Sequence[str]:
    return [_named(each.function_name) for each in found if isinstance(each, lambda_.CfnFunction)]


def _hidden(queue: sqs.CfnQueue) -> timedelta:
    return timedelta(seconds=queue.visibility_timeout or 30)


def _named(name: str | None) -> str:
    """Every part has a name of its own choosing: what has none, nobody could watch by name."""
    if name is None:
        raise ValueError("a function, queue or API has no name")
    return name
