"""Parser of the messages about failed inputs, which SQS, Lambda and EventBridge put into the failure queue.

===============================  ==========================================================================
message                          comes from
===============================  ==========================================================================
from ``due-…``: a due message    SQS, from a worker's queue after so many receives
from ``notifications``           SQS, from the notifications' queue after so many receives
``{"redrive": id}``              a redrive request
``{"DDBStreamBatchInfo", …}``    the event sources of arm and publish, with positions of records
``{"damaged", …}``               a step that cannot read a row
``{"stuck", …}``                 a step that leaves work waiting until an operator acts
``{"requestPayload", …}``        Lambda, for an asynchronous call of a function
the input alone, an event alone  EventBridge, for a failed call; the attributes have the cause
===============================  ==========================================================================

SQS names the queue of a dead letter in the attribute ``DeadLetterQueueSourceArn``, which no sender can set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from duetime import ids
from duetime.aws.damaged_rows import DAMAGED, from_message
from duetime.aws.messages import from_json
from duetime.aws.stuck_work import STUCK
from duetime.aws.stuck_work import from_message as stuck_from_message
from duetime.errors import UnreadableMessage, truncate
from duetime.model.undelivered import requested_in
from duetime.ports.undelivered import StreamBatch
from duetime.ports.wakeups import NOTIFICATIONS, DueMessage
from duetime.undelivered.failed_inputs import (
    DamagedInput,
    DeadMessage,
    DeadNotification,
    FailedBatch,
    FailedInput,
    FailedPass,
    RedriveMessage,
    UndeliveredInput,
    Unreadable,
)

DEAD_LETTER_SOURCE = "DeadLetterQueueSourceArn"
"""The system attribute of a dead letter: its queue. Any queue of the account may send dead letters here."""

_DUE = "due-"
"""The prefix of the due queues' names, after the deployment's."""
_DISPATCH, _PASSES = "dispatch", frozenset({"sweep", "catch-up"})
_UNEXPECTED = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
_FUNCTION_NAME = 6
"""The index of the function's name in its ARN, which may end in a version."""


def read(record: Mapping[str, Any], prefix: str) -> UndeliveredInput | RedriveMessage:
    """Parse a message about a failed input; return `Unreadable` if duetime did not write it.

    Args:
        record: the message in Lambda's event.
        prefix: the prefix of the deployment's names.
    """
    dead_from = record["attributes"].get(DEAD_LETTER_SOURCE)
    is_foreign = bool(dead_from) and not _is_own(str(dead_from), prefix)
    source = str(dead_from) if is_foreign else _queue(dead_from or record["eventSourceARN"], prefix)
    common: dict[str, Any] = {
        "body": record["body"],
        "at": datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1000, UTC),
        "number": record["messageId"],
    }
    try:
        if dead_from:
            if is_foreign:  # its source is an ARN, which no redrive takes for a queue of duetime's
                raise UnreadableMessage(f"{source!r} is no queue of duetime's")
            fields = {
                **common,
                "source": source,
                "reason": "no worker finished it after all receives",
            }
            if source == NOTIFICATIONS:
                return DeadNotification(**fields)
            return DeadMessage(message=_message(record["body"]), **fields)
        return _Failure(json.loads(record["body"]), _attributes(record), prefix, common).read()
    except _UNEXPECTED as error:
        reason = f"cannot be read: {type(error).__name__}: {truncate(error, 200)}"
        return Unreadable(**{**common, "source": source, "reason": reason})


class _Failure:
    def __init__(
        self, content: Any, attributes: Mapping[str, str], prefix: str, common: Mapping[str, Any]
    ) -> None:
        self._content, self._attributes, self._prefix, self._common = content, attributes, prefix, common

    def read(self) -> UndeliveredInput | RedriveMessage:
        content = self._content
        if not isinstance(content, Mapping):
            raise UnreadableMessage("the body is no JSON object")
        if undelivered_id := requested_in(content):
            return RedriveMessage(undelivered_id)
        if DAMAGED in content:
            damaged, source = from_message(content)
            return DamagedInput(
                damaged=damaged, **{**self._common, "source": source, "reason": truncate(damaged.reason)}
            )
        if STUCK in content:
            source, reason = stuck_from_message(content)
            return FailedPass(**{**self._common, "source": source, "reason": truncate(reason)})
        if "DDBStreamBatchInfo" in content:
            return self._batch(content["DDBStreamBatchInfo"], content["requestContext"])
        if "requestPayload" in content:
            context, answer = content["requestContext"], content.get("responsePayload") or {}
            reason = answer.get("errorMessage") or context["condition"]
            return self._call(self._name(context["functionArn"]), content["requestPayload"], reason)
        reason = (
            self._attributes.get("ERROR_MESSAGE") or self._attributes.get("ERROR_CODE") or "not delivered"
        )
        if rule := self._attributes.get("RULE_ARN"):
            content = content if "job" in content else {"rule": rule, "event": content}
        return self._call(self._name(self._attributes.get("TARGET_ARN", "")), content, reason)

    def _batch(self, info: Mapping[str, Any], context: Mapping[str, Any]) -> FailedBatch:
        first, last = (_number(info[f"{end}SequenceNumber"]) for end in ("start", "end"))
        return FailedBatch(
            batch=StreamBatch(str(info["streamArn"]), str(info["shardId"]), first, last),
            **{
                **self._common,
                "source": self._name(context["functionArn"]),
                "reason": str(context["condition"]),
            },
        )

    def _call(self, function: str, content: Any, reason: str) -> UndeliveredInput:
        if not isinstance(content, Mapping):
            raise UnreadableMessage("the payload is no JSON object")
        given = {**self._common, "source": function, "reason": truncate(reason), "body": json.dumps(content)}
        if function in _PASSES:
            return FailedPass(**given)
        if function != _DISPATCH:
            raise UnreadableMessage(
                f"the function {function!r} is unknown; known are {_DISPATCH}, {', '.join(sorted(_PASSES))}"
            )
        return FailedInput(content=content, message=_message_or_none(content), **given)

    def _name(self, arn: str) -> str:
        return arn.split(":")[_FUNCTION_NAME].removeprefix(self._prefix) if arn else ""


def _queue(arn: str, prefix: str) -> str:
    return arn.rpartition(":")[2].removeprefix(prefix)


def _is_own(arn: str, prefix: str) -> bool:
    name = arn.rpartition(":")[2]
    return name.startswith(prefix + _DUE) or name == prefix + NOTIFICATIONS


def _number(written: str) -> str:
    """Check a sequence number and return it unchanged, because leading zeros are significant."""
    int(written)
    return written


def _attributes(record: Mapping[str, Any]) -> Mapping[str, str]:
    attributes = record.get("messageAttributes") or {}
    return {name: str(attribute.get("stringValue", "")) for name, attribute in attributes.items()}


def _message(body: str | Mapping[str, Any]) -> DueMessage:
    """Parse a due message with a valid action id.

    Raises:
        UnreadableMessage: it is no due message, or its id is no action's id.
    """
    message, _ = from_json(body if isinstance(body, str) else dict(body))
    ref = message.ref
    if not ids.is_action_id(ref.id):
        raise UnreadableMessage(f"{truncate(ref.id, 60)!r} is no action's id")
    if ref.tenant_id != ids.SYSTEM_TENANT:
        ids.tenant(ref.tenant_id)
    return message


def _message_or_none(content: Mapping[str, Any]) -> DueMessage | None:
    try:
        return None if "job" in content or "rule" in content else _message(content)
    except _UNEXPECTED:
        return None  # dispatch reports the error
