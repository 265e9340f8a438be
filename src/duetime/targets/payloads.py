"""The payloads of targets."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field, JsonValue, field_validator

from duetime.payload import Payload
from duetime.targets.addresses import checked_url

_Name = Annotated[str, Field(min_length=1, max_length=2_048)]
_Group = Annotated[str, Field(min_length=1, max_length=128)]
_MOST_ATTRIBUTES = 9
"""SQS allows ten; one has the action's id."""
ACTION_ATTRIBUTE = "duetime-action"
"""The message attribute with the action's id."""

_Attributes = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,256}$")], Annotated[str, Field(min_length=1)]],
    Field(max_length=_MOST_ATTRIBUTES),
]


def _without_own(attributes: dict[str, str]) -> dict[str, str]:
    if ACTION_ATTRIBUTE in attributes:
        raise ValueError(f"{ACTION_ATTRIBUTE} has the action's id; choose another name")
    return attributes


class SqsMessage(Payload, name="target-sqs-message"):
    """Send a message to a queue."""

    queue: _Name
    """The queue's name, URL or ARN."""
    body: JsonValue
    """A text is sent as it is, everything else as JSON."""
    attributes: _Attributes = Field(default_factory=dict)
    group: _Group | None = None
    """The message group; a FIFO queue needs one. The action's id prevents duplicates there."""

    _check_attributes = field_validator("attributes")(_without_own)


class SnsMessage(Payload, name="target-sns-message"):
    """Publish a message to a topic."""

    topic: _Name
    """The topic's name or ARN."""
    message: JsonValue
    """A text is sent as it is, everything else as JSON."""
    subject: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    attributes: _Attributes = Field(default_factory=dict)
    group: _Group | None = None
    """The message group; a FIFO topic needs one."""

    _check_attributes = field_validator("attributes")(_without_own)


class EventBridgeEvent(Payload, name="target-event"):
    """Put an event on a bus."""

    source: Annotated[str, Field(min_length=1, max_length=256)]
    detail_type: Annotated[str, Field(min_length=1, max_length=128)]
    detail: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime_action`` and ``duetime_depth``, the depth of the event chain."""
    bus: _Name = "default"
    """The bus's name or ARN."""
    resources: list[str] = Field(default_factory=list)

    @field_validator("source")
    @classmethod
    def _check_source(cls, source: str) -> str:
        if source.startswith("aws."):
            raise ValueError(
                f"{source!r} begins with 'aws.', which EventBridge reserves; choose another source"
            )
        return source


class LambdaInvocation(Payload, name="target-lambda-invocation"):
    """Invoke a function."""

    function: _Name
    """The function's name or ARN."""
    payload: JsonValue = None
    wait: bool = False
    """Wait for the result, at most four minutes: an error of the function fails the attempt. By default
    Lambda queues the call and retries it itself."""


class Webhook(Payload, name="target-webhook"):
    """Post JSON to a URL, signed as Standard Webhooks defines."""

    url: Annotated[str, Field(max_length=2_048)]
    """``https://``, a host name and a path."""
    body: JsonValue

    _check_url = field_validator("url")(checked_url)


class DurableCallback(Payload, name="target-durable-callback"):
    """Let a durable function go on that waits for a callback."""

    function: _Name
    """The function's name or ARN, as granted."""
    callback_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{1,1022}={0,2}$")]
    result: JsonValue = None


def as_text(content: JsonValue) -> str:
    """Return a text as it is, everything else as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


Target = SqsMessage | SnsMessage | EventBridgeEvent | LambdaInvocation | DurableCallback | Webhook
