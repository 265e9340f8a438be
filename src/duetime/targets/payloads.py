"""The payloads of targets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from duetime.payload import Payload
from duetime.targets.addresses import checked_url

_Name = Annotated[str, Field(min_length=1, max_length=2_048)]
_Texts = dict[Annotated[str, Field(min_length=1, max_length=255)], Annotated[str, Field(max_length=32_768)]]
_Timeout = Annotated[timedelta, Field(ge=timedelta(seconds=10), le=timedelta(days=366))]
_A_DAY = timedelta(days=1)
_Group = Annotated[str, Field(min_length=1, max_length=128)]
_MOST_ATTRIBUTES = 9
"""SQS allows ten; one has the action's id."""
ACTION_ATTRIBUTE = "duetime-action"
"""The message attribute with the action's id."""


def _without_own(attributes: dict[str, str]) -> dict[str, str]:
    if ACTION_ATTRIBUTE in attributes:
        raise ValueError(f"{ACTION_ATTRIBUTE} has the action's id; choose another name")
    return attributes


def _not_of_aws(source: str) -> str:
    if source.startswith("aws."):
        raise ValueError(f"{source!r} begins with 'aws.', which EventBridge reserves; choose another source")
    return source


_Attributes = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,256}$")], Annotated[str, Field(min_length=1)]],
    Field(max_length=_MOST_ATTRIBUTES),
    AfterValidator(_without_own),
]


class SqsMessage(Payload, name="target-sqs-message"):
    """Send a message to a queue."""

    queue: _Name
    """The queue's name, URL or ARN."""
    body: JsonValue
    """A text is sent as it is, everything else as JSON."""
    attributes: _Attributes = Field(default_factory=dict)
    group: _Group | None = None
    """The message group; a FIFO queue needs one. The action's id prevents duplicates there."""


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


class EventBridgeEvent(Payload, name="target-event"):
    """Put an event on a bus."""

    source: Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_not_of_aws)]
    detail_type: Annotated[str, Field(min_length=1, max_length=128)]
    detail: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime_action`` and ``duetime_depth``, the depth of the event chain."""
    bus: _Name = "default"
    """The bus's name or ARN."""
    resources: list[str] = Field(default_factory=list)


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

    url: Annotated[str, Field(max_length=2_048), AfterValidator(checked_url)]
    """``https://``, a host name and a path."""
    body: JsonValue


class DurableCallback(Payload, name="target-durable-callback"):
    """Let a durable function go on that waits for a callback."""

    function: _Name
    """The function's name or ARN, as granted."""
    callback_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{1,1022}={0,2}$")]
    result: JsonValue = None


class StateMachineExecution(Payload, name="target-state-machine-execution"):
    """Run a state machine of Step Functions."""

    state_machine: _Name
    """The state machine's name or ARN."""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime``, with the action and the tenant."""
    timeout: _Timeout = _A_DAY
    """The longest time of an attempt, here and below."""


class EcsTask(Payload, name="target-ecs-task"):
    """Run a task of ECS."""

    task_definition: _Name
    """The task definition's family, family and revision, or ARN."""
    command: list[str] | None = None
    """In place of the command of the first container."""
    environment: _Texts = Field(default_factory=dict)
    """duetime adds ``DUETIME_ACTION`` and ``DUETIME_TENANT``."""
    timeout: _Timeout = _A_DAY


class BatchJob(Payload, name="target-batch-job"):
    """Run a job of AWS Batch."""

    job_definition: _Name
    """The job definition's name, name and revision, or ARN."""
    parameters: _Texts = Field(default_factory=dict)
    environment: _Texts = Field(default_factory=dict)
    timeout: _Timeout = _A_DAY


class DurableExecution(Payload, name="target-durable-execution"):
    """Run a durable function of Lambda."""

    function: _Name
    """The function's name or ARN, as granted."""
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    """duetime adds ``duetime``, with the action and the tenant."""
    timeout: _Timeout = _A_DAY


Execution = StateMachineExecution | EcsTask | BatchJob | DurableExecution
"""A target that waits for the end of what it starts."""
EXECUTIONS = (StateMachineExecution, EcsTask, BatchJob, DurableExecution)
Target = SqsMessage | SnsMessage | EventBridgeEvent | LambdaInvocation | DurableCallback | Webhook | Execution

NAMED_BY: Mapping[type[Target], str] = {
    SqsMessage: "queue",
    SnsMessage: "topic",
    EventBridgeEvent: "bus",
    LambdaInvocation: "function",
    DurableCallback: "function",
    Webhook: "url",
    StateMachineExecution: "state_machine",
    EcsTask: "task_definition",
    BatchJob: "job_definition",
    DurableExecution: "function",
}
"""The field of each payload that names its target."""


def as_text(content: JsonValue) -> str:
    """Return a text as it is, everything else as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
