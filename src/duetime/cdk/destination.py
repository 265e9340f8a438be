"""The destination of an event source's failed batches: a queue. The caller grants the right to send there."""

from __future__ import annotations

from typing import Any

import jsii
from aws_cdk import aws_lambda as lambda_


@jsii.implements(lambda_.IEventSourceDlq)
class QueueDestination:
    """A queue by its ARN. CDK's own ``SqsDlq`` grants more rights than necessary."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def bind(self, _target: Any, _handler: Any) -> lambda_.DlqDestinationConfig:
        """Return the ARN for CDK."""
        return lambda_.DlqDestinationConfig(destination=self._arn)
