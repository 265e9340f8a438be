"""The event sources that feed arm and publish from the tables' streams: filtered, with limited retries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import jsii
from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.functions import DuetimeFunction


@jsii.implements(lambda_.IEventSourceDlq)
class _QueueDestination:
    """A queue by its ARN, for failed batches. CDK's own ``SqsDlq`` grants more rights than necessary."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def bind(self, _target: Any, _handler: Any) -> lambda_.DlqDestinationConfig:
        """Return the ARN for CDK."""
        return lambda_.DlqDestinationConfig(destination=self._arn)


class StreamSource(Construct):
    """The event source between a table's stream and a function. A failing batch delays no other.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        function: receives the records.
        stream: its ARN.
        filters: a record must match one of them.
        failures: the ARN of the queue that gets the batches given up.
        longest: the maximum age of a record.
        retries: the maximum retries of a batch; by default only `longest` limits them.
        gather: how long records are collected before the function is called.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        function: DuetimeFunction,
        *,
        stream: str,
        filters: Sequence[Mapping[str, Any]],
        failures: str,
        longest: timedelta,
        retries: int | None = None,
        gather: timedelta | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        lambda_.EventSourceMapping(
            self,
            "Source",
            target=function.function,
            event_source_arn=stream,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=100,
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            retry_attempts=retries,
            max_record_age=Duration.seconds(longest.total_seconds()),
            max_batching_window=None if gather is None else Duration.seconds(gather.total_seconds()),
            filters=[{"pattern": json.dumps(filter_)} for filter_ in filters],
            on_failure=_QueueDestination(failures),
        )
