"""The covered requests of SQS: sending, receiving and deleting messages of standard queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from moto.sqs import models as moto_sqs
from moto.sqs.models import Message, Queue, sqs_backends

from duetime.aws.failures import DEAD_LETTER_SOURCE
from tests.emulated.addresses import ACCOUNT, REGION, queue_name
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path.values import unique

Body = Mapping[str, Any]

TARGET = "AmazonSQS"

_LARGEST_BATCH = 10
_LARGEST_BODY = 20_000
_LONGEST_DELAY = 900
_SENT = frozenset({"MessageBody", "DelaySeconds", "MessageGroupId", "MessageAttributes"})
_ALLOWED: Mapping[str, frozenset[str]] = {
    "SendMessage": _SENT | {"QueueUrl"},
    "SendMessageBatch": frozenset({"QueueUrl", "Entries"}),
    "ReceiveMessage": frozenset(
        {"QueueUrl", "MaxNumberOfMessages", "MessageSystemAttributeNames", "MessageAttributeNames"}
    ),
    "DeleteMessageBatch": frozenset({"QueueUrl", "Entries"}),
}

_receipts: WeakKeyDictionary[Queue, dict[str, Message]] = WeakKeyDictionary()
"""The messages of each queue that the fast path has delivered, by receipt."""


_dead_letter_sources: dict[str, str] = {}
"""The ARN of the queue that a dead letter comes from, by the message's id."""


def came_from(queue: Any, dead: Sequence[Message]) -> None:
    """Note that moto moved messages of `queue` to its dead-letter queue."""
    _dead_letter_sources.update((message.id, queue.queue_arn) for message in dead)


def with_sources(received: Sequence[Any]) -> Sequence[Any]:
    """Add the attribute of dead letters to received messages, which moto's own responses lack."""
    for message in received:
        if source := _dead_letter_sources.get(message["MessageId"]):
            message["Attributes"][DEAD_LETTER_SOURCE] = source
    return received


def form_of(operation: str, body: Body, size: int) -> Hashable:
    """Return what moto must have accepted before: the operation, its queue and the names of its parts.

    Raises:
        NotCovered: the request has a part that the fast path does not know, or is large.
    """
    if operation not in _ALLOWED or size > _LARGEST_BODY or not _ALLOWED[operation] >= set(body):
        raise NotCovered
    return operation, body["QueueUrl"], tuple(sorted(body))


def answer(operation: str, body: Body, _size: int) -> dict[str, Any]:
    """Answer a request whose form is known; the caller holds the lock.

    Raises:
        NotCovered: moto must answer; nothing has changed.
    """
    queue = sqs_backends[ACCOUNT][REGION].queues.get(queue_name(body["QueueUrl"]))
    if queue is None or queue.fifo_queue or queue.lambda_event_source_mappings:
        raise NotCovered
    return _OPERATIONS[operation](queue, body)


def _send(queue: Any, body: Body) -> dict[str, Any]:
    message = _message(queue, body)
    _append(queue, message)
    return _sent(message)


def _send_batch(queue: Any, body: Body) -> dict[str, Any]:
    entries = body["Entries"]
    numbers = {entry["Id"] for entry in entries}
    if not 0 < len(entries) <= _LARGEST_BATCH or len(numbers) != len(entries):
        raise NotCovered
    if any(not (set(entry) <= _SENT | {"Id"} and entry["Id"].isalnum()) for entry in entries):
        raise NotCovered
    messages = [_message(queue, entry) for entry in entries]
    for message in messages:
        _append(queue, message)
    both = zip(entries, messages, strict=True)
    return {"Successful": [{"Id": entry["Id"]} | _sent(message) for entry, message in both]}


def _message(queue: Any, sent: Body) -> Message:
    body, delay = sent["MessageBody"], sent.get("DelaySeconds", queue.delay_seconds)
    if not (isinstance(body, str) and body and body.isprintable() and 0 <= delay <= _LONGEST_DELAY):
        raise NotCovered
    if sent.get("MessageAttributes"):
        raise NotCovered
    message = Message(str(UUID(unique())), body)
    message.group_id = sent.get("MessageGroupId")
    message.mark_sent(delay_seconds=delay)
    return message


def _append(queue: Any, message: Message) -> None:
    with queue._messages_lock:
        queue._messages.append(message)
        queue._messages_lock.notify_all()


def _sent(message: Message) -> dict[str, Any]:
    return {"MD5OfMessageBody": message.body_md5, "MessageId": message.id}


def _receive(queue: Any, body: Body) -> dict[str, Any]:
    if body.get("MessageSystemAttributeNames") != ["All"] or queue.receive_message_wait_time_seconds:
        raise NotCovered
    messages = in_fair_order(queue, most=body.get("MaxNumberOfMessages", 1))
    policy = getattr(queue, "redrive_policy", None)
    if policy and any(message.approximate_receive_count >= policy["maxReceiveCount"] for message in messages):
        raise NotCovered  # moto moves it to the dead letters
    if any(message.message_attributes for message in messages):
        raise NotCovered
    return {"Messages": [_received(queue, message) for message in messages]} if messages else {}


def _received(queue: Any, message: Message) -> dict[str, Any]:
    now = milliseconds()
    message.approximate_first_receive_timestamp = message.approximate_first_receive_timestamp or int(now)
    message.approximate_receive_count += 1
    message.visible_at = now + queue.visibility_timeout * 1_000
    message._old_receipt_handles.append(message.receipt_handle)  # type: ignore[arg-type]
    message.receipt_handle = unique()
    queue.pending_messages.add(message)
    _receipts.setdefault(queue, {})[message.receipt_handle] = message
    attributes = {
        "SenderId": message.sender_id,
        "SentTimestamp": str(message.sent_timestamp),
        "ApproximateReceiveCount": str(message.approximate_receive_count),
        "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
    }
    if message.group_id is not None:
        attributes["MessageGroupId"] = message.group_id
    if trace := message.system_attributes.get("AWSTraceHeader"):
        attributes["AWSTraceHeader"] = trace["StringValue"]
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt_handle,
        "MD5OfBody": message.body_md5,
        "Body": message.body,
        "Attributes": attributes,
    }


def _delete_batch(queue: Any, body: Body) -> dict[str, Any]:
    receipts, entries = _receipts.get(queue, {}), body["Entries"]
    messages = [receipts.get(entry["ReceiptHandle"]) for entry in entries]
    if not 0 < len(entries) <= _LARGEST_BATCH or None in messages:
        raise NotCovered
    for message in dict.fromkeys(messages):
        _delete(queue, message, receipts)  # type: ignore[arg-type]  # none is None
    return {"Successful": [{"Id": entry["Id"]} for entry in entries]}


def _delete(queue: Any, message: Message, receipts: dict[str, Message]) -> None:
    if message not in queue._messages:
        raise NotCovered
    queue._messages.remove(message)
    queue.pending_messages.discard(message)
    for receipt in message.all_receipt_handles:
        receipts.pop(receipt, None)  # type: ignore[arg-type]
        queue.deleted_messages.add(receipt)


def in_fair_order(queue: Any, *, most: int | None = None) -> list[Message]:
    """Return the visible messages, those of groups with few messages in flight first.

    A message without a group is a group of its own.

    Args:
        queue: a queue of moto.
        most: the largest number of messages; None for all.
    """
    now = milliseconds()
    messages = [message for message in queue._messages if message.visible_at < now >= message.delayed_until]
    if queue.fifo_queue:
        return messages
    places = Counter(message.group_id for message in queue.pending_messages if message.visible_at >= now)
    turns, taken = list[tuple[int, Message]](), Counter[str | None]()
    for message in messages:
        group = message.group_id
        if most is None or taken[group] < most:
            turns.append((0 if group is None else places[group] + taken[group], message))
            taken[group] += 1
    turns.sort(key=itemgetter(0))
    return [message for _, message in turns[:most]]


def milliseconds() -> float:
    """Return the milliseconds since 1970 as moto's queues read them."""
    return float(moto_sqs.unix_time_millis())  # type: ignore[attr-defined]  # it imports this function


_OPERATIONS: Mapping[str, Callable[[Any, Body], dict[str, Any]]] = {
    "SendMessage": _send,
    "SendMessageBatch": _send_batch,
    "ReceiveMessage": _receive,
    "DeleteMessageBatch": _delete_batch,
}
