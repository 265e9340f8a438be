"""The functions of moto that the local cloud replaces, each with its reason.

Every patch is a context manager over `replaced`. When its block ends, moto has its own function again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from inspect import signature
from types import SimpleNamespace
from typing import Any

from moto.core.models import botocore_stubber
from moto.core.responses import ActionResult
from moto.core.serialize import ResponseSerializer
from moto.dynamodb import models as dynamodb
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.events.models import EventsBackend, Rule
from moto.ses.models import SESBackend
from moto.sns.models import Topic
from moto.sqs import models as sqs

from duetime.clock import Clock
from tests.emulated.fast_path.sqs import came_from, in_fair_order, milliseconds

Patch = AbstractContextManager[None]
Wrap = Callable[[Any], Any]
"""Makes the replacement; it gets moto's own function."""

_TOKEN_LIVES = timedelta(minutes=10)
_query_arguments = signature(Table.query)
_visible_rows: ContextVar[list[Any] | None] = ContextVar("rows that a query sees", default=None)


@contextmanager
def replaced(owner: Any, name: str, wrap: Wrap) -> Iterator[None]:
    """Replace an attribute of a class, module or object within the block.

    Args:
        owner: holds the attribute, itself or through its class.
        name: the attribute.
        wrap: makes the replacement from what the attribute holds now.
    """
    is_own, original = name in vars(owner), getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)


def is_active() -> bool:
    """Return whether a local cloud of this process receives boto3's requests."""
    return "process_request" in vars(botocore_stubber)


# What receives the requests of this process' boto3 clients: they must take the lock of calls.
boto3_requests = partial(replaced, botocore_stubber, "process_request")
# The outbox receives the events, mails and topic messages.
published_events = partial(replaced, EventsBackend, "put_events")
sent_mails = partial(replaced, SESBackend, "send_templated_email")
topic_messages = partial(replaced, Topic, "publish")
# moto's own neither invokes local functions nor takes the lock of calls.
rule_targets = partial(replaced, Rule, "send_to_targets")


def sqs_milliseconds(clock: Clock) -> Patch:
    """Read the milliseconds since 1970 from `clock`.

    moto's SQS reads them several times for each message of the queue in each call. Its own function takes
    twenty times as long: with 500 messages, 30 ms of each receive.
    """
    return replaced(sqs, "unix_time_millis", lambda _: lambda: clock.now().timestamp() * 1000)


@contextmanager
def fair_queues() -> Iterator[None]:
    """Return the messages of groups with few in flight first, as SQS does; moto's own queues ignore groups.

    moto also counts all messages of a queue at each send, and reads the clock for each of them. With ten
    thousand messages a send takes 15 ms; within the block, one.
    """
    with ExitStack() as patches:
        for name, compute in (
            ("messages", in_fair_order),
            ("approximate_number_of_messages_delayed", _delayed_count),
            ("approximate_number_of_messages_not_visible", _invisible_count),
        ):
            patches.enter_context(replaced(sqs.Queue, name, partial(_property, compute)))
        yield


@contextmanager
def sources_of_dead_letters() -> Iterator[None]:
    """Note the queue of each message that moto moves to a dead-letter queue, within the block.

    SQS names it in an attribute of the message; moto does not.
    """

    def wrap(original: Any) -> Any:
        def receive(backend: Any, queue_name: str, *args: Any, **named: Any) -> Any:
            queue = backend.get_queue(queue_name)
            dead = _messages(queue.dead_letter_queue) if queue.dead_letter_queue else []
            before = len(dead)
            try:
                return original(backend, queue_name, *args, **named)
            finally:
                came_from(queue, dead[before:])

        return receive

    with replaced(sqs.SQSBackend, "receive_message", wrap):
        yield


def _property(compute: Callable[[Any], object], _original: object) -> property:
    return property(compute)


def _delayed_count(queue: Any) -> int:
    now = milliseconds()
    return sum(message.delayed_until > now for message in _messages(queue))


def _invisible_count(queue: Any) -> int:
    now = milliseconds()
    return sum(message.visible_at >= now for message in _messages(queue))


def _messages(queue: Any) -> Any:
    return queue._messages


@contextmanager
def single_partition_queries() -> Iterator[None]:
    """Limit each query within the block to the partition, or to the index keys, that it names.

    moto sorts and filters its whole table for each query. With ten thousand rows a page of a list takes
    seconds.
    """
    with ExitStack() as patches:
        patches.enter_context(replaced(Table, "query", _limit_query))
        patches.enter_context(replaced(Table, "all_items", _limit_rows))
        yield


def _limit_query(original: Any) -> Any:
    def query(table: Any, *args: Any, **named: Any) -> Any:
        arguments = _query_arguments.bind(table, *args, **named).arguments
        rows = _rows_of_index if arguments.get("index_name") else _rows_of_partition
        before = _visible_rows.set(rows(table, arguments))
        try:
            return original(table, *args, **named)
        finally:
            _visible_rows.reset(before)

    return query


def _limit_rows(original: Any) -> Any:
    def all_items(table: Any) -> list[Any]:
        rows = _visible_rows.get()
        return original(table) if rows is None else rows

    return all_items


def _rows_of_partition(table: Any, arguments: Mapping[str, Any]) -> list[Any] | None:
    return list(table.items.get(arguments["hash_key"], {}).values()) if table.range_key_attr else None


def _rows_of_index(table: Any, arguments: Mapping[str, Any]) -> list[Any]:
    conditions = arguments.get("hash_key_conditions") or ()
    rows: Iterable[Any] = (
        row
        for partition in table.items.values()
        for row in (partition.values() if table.range_key_attr else (partition,))
    )
    for name, expected in conditions:
        rows = _rows_with(rows, name, expected)
    return list(rows)


def _rows_with(rows: Iterable[Any], name: str, expected: Any) -> Iterator[Any]:
    """Select by the raw type and value: moto's comparison takes ten times as long."""
    for row in rows:
        value = row.attrs.get(name)
        if value is not None and value.value == expected.value and value.type == expected.type:
            yield row


@contextmanager
def quick_strings() -> Iterator[None]:
    """Compare and sort strings without moto's tests for the other types, within the block."""
    with replaced(DynamoType, "cast_value", _quick_string):
        yield


def _quick_string(original: Any) -> property:
    def cast_value(value: Any) -> Any:
        return value.value if value.type == "S" else original.fget(value)

    return property(cast_value)


@contextmanager
def quick_items() -> Iterator[None]:
    """Serialise only the one member that an attribute's value has, within the block.

    moto looks for each of the ten members under several names, which takes half the time of a query.
    """
    with replaced(ResponseSerializer, "_serialize_type_structure", _serialize_one_member):
        yield


def _serialize_one_member(original: Any) -> Any:
    def serialize(serializer: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name == "AttributeValue" and type(value) is dict:
            members = {name: member for name, member in shape.members.items() if name in value}
            shape = SimpleNamespace(name=shape.name, members=members, serialization=shape.serialization)
        original(serializer, serialized, value, shape, key)

    return serialize


@contextmanager
def undone_transactions() -> Iterator[None]:
    """Restore only the items that a failed transaction names, within the block.

    moto copies each table with its stream before each transaction, and uses the copy if the transaction
    fails. With thousands of rows a claim takes seconds, and a reader of the stream keeps an outdated shard.
    """
    with ExitStack() as patches:
        patches.enter_context(replaced(dynamodb, "copy", lambda _: SimpleNamespace(deepcopy=_copy)))
        patches.enter_context(replaced(dynamodb.DynamoDBBackend, "transact_write_items", _undo_on_error))
        yield


@contextmanager
def repeated_transactions(clock: Clock) -> Iterator[None]:
    """Apply a transaction once, however often it comes with its token, as DynamoDB does for ten minutes.

    moto ignores tokens. A client repeats a request whose response was lost.
    """
    applied: dict[str, datetime] = {}  # oldest first

    def wrap(original: Any) -> Any:
        def transact(handler: Any) -> Any:
            now = clock.now()
            request = sha256(json.dumps(handler.body, sort_keys=True, default=repr).encode()).hexdigest()
            has_token = "ClientRequestToken" in handler.body
            while applied and applied[oldest := next(iter(applied))] < now - _TOKEN_LIVES:
                del applied[oldest]
            if has_token and request in applied:
                return ActionResult({})
            response = original(handler)
            if has_token:
                applied[request] = now
            return response

        return transact

    with replaced(DynamoHandler, "transact_write_items", wrap):
        yield


def _copy(value: Any, *more: Any) -> Any:
    return value if isinstance(value, Table) else copy.deepcopy(value, *more)


def _undo_on_error(original: Any) -> Any:
    def transact(backend: Any, transact_items: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
        operations = [operation for entry in transact_items for operation in entry.values()]
        undo = [step for operation in operations if (step := _undo_step(backend, operation))]
        try:
            original(backend, transact_items)
        except Exception:
            for step in undo:
                step()
            raise

    return transact


def _undo_step(backend: Any, operation: Mapping[str, Any]) -> Callable[[], None] | None:
    """Return a call that restores an item and the table's stream; None if the operation names no item."""
    table = backend.tables.get(operation.get("TableName"))
    attributes = operation.get("Key") or operation.get("Item") or {}
    names = [] if table is None else [name for name in (table.hash_key_attr, table.range_key_attr) if name]
    if not names or any(name not in attributes for name in names):
        return None
    partition, *sort = (DynamoType(attributes[name]) for name in names)
    items, key = (table.items[partition], sort[0]) if sort else (table.items, partition)
    before, shard = copy.deepcopy(items.get(key)), table.stream_shard
    return partial(_restore, items, key, before, shard, len(shard.items) if shard else 0)


def _restore(items: Any, key: Any, before: Any, shard: Any, length: int) -> None:
    if before is None:
        items.pop(key, None)
    else:
        items[key] = before
    if shard is not None:
        del shard.items[length:]
