"""The messages of a queue: through SQS' API, or from moto in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tests.emulated.call_lock import CallLock
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path import sqs

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class Messages(Protocol):
    """A queue's messages, in the forms of SQS' requests and responses."""

    def receive(self, most: int) -> Sequence[Any]:
        """Return visible messages, at most `most` of ten, and hide them."""
        ...

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete at most ten messages."""
        ...


class SqsMessages:
    """The messages of a queue through SQS' API.

    Args:
        client: the SQS client.
        url: the queue's.
    """

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def receive(self, most: int) -> Sequence[Any]:
        """Receive visible messages."""
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=most,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return answer.get("Messages", [])

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete messages."""
        entries: Any = [
            {"Id": str(number), "ReceiptHandle": receipt} for number, receipt in enumerate(receipts)
        ]
        self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


class LocalMessages:
    """The messages of a queue of moto in this process, without boto3's work for each call.

    Args:
        url: the queue's.
        lock: guards moto.
        others: receives and deletes what the fast path leaves to moto.
    """

    def __init__(self, url: str, lock: CallLock, others: SqsMessages) -> None:
        self._url, self._lock, self._others = url, lock, others

    def receive(self, most: int) -> Sequence[Any]:
        """Receive visible messages."""
        request = {"MaxNumberOfMessages": most, "MessageSystemAttributeNames": ["All"]}
        try:
            received: Sequence[Any] = self._answer("ReceiveMessage", request).get("Messages", [])
        except NotCovered:
            received = self._others.receive(most)
        return sqs.with_sources(received)

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete messages."""
        entries = [{"Id": receipt, "ReceiptHandle": receipt} for receipt in receipts]
        try:
            self._answer("DeleteMessageBatch", {"Entries": entries})
        except NotCovered:
            self._others.delete(receipts)

    def _answer(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            return sqs.answer(operation, {"QueueUrl": self._url, **request}, 0)
