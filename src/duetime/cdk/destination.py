"""Where an event source puts what it gives up: a queue, with the right to send there said by the caller."""

from __future__ import annotations

from typing import Any

import jsii
from aws_cdk import aws_lambda as lambda_


@jsii.implements(lambda_.IEventSourceDlq)
class ToQueue:
    """A queue by its ARN. CDK's own ``SqsDlq`` gives more rights than are needed."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def bind(self, _target: Any, _handler: Any) -> lambda_.DlqDestinationConfig:
        """Tell CDK the ARN."""
        return lambda_.DlqDestinationConfig(destination=self._arn)
