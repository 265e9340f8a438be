"""Where what was given up goes: a queue, in the forms that AWS uses for each kind of it."""

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
    """Sends to one queue."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def of_stream(self, record: Mapping[str, Any], function: str, reason: str) -> None:
        """A stream record that its function never took: like AWS, where it stands in the stream, not the record."""
        number = record["dynamodb"]["SequenceNumber"]
        log.error("stream record given up", extra={"sequence_number": number, "reason": reason})
        self._send(
            {
                "requestContext": {
                    "requestId": str(uuid4()),
                    "functionArn": function,
                    "condition": "RetryAttemptsExhausted",
                },
                "version": "1.0",
                "DDBStreamBatchInfo": {
                    "startSequenceNumber": number,
                    "endSequenceNumber": number,
                    "batchSize": 1,
                    "streamArn": record["eventSourceARN"],
                },
            },
            {"ErrorMessage": reason},
        )

    def of_invocation(self, event: Mapping[str, Any], function: str, reason: str) -> None:
        """The event of an asynchronous invocation that failed each time, or that reached no function at all."""
        log.error("invocation given up", extra={"function": function, "reason": reason})
        self._send(event, {"RequestID": str(uuid4()), "ErrorMessage": reason})

    def _send(self, body: Mapping[str, Any], attributes: Mapping[str, str]) -> None:
        self._client.send_message(
            QueueUrl=self._url,
            MessageBody=json.dumps(body),
            MessageAttributes={
                name: {"DataType": "String", "StringValue": value or "unknown"}
                for name, value in attributes.items()
            },
        )
