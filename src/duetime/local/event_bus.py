"""Plays EventBridge's rules: an event that was put on the bus reaches the functions and queues whose rules let it through.

moto finds the bus, gives each event the id that its sender is told, and asks each rule of the bus, disabled ones too. What a
rule does then is done here for functions and queues, in AWS' form and through the gate, so that whoever receives from a queue
learns of it; for other targets moto knows it.
"""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from botocore.exceptions import ClientError
from moto.events import models

from duetime.local.addresses import queue_name
from duetime.local.input_transformer import UnknownTransformer, transformed
from duetime.local.invocation_poller import InvocationPoller
from duetime.model.event_pattern import UnknownPattern, matches

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger(__name__)

Target = Mapping[str, Any]
HandOver = Callable[[Target, Any], None]

_LAMBDA, _SQS = ":lambda:", ":sqs:"
_OWN = "ingestion-time"
"""moto's own field, which no event of AWS has."""


class LocalEventBus:
    """Hands events to asynchronous invocations of the rules' targets, or sends them to queues.

    Args:
        invocations: where those for functions are handed to.
        queues: a client of SQS, for those for queues.
        doubles: the chance that an event is delivered twice, as EventBridge may.
    """

    def __init__(self, invocations: InvocationPoller, queues: SQSClient, *, doubles: float) -> None:
        self._invocations, self._queues, self._doubles = invocations, queues, doubles
        self._usual = models.Rule.send_to_targets
        self._playing = patch.object(models.Rule, "send_to_targets", self._rule_method())

    def start(self) -> None:
        """Begin to deliver."""
        self._playing.start()

    def stop(self) -> None:
        """Deliver nothing more."""
        self._playing.stop()

    def _rule_method(self) -> Any:
        def send_to_targets(rule: Any, original_event: Any, transform_input: bool = True) -> None:
            if rule.state == "DISABLED":
                return
            functions, queues = (
                [target for target in rule.targets if kind in target["Arn"]] for kind in (_LAMBDA, _SQS)
            )
            if not functions and not queues:
                self._usual(rule, original_event, transform_input)
                return
            event = as_aws_has_it(original_event)
            if functions and _lets_through(rule, event):
                self._deliver(rule, functions, event, self._invoke)
            if queues and rule.event_pattern.matches_event(event):
                self._deliver(rule, queues, event, self._send)

        return send_to_targets

    def _deliver(self, rule: Any, targets: Sequence[Target], event: Any, hand_over: HandOver) -> None:
        log.debug("rule %s lets event %s through", rule.name, event["id"])
        for target in targets:
            try:
                told = (
                    transformed(target["InputTransformer"], event) if "InputTransformer" in target else event
                )
                for _ in range(2 if random.random() < self._doubles else 1):  # noqa: S311 - plays chance
                    hand_over(target, told)
            except UnknownTransformer as error:
                log.error("rule %s: its input transformer: %s", rule.name, error)  # noqa: TRY400 - told whole
            except ClientError as error:
                log.error("rule %s: %s: %s", rule.name, target["Arn"], error)  # noqa: TRY400 - as above

    def _invoke(self, target: Target, told: Any) -> None:
        self._invocations.invoke(target["Arn"], told)

    def _send(self, target: Target, told: Any) -> None:
        url = self._queues.get_queue_url(QueueName=queue_name(target["Arn"]))["QueueUrl"]
        more: Any = target.get("SqsParameters", {})
        self._queues.send_message(QueueUrl=url, MessageBody=json.dumps(told), **more)


def as_aws_has_it(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event of moto's in the form in which targets get it: its time as a text, in whole seconds."""
    moment = event["time"]
    if not isinstance(moment, datetime):
        moment = datetime.fromtimestamp(float(moment), UTC)
    at = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {name: each for name, each in event.items() if name != _OWN} | {"time": at}


def _lets_through(rule: Any, event: Mapping[str, Any]) -> bool:
    pattern = rule.event_pattern.get_pattern()
    try:
        return bool(pattern) and isinstance(event["detail"], Mapping) and matches(pattern, event)
    except UnknownPattern as error:
        log.error("rule %s lets nothing through: %s", rule.name, error)  # noqa: TRY400 - told whole
        return False
