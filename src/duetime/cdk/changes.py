"""The tables' changes, as they are given to arm and to publish: filtered, retried within bounds, and never stuck."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.destination import ToQueue
from duetime.cdk.functions import DuetimeFunction


class StreamSource(Construct):
    """The event source between a table's stream and a function. A batch that fails for long holds up no other."""

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
        """Make it.

        Args:
            scope: see CDK, as the next one.
            construct_id: the construct's name.
            function: what is fed.
            stream: its ARN.
            filters: a record that matches one of them is let through.
            failures: the ARN of the queue that is told of batches given up.
            longest: how old a record may get.
            retries: how often a batch is tried again; as often as `longest` allows, without.
            gather: for how long records may be gathered before the function is called.
        """
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
            on_failure=ToQueue(failures),
        )
