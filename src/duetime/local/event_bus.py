"""Plays EventBridge's rules: an event that was put on the bus reaches the functions whose rules let it through.

moto finds the bus, gives each event the id that its sender is told, and asks each rule of the bus. What a rule does then it knows
for other targets than functions, and it asks disabled rules too; so for functions it is done here.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from moto.events import models

from duetime.event_pattern import UnknownPattern, matches
from duetime.local.input_transformer import UnknownTransformer, transformed
from duetime.local.invocation_pump import InvocationPump

log = logging.getLogger(__name__)

_LAMBDA = ":lambda:"
_OWN = "ingestion-time"
"""moto's own field, which no event of AWS has."""


class EventBus:
    """Hands events to asynchronous invocations of the rules' targets.

    Args:
        invocations: where they are handed to.
        doubles: the chance that an event is delivered twice, as EventBridge may.
    """

    def __init__(self, invocations: InvocationPump, *, doubles: float) -> None:
        self._invocations, self._doubles = invocations, doubles
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
            functions = [each for each in rule.targets if _LAMBDA in each["Arn"]]
            if not functions:
                self._usual(rule, original_event, transform_input)
            elif rule.state != "DISABLED" and _lets_through(rule, event := as_aws_has_it(original_event)):
                for each in functions:
                    self._deliver(rule, each, event)

        return send_to_targets

    def _deliver(self, rule: Any, target: Mapping[str, Any], event: Mapping[str, Any]) -> None:
        log.debug("rule %s lets event %s through", rule.name, event["id"])
        try:
            told = transformed(target["InputTransformer"], event) if "InputTransformer" in target else event
        except UnknownTransformer as error:
            log.error("rule %s: its input transformer: %s", rule.name, error)  # noqa: TRY400 - told whole
            return
        for _ in range(2 if random.random() < self._doubles else 1):  # noqa: S311 - plays chance
            self._invocations.invoke(target["Arn"], told)


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
