"""Simulates EventBridge's rules: delivers an event to the functions and queues whose rules match it.

moto finds the bus, assigns the event's id and calls each rule of the bus, disabled ones too. This module
delivers to functions and queues, in AWS' form and under the lock of calls. moto delivers to other targets.

An input transformer is a template with parts of the event in place of ``<names>``. Outside quotes a part is
inserted as JSON; inside quotes, its characters are.
"""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.model.event_pattern import matches
from tests.emulated import moto_patches
from tests.emulated.addresses import queue_name
from tests.emulated.invocation_poller import InvocationPoller

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger(__name__)


Event = Mapping[str, Any]

_PATH = re.compile(r"\$(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TOKEN = re.compile(r'<(?P<name>[A-Za-z0-9_.-]+)>|\\.|"|.', re.ASCII | re.DOTALL)
_MOST_PATHS, _LONGEST_TEMPLATE = 100, 8_192
_ABSENT: Any = object()


def transformed(transformer: Mapping[str, Any], event: Event) -> Any:
    """Return what the target receives instead of the event.

    Args:
        transformer: its ``InputPathsMap`` and its ``InputTemplate``.
        event: the complete event.

    Raises:
        ValueError: a path or a placeholder is unknown, or the result is no JSON.
    """
    template, paths = transformer["InputTemplate"], transformer.get("InputPathsMap", {})
    if len(paths) > _MOST_PATHS or len(template) > _LONGEST_TEMPLATE:
        raise ValueError(
            f"it has {len(paths)} paths and {len(template)} characters;"
            f" AWS takes {_MOST_PATHS} and {_LONGEST_TEMPLATE}"
        )
    written = _filled(template, {name: _at(path, event) for name, path in paths.items() if _is_name(name)})
    try:
        return json.loads(written)
    except ValueError as error:
        raise ValueError(f"it makes no JSON of the event: {error}: {written[:200]}") from error


def _is_name(name: str) -> bool:
    if not _NAME.fullmatch(name) or name.startswith("AWS"):
        raise ValueError(f"{name!r} cannot name a path")
    return True


def _at(path: str, event: Event) -> Any:
    if not _PATH.fullmatch(path):
        raise ValueError(f"{path!r} is no path in dot notation")
    found: Any = event
    for key in path.split(".")[1:]:
        found = found.get(key, _ABSENT) if isinstance(found, Mapping) else _ABSENT
    return found


def _filled(template: str, values: Mapping[str, Any]) -> str:
    written, is_quoted = list[str](), False
    for token in _TOKEN.finditer(template):
        is_quoted ^= token[0] == '"'
        name = token["name"]
        written.append(token[0] if name is None else _put(name, values, is_quoted=is_quoted))
    return "".join(written)


def _put(name: str, values: Mapping[str, Any], *, is_quoted: bool) -> str:
    if name not in values:
        raise ValueError(f"the template contains <{name}>, but no path has that name")
    value = values[name]
    if value is _ABSENT:
        return ""
    if not is_quoted:
        return json.dumps(value)
    if isinstance(value, Mapping | list):
        raise ValueError(f"<{name}> is in quotes, but is not a text")  # noqa: TRY004 - a value of a template
    return json.dumps(value)[1:-1] if isinstance(value, str) else json.dumps(value)


Target = Mapping[str, Any]
Deliver = Callable[[Target, Any], None]

_LAMBDA, _SQS = ":lambda:", ":sqs:"
# A field of moto's, which AWS' events lack.
_OWN = "ingestion-time"


class LocalEventBus:
    """Delivers events to the rules' targets: functions, invoked asynchronously, and queues.

    Args:
        invocations: invokes the functions.
        queues: an SQS client, which sends to the queues.
        doubles: the probability of a second delivery of the same event, as in EventBridge.
    """

    def __init__(self, invocations: InvocationPoller, queues: SQSClient, *, doubles: float) -> None:
        self._invocations, self._queues, self._doubles = invocations, queues, doubles
        self._patch = moto_patches.rule_targets(self._rule_method)

    def start(self) -> None:
        """Begin to deliver."""
        self._patch.__enter__()

    def stop(self) -> None:
        """Stop delivering."""
        self._patch.__exit__(None, None, None)

    def _rule_method(self, original: Any) -> Any:
        def send_to_targets(rule: Any, original_event: Any, transform_input: bool = True) -> None:
            if rule.state == "DISABLED":
                return
            functions, queues = (
                [target for target in rule.targets if kind in target["Arn"]] for kind in (_LAMBDA, _SQS)
            )
            if not functions and not queues:
                original(rule, original_event, transform_input)
                return
            event = in_aws_form(original_event)
            if functions and _matches(rule, event):
                self._deliver(rule, functions, event, self._invoke)
            if queues and rule.event_pattern.matches_event(event):
                self._deliver(rule, queues, event, self._send)

        return send_to_targets

    def _deliver(self, rule: Any, targets: Sequence[Target], event: Any, deliver: Deliver) -> None:
        log.debug("rule %s matches event %s", rule.name, event["id"])
        for target in targets:
            try:
                transformer = target.get("InputTransformer")
                sent = event if transformer is None else transformed(transformer, event)
                for _ in range(2 if random.random() < self._doubles else 1):  # noqa: S311 - simulated fault
                    deliver(target, sent)
            except ValueError as error:
                log.error("rule %s: its input transformer: %s", rule.name, error)  # noqa: TRY400 - needs no stack
            except ClientError as error:
                log.error("rule %s: %s: %s", rule.name, target["Arn"], error)  # noqa: TRY400 - as above

    def _invoke(self, target: Target, sent: Any) -> None:
        self._invocations.invoke(target["Arn"], sent)

    def _send(self, target: Target, sent: Any) -> None:
        url = self._queues.get_queue_url(QueueName=queue_name(target["Arn"]))["QueueUrl"]
        more: Any = target.get("SqsParameters", {})
        self._queues.send_message(QueueUrl=url, MessageBody=json.dumps(sent), **more)


def in_aws_form(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return moto's event in the form that targets receive: its time is text, in whole seconds."""
    moment = event["time"]
    if not isinstance(moment, datetime):
        moment = datetime.fromtimestamp(float(moment), UTC)
    at = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {name: value for name, value in event.items() if name != _OWN} | {"time": at}


def _matches(rule: Any, event: Mapping[str, Any]) -> bool:
    pattern = rule.event_pattern.get_pattern()
    try:
        return bool(pattern) and isinstance(event["detail"], Mapping) and matches(pattern, event)
    except ValueError as error:
        log.error("rule %s matches nothing: %s", rule.name, error)  # noqa: TRY400 - as above
        return False
