"""The actions table's changes, as they are given to arm: filtered, retried within bounds, and never stuck."""

from __future__ import annotations

import json

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.destination import ToQueue
from duetime.cdk.functions import Function
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.tables import Tables
from duetime.lambdas.arm import FILTERS

_RETRIES = 10
_LONGEST = Duration.hours(1)
"""By then the sweep has long sent what was not armed; a batch that fails for so long must hold up no other."""


class Changes(Construct):
    """The event source between the table's stream and arm."""

    def __init__(
        self, scope: Construct, construct_id: str, tables: Tables, arm: Function, *, failures: str
    ) -> None:
        super().__init__(scope, construct_id)
        accept_wildcard(arm.role, tables.streams_arn, "A stream is named by the time of its making.")
        lambda_.EventSourceMapping(
            self,
            "Source",
            target=arm.function,
            event_source_arn=tables.stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=100,
            bisect_batch_on_error=True,
            report_batch_item_failures=True,
            retry_attempts=_RETRIES,
            max_record_age=_LONGEST,
            filters=[{"pattern": json.dumps(each)} for each in FILTERS],
            on_failure=ToQueue(failures),
        )
