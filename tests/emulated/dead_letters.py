"""Sends failed records and invocations to the failure queue, in the forms that AWS uses."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger(__name__)


class DeadLetters:
    """Sends what failed to one queue."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def of_stream(self, record: Mapping[str, Any], shard: str, function: str, reason: str) -> None:
        """Send the position of a stream record whose function failed; like AWS, without the record itself."""
        number = record["dynamodb"]["SequenceNumber"]
        log.error("stream record given up", extra={"sequence_number": number, "reason": reason})
        self._send(
            {
                "requestContext": _context(function, "RetryAttemptsExhausted"),
                "version": "1.0",
                "DDBStreamBatchInfo": {
                    "shardId": shard,
                    "startSequenceNumber": number,
                    "endSequenceNumber": number,
                    "batchSize": 1,
                    "streamArn": record["eventSourceARN"],
                },
            }
        )

    def of_invocation(self, event: Mapping[str, Any], function: str, error: BaseException) -> None:
        """Send the event of a failed asynchronous invocation, as Lambda's destinations receive it."""
        log.error("invocation given up", extra={"function": function, "reason": repr(error)})
        self._send(
            {
                "version": "1.0",
                "requestContext": _context(f"{function}:$LATEST", "RetriesExhausted"),
                "requestPayload": event,
                "responseContext": {
                    "statusCode": 200,
                    "executedVersion": "$LATEST",
                    "functionError": "Unhandled",
                },
                "responsePayload": {"errorMessage": str(error), "errorType": type(error).__name__},
            }
        )

    def of_delivery(self, event: Mapping[str, Any], function: str) -> None:
        """Send an event that EventBridge cannot deliver, since its function does not exist."""
        log.error("invocation given up", extra={"function": function, "reason": "there is no such function"})
        self._send(
            event,
            {
                "ERROR_CODE": "ResourceNotFoundException",
                "ERROR_MESSAGE": "there is no such function",
                "TARGET_ARN": function,
            },
        )

    def _send(self, body: Mapping[str, Any], attributes: Mapping[str, str] | None = None) -> None:
        self._client.send_message(
            QueueUrl=self._url,
            MessageBody=json.dumps(body),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value}
                for name, value in (attributes or {}).items()
            },
        )


def _context(function: str, condition: str) -> dict[str, str]:
    return {"requestId": str(uuid4()), "functionArn": function, "condition": condition}
