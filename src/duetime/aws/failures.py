"""What salvage's queues hold: the forms in which SQS, Lambda and EventBridge hand over what they gave up on, read.

=============================================  ============================================================
in the queue                                   comes from
=============================================  ============================================================
``due-…-dead``: a due message                  a worker's queue, after so many receives
``notifications-dead``: an event, a digest     the notifications' queue, after so many receives
``failures``: ``{"redrive": id}``              somebody who asks for it
``failures``: ``{"DDBStreamBatchInfo", …}``    arm's and publish's event sources: where their records stand
``failures``: ``{"requestPayload", …}``        Lambda, of a function that was called asynchronously
``failures``: the input alone, an event alone  EventBridge, which could not call one; attributes say the rest
=============================================  ============================================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from duetime import ids
from duetime.aws.messages import UnreadableMessage, from_json
from duetime.errors import truncate
from duetime.model.undelivered import requested_in
from duetime.ports.undelivered import StreamBatch
from duetime.ports.wakeups import NOTIFICATIONS, DueMessage
from duetime.undelivered.failed_inputs import (
    DeadMessage,
    DeadNotification,
    FailedBatch,
    FailedInput,
    FailedPass,
    RedriveMessage,
    UndeliveredInput,
    Unreadable,
)

DEAD = "-dead"
"""Ends the name of a worker's dead-letter queue, after that of the queue itself."""

_DISPATCH, _PASSES = "dispatch", frozenset({"sweep", "catch-up"})
_UNEXPECTED = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
_FUNCTION_NAME = 6
"""Its place among the parts of a function's ARN, which may end in a version."""


def read(record: Mapping[str, Any], prefix: str) -> UndeliveredInput | RedriveMessage:
    """What a message of one of salvage's queues hands over; `Unreadable` if nobody here wrote it.

    Args:
        record: as Lambda's event has it.
        prefix: of the deployment's names.
    """
    queue = str(record["eventSourceARN"]).rpartition(":")[2].removeprefix(prefix)
    source = queue.removesuffix(DEAD)
    common: dict[str, Any] = {
        "body": record["body"],
        "at": datetime.fromtimestamp(int(record["attributes"]["SentTimestamp"]) / 1000, UTC),
        "number": record["messageId"],
    }
    try:
        if queue != source:
            told = {
                **common,
                "source": source,
                "reason": "no worker finished it, however often it was received",
            }
            if source == NOTIFICATIONS:
                return DeadNotification(**told)
            return DeadMessage(message=_message(record["body"]), **told)
        return _Failure(json.loads(record["body"]), _attributes(record), prefix, common).read()
    except _UNEXPECTED as error:
        reason = f"cannot be read: {type(error).__name__}: {truncate(error, 200)}"
        return Unreadable(**{**common, "source": source, "reason": reason})


class _Failure:
    """A message of the failure queue."""

    def __init__(
        self, told: Any, attributes: Mapping[str, str], prefix: str, common: Mapping[str, Any]
    ) -> None:
        self._told, self._attributes, self._prefix, self._common = told, attributes, prefix, common

    def read(self) -> UndeliveredInput | RedriveMessage:
        told = self._told
        if not isinstance(told, Mapping):
            raise UnreadableMessage("no JSON object")
        if wanted := requested_in(told):
            return RedriveMessage(wanted)
        if "DDBStreamBatchInfo" in told:
            return self._batch(told["DDBStreamBatchInfo"], told["requestContext"])
        if "requestPayload" in told:
            context, answer = told["requestContext"], told.get("responsePayload") or {}
            reason = answer.get("errorMessage") or context["condition"]
            return self._call(self._name(context["functionArn"]), told["requestPayload"], reason)
        reason = (
            self._attributes.get("ERROR_MESSAGE") or self._attributes.get("ERROR_CODE") or "not delivered"
        )
        if rule := self._attributes.get("RULE_ARN"):
            told = told if "job" in told else {"rule": rule, "event": told}
        return self._call(self._name(self._attributes.get("TARGET_ARN", "")), told, reason)

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

    def _call(self, function: str, told: Any, reason: str) -> UndeliveredInput:
        if not isinstance(told, Mapping):
            raise UnreadableMessage("its payload is no JSON object")
        given = {**self._common, "source": function, "reason": truncate(reason), "body": json.dumps(told)}
        if function in _PASSES:
            return FailedPass(**given)
        if function != _DISPATCH:
            raise UnreadableMessage(f"it is for {function or 'no function'!r}, which salvage does not know")
        return FailedInput(told=told, message=_message_or_none(told), **given)

    def _name(self, arn: str) -> str:
        return arn.split(":")[_FUNCTION_NAME].removeprefix(self._prefix) if arn else ""


def _number(written: str) -> str:
    """A sequence number as it is written: zeros at its beginning belong to it."""
    int(written)
    return written


def _attributes(record: Mapping[str, Any]) -> Mapping[str, str]:
    told = record.get("messageAttributes") or {}
    return {name: str(each.get("stringValue", "")) for name, each in told.items()}


def _message(body: str | Mapping[str, Any]) -> DueMessage:
    """A due message that leads to a row.

    Raises:
        UnreadableMessage: it is none, or names what no action can be named.
    """
    message, _ = from_json(body if isinstance(body, str) else dict(body))
    ref = message.ref
    if not ids.is_action_id(ref.id):
        raise UnreadableMessage(f"{truncate(ref.id, 60)!r} is no action's id")
    if ref.tenant_id != ids.SYSTEM_TENANT:
        ids.tenant(ref.tenant_id)
    return message


def _message_or_none(told: Mapping[str, Any]) -> DueMessage | None:
    try:
        return None if "job" in told or "rule" in told else _message(told)
    except _UNEXPECTED:
        return None  # dispatch will say what is wrong with it
